/* Panels of an operand on their way into shared memory.
 *
 * A panel is tile_outer x tile_k of an operand. Each slice of a block moves its own share along k, and so waits for nobody
 * else. Shared memory holds such a share in one of two orders:
 *
 * - by k, [k][outer], 4 floats between one step and the next: the 4 rows x 8 k of elements, or 16 rows x 2 k of
 *   16-byte pieces, that a warp stores when it turns the operand on the way then fall into 32 different banks;
 * - by rows, [outer][k], 4 floats after every 4 rows: 8 threads that read 16 bytes of every fourth row meet 32
 *   different banks. Only for what is contiguous along k.
 *
 * Aligned operands move 16 bytes at a time, others 4 bytes at a time, which takes any address: by cp.async,
 * or, where 16 bytes have to be turned and before sm_80, through registers.
 */
#pragma once

#include "kernels/simt/copy_async.cuh"

#include <stdint.h>

namespace simt
{

/* How a slice's share of a panel, tile_outer x slice_k, is shared out among its threads. A thread moves `count` pieces of
 * width_outer x width_k, in `strided` groups that lie a multiple of the leading dimension apart, each of `near`
 * pieces that lie a constant apart, so that one address serves them all. */
template <bool k_contiguous, bool vector, bool by_rows, int tile_outer, int slice_k, int threads>
struct share {
    static constexpr int width = vector ? 4 : 1;
    static constexpr int width_outer = k_contiguous ? 1 : width, width_k = k_contiguous ? width : 1;
    static constexpr int pieces_outer = tile_outer / width_outer;
    /* Threads along the outer dimension: where that is the contiguous one, what it takes to read 128 or 256 bytes in a
     * row and no more, which leaves a thread's pieces near each other; else as the banks demand. */
    static constexpr int lanes_in_a_row = vector ? 16 : 32;
    static constexpr int lanes_contiguous =
        threads / lanes_in_a_row > slice_k ? threads / slice_k : lanes_in_a_row;
    static constexpr int lanes_wanted = !k_contiguous ? lanes_contiguous
                                        : by_rows     ? threads * 4 / slice_k
                                        : vector      ? threads / 2
                                                      : threads / 8;
    static constexpr int lanes_outer = pieces_outer < lanes_wanted ? pieces_outer : lanes_wanted;
    static constexpr int lanes_k = threads / lanes_outer;
    static constexpr int outer_step = lanes_outer * width_outer, k_step = lanes_k * width_k;
    static constexpr int outer_count = tile_outer / outer_step, k_count = slice_k / k_step;
    static constexpr int strided = k_contiguous ? outer_count : k_count;
    static constexpr int near = k_contiguous ? k_count : outer_count;
    static constexpr int count = strided * near;
    static_assert(outer_count > 0 && k_count > 0 && tile_outer % outer_step == 0 && slice_k % k_step == 0,
                  "the panel is covered");
    static_assert(count <= (vector ? 31 : 32),
                  "a mask has a bit for each piece, and one more for ragged ones");

