/* Threads of a block, or of a cluster of blocks, as contexts of one thread of the host. */
#include "tests/emulated/threads.h"
#include "tests/emulated/block.h"
#include "tests/emulated/cuda.h"
#include "tests/emulated/table.h"
#include "tests/emulated/kernels/dependent_launch.cuh"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <csetjmp>
#include <memory>
#include <random>
#include <sys/mman.h>
#include <ucontext.h>
#include <vector>

dim3 threadIdx, blockIdx, gridDim, blockDim;

namespace emulated
{

int64_t waits;

namespace
{

constexpr int blocks_most = 16, threads_most = 4096, stack_bytes = 64 << 10, dynamic_bytes = 228 << 10,
              dynamic_step = 128, /* dynamic memory begins at a multiple of it */
    reads_most = 64, barriers = 16, page = 4096, garbage = 0xa5;

/* Where threads wait until all are there. */
struct barrier {
    int there = 0;
    unsigned turn = 0;
    const char *place = nullptr;
};

/* Or, of no bytes, who arrives at a barrier when the copies before are over. */
struct asynchronous_copy {
    uint32_t to;
    const void *from;
    int bytes;
    int valid, group;
};

/* What a barrier in shared memory has there. */
struct phases {
    int16_t arrivals, missing,
        bytes; /* that are expected and have not come, or have come and are not expected yet: less than 0 */
    uint16_t over; /* phases */
};

/* On its way to another block. */
struct sent_piece {
    uint32_t to, barrier;
    int bytes;
    char value[sent_most];
};

struct thread {
    jmp_buf context;
    std::unique_ptr<char[]> stack;
    bool begun = false, over = true;
    const barrier *waits_at = nullptr;
    unsigned turn = 0; /* of that */
    bool waits_for_phase = false;
    uint32_t phases_at = 0;
    unsigned parity = 0; /* of that */
    const uint32_t *waits_for_flag = nullptr;
    uint32_t flag_wanted = 0;
    int exchanges = 0, group = 0, reads = 0;
    std::vector<asynchronous_copy> copies;
};

/* What a warp reads at a time: the banks that each 128 bytes of it take, whatever a lane's size is. */
struct warp_read {
    uint32_t banks[lanes * 16 / 128];
};

struct warp {
    barrier all;
    warp_read reads[reads_most]; /* since lanes waited for each other */
    alignas(16) char exchanged[2][lanes * exchanged_most];
};

struct block {
    barrier all, some[barriers];
    int alive;
    bool any, any_before; /* what __syncthreads_or has heard, and what it answers */
    alignas(page) char memory[dynamic_bytes + page]; /* dynamic memory ends where none may be touched */
    char *dynamic;
};

/* The state of the cluster that runs. */
thread threads[threads_most];
warp warps[threads_most / lanes];
block blocks[blocks_most];
barrier cluster;
int in_block, in_cluster, dynamic_asked_for; /* threads, blocks, bytes */
unsigned first_block;

int current; /* thread */
int64_t bank_conflicts;
int64_t copies_under_way; /* of all threads */
bool copies_at_once;
std::vector<sent_piece> sent;
jmp_buf scheduler;
std::mt19937_64 random;

emulated_kernel *running;
const void *argument_of_running;

[[noreturn]] void fail(const char *what, const char *place)
{
    std::fprintf(stderr, "emulated block %u, thread %d: %s, %s\n", blockIdx.x, current, what, place);
    std::_Exit(EXIT_FAILURE);
}

block &own_block()
{
    return blocks[current / in_block];
}

void do_copy(const asynchronous_copy &copy)
{
    char *to = static_cast<char *>(memory_at(copy.to, copy.bytes));
    if (reinterpret_cast<uintptr_t>(copy.from) % unsigned(copy.bytes) != 0)
        fail("a copy", "from where nothing of its size may begin");
    if (copy.valid > 0)
        std::memcpy(to, copy.from, size_t(copy.valid));
    std::memset(to + copy.valid, 0, size_t(copy.bytes - copy.valid));
}

phases &phases_of(uint32_t address)
{
    return *static_cast<phases *>(memory_at(address, sizeof(phases)));
}

bool is_phase_over(uint32_t address, unsigned parity)
{
    return phases_of(address).over % 2 != parity;
}

void go_on_if_over(phases &at)
{
    if (at.missing > 0 || at.bytes != 0)
        return;
    at.missing = at.arrivals;
    at.over++;
}

/* The block in whose dynamic memory an address lies, or none. */
const block *block_at(uint32_t address)
{
    const char *place = static_cast<const char *>(memory_at(address));
    for (int i = 0; i < in_cluster; i++)
        if (place >= blocks[i].dynamic && place < blocks[i].memory + dynamic_bytes)
            return &blocks[i];
    return nullptr;
}

void deliver(const sent_piece &piece)
{
    if (const block *at = block_at(piece.to); !at || at->alive == 0)
        fail("a piece is sent", "to a block that has ended");
    phases &at = phases_of(piece.barrier);
    std::memcpy(memory_at(piece.to, piece.bytes), piece.value, size_t(piece.bytes));
    at.bytes = int16_t(at.bytes - piece.bytes);
    go_on_if_over(at);
}

/* All that is on its way to the barrier; whether anything was. */
bool deliver_all(uint32_t barrier)
{
    const auto kept = std::stable_partition(
        sent.begin(), sent.end(), [barrier](const sent_piece &piece) { return piece.barrier != barrier; });
    const std::vector<sent_piece> delivered(kept, sent.end());
    sent.erase(kept, sent.end());
    for (const sent_piece &piece : delivered)
        deliver(piece);
    return !delivered.empty();
}

/* The first so many of those that are on their way. */
void do_copies(thread &own, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (own.copies[i].bytes == 0)
            arrive(own.copies[i].to);
        else if (!copies_at_once)
            do_copy(own.copies[i]);
    own.copies.erase(own.copies.begin(), own.copies.begin() + std::ptrdiff_t(count));
    copies_under_way -= int64_t(count);
}

/* How many of the thread's copies have to be over for its next arrival at the barrier, that among them; 0: none is on its way. */
size_t copies_until_arrival(const thread &own, uint32_t address)
{
    for (size_t i = 0; i < own.copies.size(); i++)
        if (own.copies[i].bytes == 0 && own.copies[i].to == address)
            return i + 1;
    return 0;
}

/* Lets arrive at the barrier what is on its way there; whether anything was. */
bool let_arrive(uint32_t address)
{
    bool any = deliver_all(address);
    for (int i = 0; i < in_cluster * in_block && copies_under_way > 0; i++) {
        const size_t count = copies_until_arrival(threads[i], address);
        do_copies(threads[i], count);
        any = any || count > 0;
    }
    return any;
}

/* A context's own function, which never returns: it begins a kernel anew for each block. */
void run_thread()
{
    thread &own = threads[current];
    while (true) {
        running(argument_of_running);
        own.over = true;
        if (!_setjmp(own.context))
            _longjmp(scheduler, 1);
    }
}

void begin(thread &own)
{
    static ucontext_t context, unused;
    own.stack.reset(new char[stack_bytes]);
    getcontext(&context);
    context.uc_stack.ss_sp = own.stack.get();
    context.uc_stack.ss_size = stack_bytes;
    context.uc_link = nullptr;
    makecontext(&context, run_thread, 0);
    own.begun = true;
    swapcontext(&unused, &context);
}

/* Lets a thread go on until it waits or has ended. */
void go_on(int number)
{
    current = number;
    threadIdx.x = unsigned(number % in_block);
    blockIdx.x = first_block + unsigned(number / in_block);
    if (_setjmp(scheduler))
        return;
    if (threads[number].begun)
        _longjmp(threads[number].context, 1);
    begin(threads[number]);
}

void let_go(barrier &at)
{
    at.there = 0;
    at.turn++;
    own_block().any_before = own_block().any;
}

void wait_at(barrier &at, int wanted, const char *place)
{
    thread &own = threads[current];
    if (at.there > 0 && at.place != place)
        fail(place, "others wait elsewhere");
    at.place = place;
    if (++at.there == wanted) {
        let_go(at);
        return;
    }
    own.waits_at = &at;
    own.turn = at.turn;
    if (!_setjmp(own.context))
        _longjmp(scheduler, 1);
    own.waits_at = nullptr;
}

bool can_go_on(const thread &own)
{
    if (own.waits_for_phase)
        return is_phase_over(own.phases_at, own.parity) || let_arrive(own.phases_at);
    if (own.waits_for_flag)
        return *own.waits_for_flag >= own.flag_wanted;
    return !own.over && !(own.waits_at && own.waits_at->turn == own.turn);
}

/* Nothing is on its way to it any more. */
void end_block(block &its)
{
    for (const sent_piece &piece : sent)
        if (block_at(piece.to) == &its)
            fail("a piece is on its way", "to a block that has ended");
    std::memset(its.dynamic, garbage, size_t(dynamic_asked_for));
}

/* All lanes go on, again and again, as long as one of them can. */
bool go_on_with_warp(int number)
{
    bool any_went = false;
    const bool upwards = random() % 2;
    for (bool went = true; went;) {
        went = false;
        for (int i = 0; i < lanes; i++) {
            const int own = number * lanes + (upwards ? i : lanes - 1 - i);
            if (!can_go_on(threads[own]))
                continue;
            went = any_went = true;
            go_on(own);
            if (threads[own].over) {
                block &its = own_block();
                its.alive--;
                if (its.all.there > 0 && its.all.there == its.alive) /* who has ended is not waited for */
                    let_go(its.all);
                if (its.alive == 0) /* and another block may have its memory */
                    end_block(its);
            }
        }
    }
    return any_went;
}

void place_dynamic(block &its)
{
    char *const end = its.memory + dynamic_bytes;
    if (!its.dynamic && mprotect(end, page, PROT_NONE) != 0)
        fail("shared memory", "that cannot be guarded");
    its.dynamic = end - (dynamic_asked_for + dynamic_step - 1) / dynamic_step * dynamic_step;
    std::memset(its.dynamic, garbage, size_t(end - its.dynamic));
}

/* Called before a cluster runs. Returns its warps in an order that is drawn. */
std::vector<int> begin_cluster()
{
    std::vector<int> order;
    cluster = {};
    sent.clear();
    for (int i = 0; i < in_cluster; i++) {
        blocks[i].all = {};
        std::fill(blocks[i].some, blocks[i].some + barriers, barrier{});
        blocks[i].alive = in_block;
        place_dynamic(blocks[i]);
    }
    for (int i = 0; i < in_cluster * in_block; i++) {
        thread &own = threads[i];
        own.over = false;
        own.waits_at = nullptr;
        own.waits_for_phase = false;
        own.waits_for_flag = nullptr;
        own.exchanges = own.group = own.reads = 0;
        copies_under_way -= int64_t(own.copies.size());
        own.copies.clear();
        if (i % lanes == 0) {
            warps[i / lanes] = {};
            order.push_back(i / lanes);
        }
    }
    std::shuffle(order.begin(), order.end(), random);
    return order;
}

bool is_over()
{
    return std::all_of(blocks, blocks + in_cluster, [](const block &block) { return block.alive == 0; });
}

void run_cluster()
{
    const std::vector<int> order = begin_cluster();
    while (!is_over()) {
        bool went = false;
        for (const int warp : order)
            went = go_on_with_warp(warp) || went;
        if (!went)
            fail("all threads wait", own_block().all.place ? own_block().all.place : "in their warps");
    }
    for (int i = 0; i < in_cluster; i++)
        if (std::any_of(blocks[i].dynamic + dynamic_asked_for, blocks[i].memory + dynamic_bytes,
                        [](char byte) { return byte != char(garbage); }))
            fail("shared memory", "that the launch has not asked for");
}

} // namespace

void wait_for_warp(const char *place)
{
    warp &own = warps[current / lanes];
    threads[current].reads = 0;
    if (own.all.there == lanes - 1)
        std::memset(own.reads, 0, sizeof own.reads);
    wait_at(own.all, lanes, place);
}

void wait_for_block(const char *place)
{
    wait_at(own_block().all, own_block().alive, place);
}

void wait_for_cluster(const char *place)
{
    wait_at(cluster, in_cluster * in_block, place);
}

void wait_at_barrier(int number, int wanted, const char *place)
{
    if (number < 1 || number >= barriers)
        fail(place, "of no such number");
    wait_at(own_block().some[number], wanted, place);
}

bool any_of_block(bool value)
{
    block &own = own_block();
    own.any = (own.all.there > 0 && own.any) || value;
    wait_for_block("__syncthreads_or");
    return own.any_before;
}

int lane()
{
    return current % lanes;
}

/* Two buffers, in turn: who is ahead of the others is so by one exchange at most. */
void *exchanged(const void *value, size_t bytes, const char *place)
{
    auto &buffer = warps[current / lanes].exchanged[threads[current].exchanges++ % 2];
    std::memcpy(buffer + size_t(lane()) * bytes, value, bytes);
    wait_for_warp(place);
    return buffer;
}

/* Addresses count from the first block's dynamic memory: what a program has of the rest is less than 2 GiB away. */
uint32_t address_of(const void *shared)
{
    return uint32_t(reinterpret_cast<intptr_t>(shared) - reinterpret_cast<intptr_t>(blocks[0].dynamic));
}

void *memory_at(uint32_t address, int alignment)
{
    if (address % unsigned(alignment) != 0)
        fail("shared memory", "where nothing of the size may begin");
    return blocks[0].dynamic + int32_t(address);
}

void *read_by_warp(uint32_t address, int bytes)
{
    const int number = threads[current].reads++;
    if (number == reads_most)
        fail("a warp", "whose lanes read on and on without waiting for each other");
    uint32_t &taken = warps[current / lanes].reads[number].banks[lane() * bytes / 128];
    const uint32_t own = ((1u << bytes / 4) - 1) << address / 4 % 32;
    bank_conflicts += (taken & own) != 0;
    taken |= own;
    return memory_at(address, bytes);
}

void *dynamic_shared()
{
    return own_block().dynamic;
}

int rank()
{
    return current / in_block;
}

uint32_t address_in(uint32_t address, int rank)
{
    return address + address_of(blocks[rank].dynamic) - address_of(own_block().dynamic);
}

void copy(uint32_t to, const void *from, int bytes, int valid)
{
    thread &own = threads[current];
    own.copies.push_back({to, from, bytes, valid, own.group});
    copies_under_way++;
    if (copies_at_once)
        do_copy(own.copies.back());
}

void commit()
{
    threads[current].group++;
}

void wait_for_copies(int pending)
{
    thread &own = threads[current];
    size_t count = 0;
    while (count < own.copies.size() && own.copies[count].group < own.group - pending)
        count++;
    do_copies(own, count);
}

void wait_for_all_copies()
{
    do_copies(threads[current], threads[current].copies.size());
}

void init_barrier(uint32_t address, int arrivals)
{
    phases_of(address) = {int16_t(arrivals), int16_t(arrivals), 0, 0};
}

void arrive(uint32_t address)
{
    phases &at = phases_of(address);
    at.missing--;
    go_on_if_over(at);
}

void expect(uint32_t address, int bytes)
{
    phases_of(address).bytes = int16_t(phases_of(address).bytes + bytes);
}

void send(uint32_t to, const void *value, int bytes, uint32_t barrier)
{
    sent_piece piece = {to, barrier, bytes, {}};
    std::memcpy(piece.value, value, size_t(bytes));
    if (copies_at_once)
        deliver(piece);
    else
        sent.push_back(piece);
}

void arrive_after_copies(uint32_t address)
{
    thread &own = threads[current];
    own.copies.push_back({address, nullptr, 0, 0, own.group});
    copies_under_way++;
    if (copies_at_once)
        wait_for_all_copies();
}

void wait_for_phase(uint32_t address, unsigned parity)
{
    thread &own = threads[current];
    while (!is_phase_over(address, parity)) {
        own.waits_for_phase = true;
        own.phases_at = address;
        own.parity = parity;
        if (!_setjmp(own.context))
            _longjmp(scheduler, 1);
        own.waits_for_phase = false;
    }
}

void wait_for_flag(const uint32_t *flag, uint32_t value)
{
    thread &own = threads[current];
    own.flag_wanted = value;
    while (*flag < value) {
        own.waits_for_flag = flag;
        if (!_setjmp(own.context))
            _longjmp(scheduler, 1);
        own.waits_for_flag = nullptr;
    }
}

} // namespace emulated

