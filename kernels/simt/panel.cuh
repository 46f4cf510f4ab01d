/* Panels of an operand on their way into shared memory.
 *
 * A panel is tile_outer x tile_k of an operand, kept in shared memory as [k][outer] whatever its order in
 * global memory, its rows padded by 4 floats: the 4 rows x 8 k of elements, or 16 rows x 2 k of 16-byte
 * pieces, that a warp stores when it transposes on the way then fall into 32 different banks.
 *
 * Aligned operands move 16 bytes at a time, others 4 bytes at a time, which takes any address: by cp.async,
 * or, where 16 bytes have to be transposed and before sm_80, through registers.
 */
#pragma once

#include "kernels/simt/copy_async.cuh"

#include <stdint.h>

namespace simt
{

/* How a panel is shared out among the threads. A thread moves `count` pieces of width_outer x width_k, in
 * `strided` groups that lie a multiple of the leading dimension apart, each of `near` pieces that lie a
 * constant apart. */
template <bool k_contiguous, bool vector, int tile_outer, int tile_k, int threads> struct share {
    static constexpr int width = vector ? 4 : 1;
    static constexpr int width_outer = k_contiguous ? 1 : width, width_k = k_contiguous ? width : 1;
    static constexpr int pieces_outer = tile_outer / width_outer;
    /* Threads along the outer dimension: all where that is the contiguous one, else as the banks demand. */
    static constexpr int lanes_wanted = !k_contiguous ? threads : vector ? threads / 2 : threads / 8;
    static constexpr int lanes_outer = pieces_outer < lanes_wanted ? pieces_outer : lanes_wanted;
    static constexpr int lanes_k = threads / lanes_outer;
    static constexpr int outer_step = lanes_outer * width_outer, k_step = lanes_k * width_k;
    static constexpr int outer_count = tile_outer / outer_step, k_count = tile_k / k_step;
    static constexpr int strided = k_contiguous ? outer_count : k_count;
    static constexpr int near = k_contiguous ? k_count : outer_count;
    static constexpr int count = strided * near;
    static_assert(outer_count > 0 && k_count > 0 && tile_outer % outer_step == 0 && tile_k % k_step == 0,
                  "the panel is covered");
    static_assert(count <= (vector ? 31 : 32),
                  "a mask has a bit for each piece, and one more for ragged ones");

    /* A thread's first piece, and the others relative to it. */
    static __device__ int outer0()
    {
        return k_contiguous ? threadIdx.x / lanes_k : threadIdx.x % lanes_outer * width_outer;
    }
    static __device__ int k0()
    {
        return k_contiguous ? threadIdx.x % lanes_k * width_k : threadIdx.x / lanes_outer;
    }
    static __device__ constexpr int outer(int i)
    {
        return outer_step * (k_contiguous ? i / near : i % near);
    }
    static __device__ constexpr int k(int i)
    {
        return k_step * (k_contiguous ? i % near : i / near);
    }
};

/* Moves one operand's panels, one after the other along k. Elements beyond the outer dimension are not read;
 * what lies in shared memory in their place reaches only elements that C does not have. */
template <bool k_contiguous, bool vector, int tile_outer, int tile_k, int threads> struct loader {
    using share = simt::share<k_contiguous, vector, tile_outer, tile_k, threads>;
    static constexpr int count = share::count, width = share::width;
    static constexpr int pitch = tile_outer + 4;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    static constexpr bool holds = true;
#else
    static constexpr bool holds = k_contiguous && vector;
#endif

    static constexpr unsigned panel_bit = vector ? 1u << 31 : 0;

    const float *address;    /* of the group of pieces to be fetched next */
    int64_t stride, to_next; /* from group to group, and from the last one to the next panel */
    int64_t k_stride;        /* from one k to the next */
    int outer_left;          /* elements that the operand has from the first piece on, if few */
    unsigned mask;           /* bit i: all of piece i lies within the outer dimension; panel_bit: always */
    bool ragged;             /* part of a piece does */
    float held[holds ? count * width : 1];

    __device__ loader(const float *operand, int64_t ld, int64_t first, int64_t extent)
        : k_stride(k_contiguous ? 1 : ld), mask(panel_bit)
    {
        const int64_t outer = first + share::outer0(), k = share::k0();
        address = operand + (k_contiguous ? outer * ld + k : outer + k * ld);
        stride = ld * (k_contiguous ? share::outer_step : share::k_step);
        to_next = k_contiguous ? tile_k - (share::strided - 1) * stride : stride;
        outer_left = int(min(extent - first, int64_t(tile_outer))) - share::outer0();
#pragma unroll
        for (int i = 0; i < count; i++)
            if (outer_left - share::outer(i) >= share::width_outer)
                mask |= 1u << i;
        ragged = share::width_outer > 1 && outer_left > 0 && outer_left < share::width_outer;
        if (holds)
#pragma unroll
            for (int i = 0; i < count * width; i++)
                held[i] = 0;
    }

    __device__ void skip(int64_t k)
    {
        address += k * k_stride;
    }

    static __device__ float *target(float *stage)
    {
        return stage + share::k0() * pitch + share::outer0();
    }

    __device__ const float *piece_address(int i) const
    {
        return address + (k_contiguous ? share::k(i) : share::outer(i));
    }

    /* After the last piece of a group the address moves on. */
    __device__ void pass(int i)
    {
        if (i % share::near == share::near - 1)
            address += i == count - 1 ? to_next : stride;
    }

    __device__ void fetch_elements(float *stage, int i, int elements)
    {
        if (holds) {
#pragma unroll
            for (int e = 0; e < width; e++)
                held[i * width + e] = e < elements ? piece_address(i)[e] : 0;
        } else {
            copy_async<4 * width>(target(stage) + share::k(i) * pitch + share::outer(i), piece_address(i),
                                  4 * elements);
        }
    }

    /* A whole panel, of which only the first k_left steps exist. */
    __device__ void fetch_guarded(float *stage, int k_left)
    {
#pragma unroll
        for (int i = 0; i < count; i++) {
            const int outer = outer_left - share::outer(i), k = k_left - share::k0() - share::k(i);
            fetch_elements(stage, i, outer <= 0 || k <= 0 ? 0 : min(width, k_contiguous ? k : outer));
            pass(i);
        }
    }

    /* Piece i of a panel that lies within k, if its bit is in `live`. */
    __device__ void fetch(float *stage, int i, unsigned live)
    {
        if (live >> i & 1) {
            if (!holds)
                copy_async<4 * width>(target(stage) + share::k(i) * pitch + share::outer(i),
                                      piece_address(i));
            else if (vector)
                *reinterpret_cast<float4 *>(&held[i * width]) =
                    *reinterpret_cast<const float4 *>(piece_address(i));
            else
                held[i] = *piece_address(i);
        } else if (holds && !k_contiguous && ragged && live & panel_bit) {
            fetch_elements(stage, i, outer_left);
        }
        pass(i);
    }

    /* The pieces of such a panel of which part lies within the outer dimension, where they need not wait for
     * registers; before any other. */
    __device__ void fetch_ragged(float *stage, unsigned live)
    {
        if (holds || k_contiguous || !vector || !(ragged && live & panel_bit))
            return;
        const float *first = address;
#pragma unroll
        for (int i = 0; i < count; i++) {
            fetch_elements(stage, i, outer_left);
            pass(i);
        }
        address = first;
    }

    /* Puts piece i, if it waits in registers, into the stage. */
    __device__ void store(float *stage, int i) const
    {
        if (!holds)
            return;
        float *shared = target(stage) + share::k(i) * pitch + share::outer(i);
#pragma unroll
        for (int e = 0; e < width; e++)
            shared[k_contiguous ? e * pitch : e] = held[i * width + e];
    }

    __device__ void store(float *stage) const
    {
#pragma unroll
        for (int i = 0; i < count; i++)
            store(stage, i);
    }
};

} // namespace simt
