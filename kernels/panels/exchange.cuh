/* How blocks of a GETRF panel agree upon a pivot. In each step each warp leaves a letter in shared memory: the best candidate of
 * its rows. agree() is called by all threads, and answers the letter of the best of all, which stays until it has been called for the next
 * step but one.
 *
 *     alone        a block that has the whole panel: the best of its warps
 *     of_cluster   each block sends its best letter into the shared memory of every block, where a barrier counts the bytes that have
 *                  come, and finds the best of those. What is waited for is one way across the cluster
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

constexpr int columns = TB_GETRF_COLUMNS, lanes = 32, warps_most = TB_GETRF_THREADS / lanes;

/* Numbers that are read, written or sent in one piece. */
template <class number> struct alignas(16) piece {
    static constexpr int count = 16 / sizeof(number);
    number at[count];
};

/* A candidate, and where its row is: its number before any exchange, which no other row ever has. It is read and written in one piece. */
struct alignas(16) heading {
    uint32_t lower, upper, row, home; /* `lower` and `upper` are its rank */

    __device__ __forceinline__ static heading of(candidate<uint32_t> a, int home)
    {
        return {0, a.size, a.row, uint32_t(home)};
    }
    __device__ __forceinline__ static heading of(candidate<uint64_t> a, int home)
    {
        return {uint32_t(a.size), uint32_t(a.size >> 32), a.row, uint32_t(home)};
    }
};

template <class rank> __device__ __forceinline__ rank size_in(const heading &head)
{
    if constexpr (sizeof(rank) == 4)
        return head.upper;
    else
        return rank(head.upper) << 32 | head.lower;
}

template <class number> struct letter {
    alignas(16) number row[columns];
    alignas(16) number reciprocal; /* of the candidate, if it has one */
    heading head;
};

template <class number>
constexpr bool has_stated_size = sizeof(letter<number>) == TB_GETRF_LETTER_BYTES(sizeof(number));
static_assert(has_stated_size<float> && has_stated_size<double> && has_stated_size<complex<float>> &&
                  has_stated_size<complex<double>>,
              "what is launched has room for letters");

template <class number> using letters_of_warps = letter<number>[2][warps_most];

/* The best of so many letters, at most one a lane; all warps do it. Where none has a candidate it is any, which says so. */
template <class number>
__device__ __forceinline__ const letter<number> &best_of(const letter<number> *letters, int count)
{
    candidate<rank_type<number>> own;
    const int lane = threadIdx.x % lanes;
    if (lane < count) {
        const heading head = between_blocks::read_piece(letters[lane].head);
        own = {size_in<rank_type<number>>(head), head.row};
    }
    return letters[lane_of_best(own)];
}

__device__ __forceinline__ int warps_of_block()
{
    return int(blockDim.x) / lanes;
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
    __device__ __forceinline__ void have_all() const
    {
    }
    __device__ __forceinline__ void end() const
    {
    }
    __device__ __forceinline__ const letter<number> &agree(int step) const
    {
        __syncthreads();
        return best_of(of_warps[step % 2], warps_of_block());
    }
};

