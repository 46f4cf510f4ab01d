/* Does what kernels/crt/instructions.cuh does, on the host, by what the manual of PTX says of them. */
#pragma once

#include "tests/emulated/threads.h"

#include <cstdint>
#include <cstring>

namespace crt
{

/* Bytes with a sign and without one. Sums are modulo 2^32. */
template <class byte_of_a, class byte_of_b> inline int32_t emulated_dot(uint32_t a, uint32_t b, int32_t sum)
{
    uint32_t result = uint32_t(sum);
    for (int i = 0; i < 4; i++)
        result += uint32_t(byte_of_a(a >> (8 * i)) * byte_of_b(b >> (8 * i)));
    return int32_t(result);
}

inline int32_t dot_bytes(uint32_t a, uint32_t b, int32_t sum)
{
    return emulated_dot<uint8_t, int8_t>(a, b, sum);
}

inline int32_t dot_residues(uint32_t a, uint32_t b, int32_t sum)
{
    return emulated_dot<int8_t, uint8_t>(a, b, sum);
}

inline int32_t dot_halves(uint32_t a, uint32_t b, int32_t sum)
{
    const uint32_t low = (a & 65535) * uint32_t(int8_t(b)), high = (a >> 16) * uint32_t(int8_t(b >> 8));
    return int32_t(uint32_t(sum) + low + high);
}

inline void add_wide(uint64_t &sum, uint32_t word)
{
    sum += word;
}

inline void load_matrices(uint32_t (&to)[4], uint32_t address)
{
    const auto addresses = emulated::exchange(address, "ldmatrix");
    const int lane = emulated::lane();
    for (int i = 0; i < 4; i++) {
        const char *row =
            static_cast<const char *>(emulated::memory_at(addresses.value[8 * i + lane / 4], 16));
        std::memcpy(&to[i], row + lane % 4 * 4, sizeof to[i]);
    }
}

/* A lane has a word of A's row l / 4 and of B's column l / 4, and of the sums two neighbours of row l / 4. */
inline void multiply_add_k16(int32_t *sum, uint32_t a, uint32_t b)
{
    struct words {
        uint32_t a, b;
    };
    const auto all = emulated::exchange(words{a, b}, "mma.m8n8k16");
    const words *row = &all.value[emulated::lane() / 4 * 4], *column = &all.value[emulated::lane() % 4 * 8];
    for (int i = 0; i < 2; i++)
        for (int word = 0; word < 4; word++)
            sum[i] = emulated_dot<int8_t, int8_t>(row[word].a, column[4 * i + word].b, sum[i]);
}

/* The words of A: of rows l / 4 and 8 more, at the first 16 steps of k and at the others; of B at the first and at the others. */
inline void multiply_add_k32(int32_t *sum, const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    struct words {
        uint32_t a[4], b[2];
    };
    const auto all = emulated::exchange(words{{a[0], a[1], a[2], a[3]}, {b0, b1}}, "mma.m16n8k32");
    const words *row = &all.value[emulated::lane() / 4 * 4], *column = &all.value[emulated::lane() % 4 * 8];
    for (int i = 0; i < 4; i++)
        for (int half = 0; half < 2; half++)
            for (int word = 0; word < 4; word++)
                sum[i] = emulated_dot<int8_t, int8_t>(row[word].a[i / 2 + 2 * half],
                                                      column[4 * (i % 2) + word].b[half], sum[i]);
}

} // namespace crt
