/* How the blocks of a GEQRF panel add up, or compare, what their warps have found of each column; a lane has a column. In each round each
 * warp leaves its numbers, and the warp that has the panel's first rows one of these, whole. join() is called by all threads, and
 * answers what comes of all blocks' numbers of the lane's column; row() is that row, until the next round but one.
 *
 *     sums_alone        a block that has the whole panel
 *     sums_of_cluster   a few warps put the block's numbers into the shared memory of all blocks, the cluster meets, and each warp adds up
 *                       what has come
 *     sums_of_grid      the same by global memory and flags. All blocks have to run at a time
 *
 * Numbers of a round are overwritten by those of the next but one: who writes these has seen that all have read those. All blocks add
 * in the same order, so that all know the same.
 */
#pragma once

#include "kernels/cluster.cuh"
#include "kernels/panels/between_blocks.cuh"
#include "kernels/panels/geqrf.h"
#include "kernels/panels/numbers.cuh"

namespace panels
{

constexpr int lanes = 32, columns = TB_GEQRF_COLUMNS, warps = TB_GEQRF_THREADS / lanes;
static_assert(columns == lanes, "a lane has a column");

struct sum {
    template <class number> __device__ __forceinline__ number operator()(number a, number b) const
    {
        return plus(a, b);
    }
};
/* Of reals that are not negative; what is no number is passed over. */
struct largest {
    template <class number> __device__ __forceinline__ number operator()(number a, number b) const
    {
        return number_of<number>(fmax(real_part(a), real_part(b)));
    }
};

/* What so many tell. */
template <class number, int tellers> struct letters_of {
    number numbers[tellers][columns], row[columns];
};
template <class number> using letters_of_warps = letters_of<number, warps>[2];

__device__ __forceinline__ int lane()
{
    return int(threadIdx.x) % lanes;
}
__device__ __forceinline__ int warp()
{
    return int(threadIdx.x) / lanes;
}

/* Of the lane's column, of `count` tellers from the first one on, of whom so many are there; a power of two. */
template <class operation, int count, class number>
__device__ __forceinline__ number over(const number (*told)[columns], int there = count)
{
    if constexpr (count == 1)
        return there > 0 ? (*told)[lane()] : number_of<number>(0);
    else
        return operation()(over<operation, count / 2>(told, there),
                           over<operation, count / 2>(told + count / 2, there - count / 2));
}

template <class number> struct sums_alone {
    static constexpr bool has_further_rows = false;
    static constexpr int shared_numbers = 0;
    letters_of_warps<number> &of_warps;

    __device__ sums_alone(const tb_geqrf_panel &, letters_of_warps<number> &of_warps, number *)
        : of_warps(of_warps)
    {
    }
    __device__ __forceinline__ static int rank()
    {
        return 0;
    }
    __device__ __forceinline__ void begin() const
    {
    }
    __device__ __forceinline__ void end() const
    {
    }
    template <class operation> __device__ __forceinline__ number join(int round) const
    {
        __syncthreads();
        return over<operation, warps>(of_warps[round % 2].numbers);
    }
    __device__ __forceinline__ const number *row(int round) const
    {
        return of_warps[round % 2].row;
    }
};

template <class number> struct sums_of_cluster {
    static constexpr bool has_further_rows = false;
    static constexpr int shared_numbers = TB_GEQRF_OF_CLUSTER + TB_GEQRF_MAILBOX_BYTES / sizeof(number),
                         senders = 4;
    using letters_of_blocks = letters_of<number, TB_GEQRF_CLUSTER_MAXIMUM>[2];
    using real = real_of<number>;
    static_assert(sizeof(letters_of_blocks) == TB_GEQRF_OF_CLUSTER * sizeof(number),
                  "what is launched has room");
    const tb_geqrf_panel &x;
    letters_of_warps<number> &of_warps;
    letters_of_blocks &arrived;
    const unsigned mailboxes; /* two, each of a round in turn */

    __device__ sums_of_cluster(const tb_geqrf_panel &x, letters_of_warps<number> &of_warps, number *shared)
        : x(x), of_warps(of_warps), arrived(*reinterpret_cast<letters_of_blocks *>(shared)),
          mailboxes(address_of(shared[TB_GEQRF_OF_CLUSTER]))
    {
    }
    __device__ __forceinline__ static int rank()
    {
        return cluster::rank();
    }
    template <class type> __device__ __forceinline__ static unsigned address_of(const type &shared)
    {
        return unsigned(__cvta_generic_to_shared(&shared));
    }
    __device__ __forceinline__ unsigned mailbox(int round) const
    {
        return mailboxes + round % 2 * 8;
    }
    /* Of all blocks, and the row. */
    __device__ __forceinline__ int pieces() const
    {
        return (x.blocks + 1) * columns * reals_of<number>;
    }
    /* All blocks are there, and so is their shared memory. */
    __device__ __forceinline__ void begin() const
    {
        if (threadIdx.x < 2)
            between_blocks::make_mailbox(mailbox(int(threadIdx.x)), pieces());
        cluster::meet();
    }
    __device__ __forceinline__ void end() const
    {
    }

    __device__ __forceinline__ static void send(unsigned address, real a, unsigned barrier)
    {
        between_blocks::send(address, a, barrier);
    }
    __device__ __forceinline__ static void send(unsigned address, complex<real> a, unsigned barrier)
    {
        between_blocks::send(address, a.re, barrier);
        between_blocks::send(address + sizeof(real), a.im, barrier);
    }
    template <class operation> __device__ __forceinline__ void tell(int round) const
    {
        const int turn = round % 2;
        const number own = over<operation, warps>(of_warps[turn].numbers);
        const unsigned number_here = address_of(arrived[turn].numbers[rank()][lane()]),
                       row_here = address_of(arrived[turn].row[lane()]);
        for (int to = warp(); to < x.blocks; to += senders) {
            const unsigned to_mailbox = cluster::address_in(mailbox(round), to);
            send(cluster::address_in(number_here, to), own, to_mailbox);
            if (rank() == 0)
                send(cluster::address_in(row_here, to), of_warps[turn].row[lane()], to_mailbox);
        }
    }

    template <class operation> __device__ __forceinline__ number join(int round) const
    {
        const auto &numbers = arrived[round % 2].numbers;
        if (threadIdx.x == TB_GEQRF_THREADS - 1)
            between_blocks::expect(mailbox(round), pieces() * int(sizeof(real)));
        __syncthreads();
        if (warp() < senders)
            tell<operation>(round);
        between_blocks::await_all(mailbox(round), unsigned(round) / 2 % 2);
        if (x.blocks <= 2)
            return over<operation, 2>(numbers, x.blocks);
        if (x.blocks <= 4)
            return over<operation, 4>(numbers, x.blocks);
        if (x.blocks <= 8)
            return over<operation, 8>(numbers, x.blocks);
        return over<operation, TB_GEQRF_CLUSTER_MAXIMUM>(numbers, x.blocks);
    }
    __device__ __forceinline__ const number *row(int round) const
    {
        return arrived[round % 2].row;
    }
};

template <class number> struct sums_of_meeting_cluster {
    static constexpr bool has_further_rows = false;
    static constexpr int shared_numbers = TB_GEQRF_OF_CLUSTER + TB_GEQRF_MAILBOX_BYTES / sizeof(number),
                         senders = 4;
    using letters_of_blocks = letters_of<number, TB_GEQRF_CLUSTER_MAXIMUM>[2];
    static_assert(sizeof(letters_of_blocks) == TB_GEQRF_OF_CLUSTER * sizeof(number),
                  "what is launched has room");
    const tb_geqrf_panel &x;
    letters_of_warps<number> &of_warps;
    letters_of_blocks &arrived;

    __device__ sums_of_meeting_cluster(const tb_geqrf_panel &x, letters_of_warps<number> &of_warps,
                                       number *shared)
        : x(x), of_warps(of_warps), arrived(*reinterpret_cast<letters_of_blocks *>(shared))
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
    __device__ __forceinline__ void end() const
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
    __device__ __forceinline__ static void send(number &place, number a, int to)
    {
        put(cluster::address_in(unsigned(__cvta_generic_to_shared(&place)), to), a);
    }

    template <class operation> __device__ __forceinline__ void tell(int round) const
    {
        const int turn = round % 2;
        const number own = over<operation, warps>(of_warps[turn].numbers);
        for (int to = warp(); to < x.blocks; to += senders) {
            send(arrived[turn].numbers[rank()][lane()], own, to);
            if (rank() == 0)
                send(arrived[turn].row[lane()], of_warps[turn].row[lane()], to);
        }
    }

    template <class operation> __device__ __forceinline__ number join(int round) const
    {
        const auto &numbers = arrived[round % 2].numbers;
        __syncthreads();
        if (warp() < senders)
            tell<operation>(round);
        cluster::meet();
        if (x.blocks <= 2)
            return over<operation, 2>(numbers, x.blocks);
        if (x.blocks <= 4)
            return over<operation, 4>(numbers, x.blocks);
        if (x.blocks <= 8)
            return over<operation, 8>(numbers, x.blocks);
        return over<operation, TB_GEQRF_CLUSTER_MAXIMUM>(numbers, x.blocks);
    }
    __device__ __forceinline__ const number *row(int round) const
    {
        return arrived[round % 2].row;
    }
};

template <class number> struct sums_of_grid {
    static constexpr bool has_further_rows = true;
    static constexpr int shared_numbers = TB_GEQRF_OF_GRID;
    using real = real_of<number>;
    using letters_of_blocks = letters_of<number, TB_GEQRF_GRID_MAXIMUM>;
    const tb_geqrf_panel &x;
    letters_of_warps<number> &of_warps;
    letters_of<number, warps> &heard; /* what each warp has of the blocks that it listens to, and the row */
    uint32_t *const flags,
        *const left; /* one a block, the last round that it has told of; blocks that have left */
    letters_of_blocks *const told;

    __device__ sums_of_grid(const tb_geqrf_panel &x, letters_of_warps<number> &of_warps, number *shared)
        : x(x), of_warps(of_warps), heard(*reinterpret_cast<letters_of<number, warps> *>(shared)),
          flags(static_cast<uint32_t *>(x.letters)), left(flags + TB_GEQRF_GRID_MAXIMUM),
          told(reinterpret_cast<letters_of_blocks *>(static_cast<char *>(x.letters) + TB_GEQRF_FLAG_BYTES))
    {
        static_assert(sizeof heard == shared_numbers * sizeof(number), "what is launched has room");
    }
    __device__ __forceinline__ static int rank()
    {
        return int(blockIdx.x);
    }
    __device__ __forceinline__ void begin() const
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

    __device__ __forceinline__ static number fresh(const number &from)
    {
        const real *parts = reinterpret_cast<const real *>(&from);
        if constexpr (reals_of<number> == 2)
            return {between_blocks::fresh(parts), between_blocks::fresh(parts + 1)};
        else
            return between_blocks::fresh(parts);
    }

    /* One warp's. */
    template <class operation> __device__ __forceinline__ void tell(int round) const
    {
        letters_of_blocks &to = told[round % 2];
        to.numbers[rank()][lane()] = over<operation, warps>(of_warps[round % 2].numbers);
        if (rank() == 0)
            to.row[lane()] = of_warps[round % 2].row[lane()];
        __syncwarp();
        if (lane() == 0)
            between_blocks::announce(&flags[rank()], uint32_t(round) + 1);
    }
    template <class operation> __device__ __forceinline__ void hear(int round) const
    {
        const letters_of_blocks &from = told[round % 2];
        number all = number_of<number>(0);
        for (int teller = warp(); teller < x.blocks; teller += warps) {
            between_blocks::await(&flags[teller], uint32_t(round) + 1);
            all = operation()(all, fresh(from.numbers[teller][lane()]));
            if (teller == 0)
                heard.row[lane()] = fresh(from.row[lane()]);
        }
        heard.numbers[warp()][lane()] = all;
    }

    template <class operation> __device__ __forceinline__ number join(int round) const
    {
        __syncthreads();
        if (warp() == 0)
            tell<operation>(round);
        hear<operation>(round);
        __syncthreads();
        return over<operation, warps>(heard.numbers);
    }
    __device__ __forceinline__ const number *row(int) const
    {
        return heard.row;
    }
};

} // namespace panels
