/* How blocks of a GETRF panel agree upon a pivot. In each step each warp leaves a letter in shared memory: the best candidate of
 * its rows. agree() is called by all threads behind a barrier of the block, and answers the letter of the best of all, which stays
 * until it has been called for the next step but one.
 *
 *     alone        a block that has the whole panel: the best of its warps
 *     of_cluster   each warp puts its block's best letter into the shared memory of a few blocks, the cluster meets, and each block
 *                  finds the best of those that have come: one barrier of the cluster a step
 *     of_grid      the same by global memory and flags. All blocks have to run at a time
 *
 * Letters of a step are overwritten by those of the next but one: who writes these has seen that all have read those.
 */
#pragma once

#include "kernels/cluster.cuh"
#include "kernels/panels/between_blocks.cuh"
#include "kernels/panels/pivots.cuh"

namespace panels
{

constexpr int columns = TB_GETRF_COLUMNS, rows_at_a_time = TB_GETRF_THREADS, lanes = 32,
              warps = TB_GETRF_THREADS / lanes;
static_assert(columns == lanes, "a lane has a column of a letter");

template <class number> struct alignas(16) letter {
    number row[columns];
    rank_type<number> size;
    uint32_t place;
};

template <class number>
constexpr bool has_stated_size = sizeof(letter<number>) == TB_GETRF_LETTER_BYTES(sizeof(number));
static_assert(has_stated_size<float> && has_stated_size<double> && has_stated_size<complex<float>> &&
                  has_stated_size<complex<double>>,
              "what is launched has room for letters");

template <class number> using letters_of_warps = letter<number>[2][warps];

/* The best of so many letters, at most one a lane; all warps do it. Where none has a candidate it is the first, which says so. */
template <class number>
__device__ __forceinline__ const letter<number> &best_of(const letter<number> *letters, int count)
{
    candidate<rank_type<number>> own;
    const int lane = threadIdx.x % lanes;
    if (lane < count)
        own = {letters[lane].size, letters[lane].place};
    const uint32_t place = best_of_warp(own).place;
    return letters[place == nowhere ? 0 : teller_of(place)];
}

template <class number> struct alone {
    static constexpr int shared_bytes = 0;
    letters_of_warps<number> &of_warps;

    __device__ alone(const tb_getrf_panel &, letters_of_warps<number> &of_warps, char *) : of_warps(of_warps)
    {
    }
    __device__ __forceinline__ static int rank()
    {
        return 0;
    }
    __device__ __forceinline__ void begin() const
    {
    }
    __device__ __forceinline__ void end(int) const
    {
    }
    __device__ __forceinline__ const letter<number> &agree(int step) const
    {
        return best_of(of_warps[step % 2], warps);
    }
};

template <class number> struct of_cluster {
    static constexpr int shared_bytes = 2 * TB_GETRF_CLUSTER_MAXIMUM * sizeof(letter<number>);
    using arrived_letters = letter<number>[2][TB_GETRF_CLUSTER_MAXIMUM];
    const tb_getrf_panel &x;
    letters_of_warps<number> &of_warps;
    arrived_letters &arrived;

    __device__ of_cluster(const tb_getrf_panel &x, letters_of_warps<number> &of_warps, char *shared)
        : x(x), of_warps(of_warps), arrived(*reinterpret_cast<arrived_letters *>(shared))
    {
    }
    __device__ __forceinline__ static int rank()
    {
        return cluster::rank();
    }
    /* All blocks are there, and so is their shared memory. */
    __device__ __forceinline__ void begin() const
    {
        cluster::meet();
    }
    __device__ __forceinline__ void end(int) const
    {
    }

    __device__ __forceinline__ static void put(unsigned address, real_of<number> real)
    {
        between_blocks::put(address, real);
    }
    template <class real> __device__ __forceinline__ static void put(unsigned address, complex<real> a)
    {
        between_blocks::put(address, a.re);
        between_blocks::put(address + sizeof(real), a.im);
    }

    /* Lane by lane; where it is `own` block's, which the receiver has a place for. */
    __device__ __forceinline__ void send(const letter<number> &from, int step, int to) const
    {
        const int lane = threadIdx.x % lanes;
        letter<number> &here = arrived[step % 2][rank()];
        put(cluster::address_in(unsigned(__cvta_generic_to_shared(&here.row[lane])), to), from.row[lane]);
        if (lane == 0)
            between_blocks::put(cluster::address_in(unsigned(__cvta_generic_to_shared(&here.size)), to),
                                from.size);
        if (lane == 1)
            between_blocks::put(cluster::address_in(unsigned(__cvta_generic_to_shared(&here.place)), to),
                                from.place == nowhere ? nowhere : place_of(row_of(from.place), rank()));
    }

    __device__ __forceinline__ const letter<number> &agree(int step) const
    {
        const letter<number> &own = best_of(of_warps[step % 2], warps);
        for (int to = threadIdx.x / lanes; to < x.blocks; to += warps)
            send(own, step, to);
        cluster::meet();
        return best_of(arrived[step % 2], x.blocks);
    }
};

template <class number> struct of_grid {
    static constexpr int shared_bytes = sizeof(letter<number>);
    using real = real_of<number>;
    const tb_getrf_panel &x;
    letters_of_warps<number> &of_warps;
    letter<number> &agreed;
    uint32_t *const flags,
        *const left; /* one a block, the last step that it has told of; blocks that have left */
    letter<number> *const letters;

    __device__ of_grid(const tb_getrf_panel &x, letters_of_warps<number> &of_warps, char *shared)
        : x(x), of_warps(of_warps), agreed(*reinterpret_cast<letter<number> *>(shared)),
          flags(static_cast<uint32_t *>(x.letters)), left(flags + TB_GETRF_GRID_MAXIMUM),
          letters(reinterpret_cast<letter<number> *>(static_cast<char *>(x.letters) + TB_GETRF_FLAG_BYTES))
    {
    }
    __device__ __forceinline__ static int rank()
    {
        return int(blockIdx.x);
    }
    __device__ __forceinline__ void begin() const
    {
    }
    /* The last one leaves all as it was. */
    __device__ __forceinline__ void end(int) const
    {
        if (threadIdx.x != 0 || between_blocks::count_in(left) + 1 < uint32_t(x.blocks))
            return;
        for (int i = 0; i < x.blocks; i++)
            flags[i] = 0;
        *left = 0;
    }

    __device__ __forceinline__ letter<number> *of_step(int step) const
    {
        return letters + step % 2 * TB_GETRF_GRID_MAXIMUM;
    }

    __device__ __forceinline__ static void copy_fresh(real *to, const real *from)
    {
        for (int part = 0; part < reals_of<number>; part++)
            to[part] = between_blocks::fresh(from + part);
    }

    /* One warp's. */
    __device__ __forceinline__ void tell(int step) const
    {
        const int lane = threadIdx.x % lanes;
        const letter<number> &own = best_of(of_warps[step % 2], warps);
        letter<number> &sent = of_step(step)[rank()];
        sent.row[lane] = own.row[lane];
        if (lane == 0) {
            sent.size = own.size;
            sent.place = own.place == nowhere ? nowhere : place_of(row_of(own.place), rank());
        }
        __syncwarp();
        if (lane == 0)
            between_blocks::announce(&flags[rank()], uint32_t(step) + 1);
    }
    __device__ __forceinline__ void hear(int step) const
    {
        const int lane = threadIdx.x % lanes;
        candidate<rank_type<number>> own;
        for (int teller = lane; teller < x.blocks; teller += lanes) {
            const letter<number> &sent = of_step(step)[teller];
            between_blocks::await(&flags[teller], uint32_t(step) + 1);
            own.consider(between_blocks::fresh(&sent.size), between_blocks::fresh(&sent.place));
        }
        __syncwarp();
        const candidate<rank_type<number>> best = best_of_warp(own);
        const letter<number> &sent = of_step(step)[teller_of(best.place)];
        copy_fresh(reinterpret_cast<real *>(&agreed.row[lane]),
                   reinterpret_cast<const real *>(&sent.row[lane]));
        if (lane == 0) {
            agreed.size = best.size;
            agreed.place = best.place;
        }
    }

    __device__ __forceinline__ const letter<number> &agree(int step) const
    {
        if (threadIdx.x < lanes) {
            tell(step);
            hear(step);
        }
        __syncthreads();
        return agreed;
    }
};

} // namespace panels