/* Of letters only what comes behind the step's column is sent, in pieces of 16 bytes. */
template <class number> struct of_cluster {
    struct arrived_letters {
        letter<number> of_step[2][TB_GETRF_CLUSTER_MAXIMUM];
        uint64_t have_come[2];
    };
    static constexpr int shared_bytes = sizeof(arrived_letters),
                         pieces = columns / piece<number>::count, /* of a row */
        receivers = lanes / pieces;                               /* that a warp sends to at a time */
    const tb_getrf_panel &x;
    letters_of_warps<number> &of_warps;
    arrived_letters &arrived;
    const int own_rank;

    __device__ of_cluster(const tb_getrf_panel &x, letters_of_warps<number> &of_warps, char *shared)
        : x(x), of_warps(of_warps), arrived(*reinterpret_cast<arrived_letters *>(shared)), own_rank(rank())
    {
    }
    __device__ __forceinline__ static int rank()
    {
        return cluster::rank();
    }

    __device__ __forceinline__ static unsigned address_of(const void *shared)
    {
        return unsigned(__cvta_generic_to_shared(shared));
    }

    __device__ __forceinline__ static int first_piece(int step)
    {
        return step / piece<number>::count;
    }
    __device__ __forceinline__ void expect(int step) const
    {
        const int of_letter = pieces - first_piece(step) + 2;
        between_blocks::expect(address_of(&arrived.have_come[step % 2]), unsigned(x.blocks * of_letter * 16));
    }

    /* All blocks are there, and so is their shared memory. */
    __device__ __forceinline__ void begin() const
    {
        if (threadIdx.x == 0) {
            for (int i = 0; i < 2; i++)
                between_blocks::init_barrier(address_of(&arrived.have_come[i]), 1);
            between_blocks::show_barriers();
            for (int i = 0; i < 2; i++)
                expect(i);
        }
        cluster::meet();
    }
    /* No block ends before all have had their last letters: what is on its way goes from a block that is there to one that is. */
    __device__ __forceinline__ void have_all() const
    {
        between_blocks::arrive_at_end();
    }
    __device__ __forceinline__ void end() const
    {
        between_blocks::await_end();
    }

    /* The row by as many lanes as it has pieces, and what is behind it by the first two of them. */
    __device__ __forceinline__ void send(const letter<number> &from, int step) const
    {
        const int lane = threadIdx.x % lanes, warp = threadIdx.x / lanes, own = lane % pieces,
                  behind = own % 2;
        const auto *sent = reinterpret_cast<const piece<number> *>(&from);
        const unsigned here = address_of(&arrived.of_step[step % 2]) + own_rank * sizeof(letter<number>),
                       barrier = address_of(&arrived.have_come[step % 2]);
#pragma unroll 1
        for (int to = warp * receivers + lane / pieces; to < x.blocks; to += warps_of_block() * receivers) {
            const piece<number> of_row = between_blocks::read_piece(sent[own]),
                                of_rest = between_blocks::read_piece(sent[pieces + behind]);
            const unsigned there = cluster::address_in(here, to),
                           barrier_there = cluster::address_in(barrier, to);
            between_blocks::send_if(own < 2, there + (pieces + behind) * 16, of_rest, barrier_there);
            between_blocks::send_if(own >= first_piece(step), there + own * 16, of_row, barrier_there);
        }
    }

    __device__ __forceinline__ const letter<number> &agree(int step) const
    {
        __syncthreads();
        send(best_of(of_warps[step % 2], warps_of_block()), step);
        between_blocks::await_phase(address_of(&arrived.have_come[step % 2]), step / 2 % 2);
        if (threadIdx.x == 0)
            expect(step + 2);
        return best_of(arrived.of_step[step % 2], x.blocks);
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
    __device__ __forceinline__ void have_all() const
    {
    }
    /* The last one leaves all as it was. */
    __device__ __forceinline__ void end() const
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

    /* One warp's. */
    __device__ __forceinline__ void tell(int step) const
    {
        const int lane = threadIdx.x % lanes;
        const letter<number> &own = best_of(of_warps[step % 2], warps_of_block());
        letter<number> &sent = of_step(step)[rank()];
        sent.row[lane] = own.row[lane];
        if (lane == 0) {
            sent.reciprocal = own.reciprocal;
            sent.head = own.head;
        }
        __syncwarp();
        if (lane == 0)
            between_blocks::announce(&flags[rank()], uint32_t(step) + 1);
    }
    __device__ __forceinline__ static number fresh(const number &from)
    {
        const real *parts = reinterpret_cast<const real *>(&from);
        if constexpr (reals_of<number> == 2)
            return {between_blocks::fresh(parts), between_blocks::fresh(parts + 1)};
        else
            return between_blocks::fresh(parts);
    }
    __device__ __forceinline__ void hear(int step) const
    {
        const int lane = threadIdx.x % lanes;
        candidate<rank_type<number>> own;
        int teller = 0, home = 0;
        for (int i = lane; i < x.blocks; i += lanes) {
            const heading &sent = of_step(step)[i].head;
            between_blocks::await(&flags[i], uint32_t(step) + 1);
            const heading told = {between_blocks::fresh(&sent.lower), between_blocks::fresh(&sent.upper),
                                  between_blocks::fresh(&sent.row), between_blocks::fresh(&sent.home)};
            if (own.consider(size_in<rank_type<number>>(told), told.row)) {
                teller = i;
                home = int(told.home);
            }
        }
        __syncwarp();
        const int best = lane_of_best(own);
        const letter<number> &sent = of_step(step)[__shfl_sync(UINT32_MAX, teller, best)];
        agreed.row[lane] = fresh(sent.row[lane]);
        if (lane == 0)
            agreed.reciprocal = fresh(sent.reciprocal);
        if (lane == best)
            agreed.head = heading::of(own, home);
    }

    __device__ __forceinline__ const letter<number> &agree(int step) const
    {
        __syncthreads();
        if (threadIdx.x < lanes) {
            tell(step);
            hear(step);
        }
        __syncthreads();
        return agreed;
    }
};

} // namespace panels