    /* A thread's first piece in its slice's share, and the others relative to it. */
    static __device__ int outer0()
    {
        const int thread = threadIdx.x % threads;
        return k_contiguous ? thread / lanes_k : thread % lanes_outer * width_outer;
    }
    static __device__ int k0()
    {
        const int thread = threadIdx.x % threads;
        return k_contiguous ? thread % lanes_k * width_k : thread / lanes_outer;
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

/* Where the elements of a slice's share of a panel lie in shared memory, in floats from the first one. */
template <bool by_rows_, int tile_outer, int slice_k> struct layout {
    static constexpr bool by_rows = by_rows_;
    static constexpr int floats = by_rows ? tile_outer * (slice_k + 1) : slice_k * (tile_outer + 4);

    static __device__ constexpr int at(int outer, int k)
    {
        return by_rows ? outer * slice_k + outer / 4 * 4 + k : k * (tile_outer + 4) + outer;
    }
};

/* Moves one operand's panels, one after the other along k; each of the block's slices, of so many threads, its share.
 * Elements beyond the outer dimension are not read; what lies in shared memory in their place reaches only
 * elements that C does not have. A stage is named by its offset from the first one, in bytes. */
template <bool k_contiguous, bool vector, bool by_rows, int tile_outer, int tile_k, int slices, int threads>
struct loader {
    static constexpr int slice_k = tile_k / slices;
    using share = simt::share<k_contiguous, vector, by_rows, tile_outer, slice_k, threads>;
    static constexpr int count = share::count, width = share::width;
    using layout = simt::layout<by_rows, tile_outer, slice_k>;
    static_assert(!by_rows || (k_contiguous && vector && share::outer_step % 4 == 0),
                  "pieces lie a constant apart");
    static constexpr bool turns = k_contiguous && vector && !by_rows;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    static constexpr bool holds = true;
#else
    static constexpr bool holds = turns;
#endif

    static constexpr unsigned panel_bit = vector ? 1u << 31 : 0;

    const float *address; /* of the group of pieces to be fetched next */
    const int64_t &jump;  /* bytes from panel to panel: in the kernel's arguments, it takes no register */
    int64_t stride;       /* from group to group */
    int64_t k_stride;     /* from one k to the next */
    int k0, outer_left;   /* k of the first piece; elements along the outer dimension from it on, if few */
    unsigned target;      /* shared address of the first piece in the first stage */
    unsigned mask;        /* bit i: all of piece i lies within the outer dimension; panel_bit: always */
    int ragged_from; /* from a group's first piece to one of which only part does; -1 where there is none */
    alignas(16) float held[holds ? count * width : 1];

    __device__ loader(const float *operand, int64_t ld, int64_t first, int64_t extent, const int64_t &jump)
        : jump(jump), k_stride(k_contiguous ? 1 : ld), mask(panel_bit)
    {
        const int64_t outer = first + share::outer0();
        const int slice = slices > 1 ? threadIdx.x / threads : 0;
        k0 = share::k0() + slice * slice_k;
        target = first_stage() + 4 * (slice * layout::floats + layout::at(share::outer0(), share::k0()));
        address = operand + (k_contiguous ? outer * ld + k0 : outer + k0 * ld);
        stride = ld * (k_contiguous ? share::outer_step : share::k_step);
        outer_left = int(min(extent - first, int64_t(tile_outer))) - share::outer0();
#pragma unroll
        for (int i = 0; i < count; i++)
            if (outer_left - share::outer(i) >= share::width_outer)
                mask |= 1u << i;
        const int last = outer_left / share::outer_step, left = outer_left % share::outer_step;
        ragged_from = last < share::outer_count && left > 0 && left < share::width_outer
                          ? last * share::outer_step
                          : -1;
        keep(target);
        keep(mask);
        if (holds)
#pragma unroll
            for (int i = 0; i < count * width; i++)
                held[i] = 0;
    }

    __device__ void skip(int64_t k)
    {
        address += k * k_stride;
    }

    __device__ const float *piece_address(int i) const
    {
        return address + (k_contiguous ? share::k(i) : share::outer(i));
    }

    /* Bytes from the first piece to piece i, in shared memory. */
    static __device__ constexpr int offset(int i)
    {
        return 4 * layout::at(share::outer(i), share::k(i));
    }

    /* After the last piece of a group the address moves on. */
    __device__ void pass(int i)
    {
        if (i == count - 1)
            address = reinterpret_cast<const float *>(
                reinterpret_cast<const char *>(address - (share::strided - 1) * stride) + jump);
        else if (i % share::near == share::near - 1)
            address += stride;
    }

    __device__ void fetch_elements(unsigned stage, int i, int elements)
    {
        if (holds) {
#pragma unroll
            for (int e = 0; e < width; e++)
                held[i * width + e] = e < elements ? piece_address(i)[e] : 0;
        } else {
            copy_async<4 * width>(target + stage + offset(i), piece_address(i), 4 * elements);
        }
    }

    /* A whole panel, of which only the first k_left steps exist. */
    __device__ void fetch_guarded(unsigned stage, int k_left)
    {
#pragma unroll
        for (int i = 0; i < count; i++) {
            const int outer = outer_left - share::outer(i), k = k_left - k0 - share::k(i);
            fetch_elements(stage, i, outer <= 0 || k <= 0 ? 0 : min(width, k_contiguous ? k : outer));
            pass(i);
        }
    }

    /* The same, past the registers: what has to be turned goes element by element. From sm_80 on. */
    __device__ void fetch_guarded_directly(unsigned stage, int k_left)
    {
        if constexpr (turns) {
#pragma unroll
            for (int i = 0; i < count; i++) {
                const bool exists = outer_left > share::outer(i);
#pragma unroll
                for (int e = 0; e < width; e++)
                    copy_async<4>(target + stage + offset(i) + 4 * layout::at(0, e), piece_address(i) + e,
                                  exists && k_left - k0 - share::k(i) > e ? 4 : 0);
                pass(i);
            }
        } else {
            fetch_guarded(stage, k_left);
        }
    }

    /* There is no further panel. */
    __device__ void stop()
    {
        mask = 0;
    }

    /* Piece i of a panel that lies within k. */
    template <int i> __device__ void fetch(unsigned stage)
    {
        if (!holds) {
            copy_async_if<4 * width, i, offset(i), 4 * (k_contiguous ? share::k(i) : share::outer(i))>(
                mask, target + stage, address);
        } else if (mask >> i & 1) {
            if (vector)
                *reinterpret_cast<float4 *>(&held[i * width]) =
                    *reinterpret_cast<const float4 *>(piece_address(i));
            else
                held[i] = *piece_address(i);
        } else if (!k_contiguous && ragged_from >= 0 && mask & panel_bit) {
            fetch_elements(stage, i, outer_left - share::outer(i));
        }
        pass(i);
    }

    /* The pieces of such a panel of which part lies within the outer dimension, where they need not wait for
     * registers; before any other. */
    __device__ void fetch_ragged(unsigned stage)
    {
        if constexpr (!holds && !k_contiguous && vector)
            if (ragged_from >= 0 && mask & panel_bit)
#pragma unroll
                for (int group = 0; group < share::strided; group++)
                    copy_async<16>(target + stage + offset(group * share::near) + 4 * ragged_from,
                                   address + group * stride + ragged_from, 4 * (outer_left - ragged_from));
    }

    /* Puts piece i, if it waits in registers, into the stage. */
    __device__ void store(unsigned stage, int i) const
    {
        if constexpr (holds && turns)
#pragma unroll
            for (int e = 0; e < width; e++)
                store_shared<1>(target + stage + offset(i) + 4 * layout::at(0, e), &held[i * width + e]);
        else if constexpr (holds)
            store_shared<width>(target + stage + offset(i), &held[i * width]);
    }

    __device__ void store(unsigned stage) const
    {
#pragma unroll
        for (int i = 0; i < count; i++)
            store(stage, i);
    }
};

} // namespace simt
