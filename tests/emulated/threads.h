/* What device code on the host asks of the thread that it runs in. */
#pragma once

#include <cstdint>
#include <cstring>

namespace emulated
{

constexpr int lanes = 32;

/* Waits for the other threads of the warp, the block, or the block's cluster. Which place waits is told by its name. */
void wait_for_warp(const char *place);
void wait_for_block(const char *place);
void wait_for_cluster(const char *place);

/* Waits for so many threads of the block, at one of its barriers from 1 on. */
void wait_at_barrier(int number, int threads, const char *place);

/* Whether it was true of any thread of the block. */
bool any_of_block(bool value);

/* The lane's number; what the warp's lanes have given, one behind the other. */
int lane();
void *exchanged(const void *value, size_t bytes, const char *place);
constexpr size_t exchanged_most = 128;

/* The values of all lanes. */
template <class type> struct of_lanes {
    type value[lanes];
};
template <class type> of_lanes<type> exchange(const type &value, const char *place)
{
    static_assert(sizeof(type) <= exchanged_most, "there is room for it");
    of_lanes<type> result;
    std::memcpy(&result, exchanged(&value, sizeof value, place), sizeof result);
    return result;
}

/* Shared memory has addresses of 32 bits. What is accessed in one piece is aligned to its size. */
uint32_t address_of(const void *shared);
void *memory_at(uint32_t address, int alignment = 1);
void *dynamic_shared();

/* The same for a lane's read that all lanes of the warp do at a time: in their order until they wait for each other in
 * the warp. What 128 bytes of them are read together, of banks of 4 bytes. */
void *read_by_warp(uint32_t address, int bytes);

/* The block's number in its cluster; the same place in another one's dynamic shared memory. */
int rank();
uint32_t address_in(uint32_t address, int rank);

/* Copies that the thread does not wait for; only the first `valid` bytes are read, the rest become zeros. */
void copy(uint32_t to, const void *from, int bytes, int valid);
void commit();
void wait_for_copies(int pending);
void wait_for_all_copies();

/* Barriers in shared memory, each of 8 bytes, at which so many arrive in each phase; a thread, or what it has copied
 * until then. Phases have parities in turn, the first one 0. */
void init_barrier(uint32_t address, int arrivals);
void arrive(uint32_t address);
void arrive_after_copies(uint32_t address);
void wait_for_phase(uint32_t address, unsigned parity);

/* Has the barrier's phase wait for so many bytes more; what comes to a block's memory some time, of which its barrier counts the bytes. */
void expect(uint32_t address, int bytes);
void send(uint32_t to, const void *value, int bytes, uint32_t barrier);
constexpr int sent_most = 16;

/* Waits until what another thread writes in global memory is at least so much. Blocks that do so run as one cluster. */
void wait_for_flag(const uint32_t *flag, uint32_t value);

} // namespace emulated