emulated_kernel *emulated_find(const char *symbol)
{
    const emulated_row *row = emulated_rows;
    while (row->symbol && std::strcmp(row->symbol, symbol) != 0)
        row++;
    return row->kernel;
}

int64_t emulated_bank_conflicts()
{
    return emulated::bank_conflicts;
}

void emulated_seed(uint64_t seed)
{
    emulated::random.seed(seed);
}

int64_t emulated_waits(void)
{
    return emulated::waits;
}

void emulated_run(emulated_kernel *kernel, int64_t blocks, int cluster, int threads, int shared_bytes,
                  const void *argument)
{
    using namespace emulated;
    if (threads % lanes != 0 || threads * cluster > threads_most || cluster > blocks_most ||
        blocks % cluster != 0 || blocks < 1 || shared_bytes > dynamic_bytes)
        fail("a launch", "of no such block");
    running = kernel;
    argument_of_running = argument;
    in_block = threads;
    in_cluster = cluster;
    dynamic_asked_for = shared_bytes;
    blockDim.x = unsigned(threads);
    gridDim.x = unsigned(blocks);
    copies_at_once = emulated::random() % 2;
    waits = 0;
    std::vector<unsigned> order(static_cast<size_t>(blocks / cluster));
    for (unsigned i = 0; i < order.size(); i++)
        order[i] = i * unsigned(cluster);
    std::shuffle(order.begin(), order.end(), emulated::random);
    for (const unsigned first : order) {
        first_block = first;
        run_cluster();
    }
}
