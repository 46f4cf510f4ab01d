/* How the blocks of a GEQRF panel add up, or compare, what their warps have found of each column; a lane has a column. In each round each
 * warp leaves its numbers, and the warp that has the panel's first rows one of these, whole. exchange() is called by all threads;
 * joined(), by any warp, answers what comes of all blocks' numbers of the lane's column, and row() is that row, until the next round.
 *
 *     sums_alone        a block that has the whole panel
 *     sums_of_cluster   a few warps send the block's numbers into the shared memory of every block, where a barrier counts the bytes that
 *                       have come, and who asks adds up what these are. What is waited for is one way across the cluster
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

/* What is between such marks stays apart from what is between others, though it be the same but for its registers: a compiler that joins
 * them puts these into memory, or has what comes of it wait for both. */
template <int which> __device__ __forceinline__ void mark()
{
    asm volatile("" ::"n"(which));
}
/* What uses the number from here on computes anew what was computed of it before. */
__device__ __forceinline__ void uses_of(int &number)
{
    asm volatile("" : "+r"(number));
}

struct sum {
    template <class number> __device__ __forceinline__ number operator()(number a, number b) const
    {
        return plus(a, b);
    }
};
/* Of magnitudes, by their upper 32 bits, all that their powers of two are known by. What is no number is the largest. */
__device__ __forceinline__ int upper_bits(float magnitude)
{
    return __float_as_int(magnitude);
}
__device__ __forceinline__ int upper_bits(double magnitude)
{
    return __double2hiint(magnitude);
}
__device__ __forceinline__ void set_upper_bits(float &magnitude, int bits)
{
    magnitude = __int_as_float(bits);
}
__device__ __forceinline__ void set_upper_bits(double &magnitude, int bits)
{
    magnitude = __hiloint2double(bits, 0);
}
template <class real> __device__ __forceinline__ real of_upper_bits(int bits)
{
    real magnitude;
    set_upper_bits(magnitude, bits);
    return magnitude;
}
struct largest {
    template <class number> __device__ __forceinline__ number operator()(number a, number b) const
    {
        return number_of<number>(
            of_upper_bits<real_of<number>>(max(upper_bits(real_part(a)), upper_bits(real_part(b)))));
    }
};

/* What so many tell. */
template <class number, int tellers> struct letters_of {
    number numbers[tellers][columns], row[columns];
};
template <class number> using letters_of_warps = letters_of<number, warps>[2];

__device__ __forceinline__ int lane()
{
    return int(threadIdx.x % lanes);
}
__device__ __forceinline__ int warp()
{
    return int(threadIdx.x / lanes);
}

/* Of the lane's column, of `count` tellers from the first one on; a power of two. */
template <class operation, int count, class number>
__device__ __forceinline__ number over(const number (*told)[columns])
{
    if constexpr (count == 1)
        return (*told)[lane()];
    else
        return operation()(over<operation, count / 2>(told), over<operation, count / 2>(told + count / 2));
}

/* Neighbours, of which so many are read, written or sent in one piece. */
template <class number> struct alignas(16) piece {
    static constexpr int count = 16 / sizeof(number);
    number at[count];
};
template <class number>
__device__ __forceinline__ piece<number> piece_of(const number (&told)[columns], int index)
{
    return between_blocks::read_piece(reinterpret_cast<const piece<number> *>(told)[index]);
}
template <class operation, int count, class number>
__device__ __forceinline__ piece<number> pieces_over(const number (*told)[columns], int index)
{
    if constexpr (count == 1) {
        return piece_of(*told, index);
    } else {
        piece<number> result = pieces_over<operation, count / 2>(told, index);
        const piece<number> others = pieces_over<operation, count / 2>(told + count / 2, index);
#pragma unroll
        for (int e = 0; e < piece<number>::count; e++)
            result.at[e] = operation()(result.at[e], others.at[e]);
        return result;
    }
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
    template <class operation> __device__ __forceinline__ void exchange(unsigned) const
    {
        __syncthreads();
    }
    template <class operation> __device__ __forceinline__ number joined(unsigned round) const
    {
        return over<operation, warps>(of_warps[round % 2].numbers);
    }
    __device__ __forceinline__ const number *row(unsigned round) const
    {
        return of_warps[round % 2].row;
    }
};

/* Numbers go in pieces of 16 bytes, from as many lanes as a letter has pieces to a block. */
template <class number> struct sums_of_cluster {
    struct arrived_letters {
        letters_of<number, TB_GEQRF_CLUSTER_MAXIMUM> of_round[2];
        uint64_t have_come[2];
    };
    static constexpr bool has_further_rows = false;
    static constexpr int shared_numbers = sizeof(arrived_letters) / sizeof(number),
                         pieces = columns / piece<number>::count, receivers = lanes / pieces, senders = 4;
    static_assert(sizeof(arrived_letters) == TB_GEQRF_OF_CLUSTER * sizeof(number) + TB_GEQRF_OF_CLUSTER_BYTES,
                  "what is launched has room");
    const tb_geqrf_panel &x;
    letters_of_warps<number> &of_warps;
    arrived_letters &arrived;

    __device__ sums_of_cluster(const tb_geqrf_panel &x, letters_of_warps<number> &of_warps, number *shared)
        : x(x), of_warps(of_warps), arrived(*reinterpret_cast<arrived_letters *>(shared))
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
    __device__ __forceinline__ unsigned barrier(unsigned round) const
    {
        return address_of(&arrived.have_come[round % 2]);
    }
    /* All blocks are there, and so is their shared memory. */
    __device__ __forceinline__ void begin() const
    {
        if (threadIdx.x == 0) {
            between_blocks::init_barrier(barrier(0), 1);
            between_blocks::init_barrier(barrier(1), 1);
            between_blocks::show_barriers();
        }
        /* Blocks that are not there tell zeros. */
        number *const all = reinterpret_cast<number *>(arrived.of_round);
        for (int i = int(threadIdx.x); i < TB_GEQRF_OF_CLUSTER; i += TB_GEQRF_THREADS)
            all[i] = number_of<number>(0);
        cluster::meet();
    }
    __device__ __forceinline__ void end() const
    {
    }

    template <class operation> __device__ __forceinline__ void tell(unsigned round) const
    {
        auto &to = arrived.of_round[round % 2];
        const auto &from = of_warps[round % 2];
        const int own = lane() % pieces;
        const piece<number> of_block = pieces_over<operation, warps>(from.numbers, own),
                            of_row = piece_of(from.row, own);
        const unsigned numbers_here = address_of(to.numbers[rank()]) + own * sizeof(piece<number>),
                       row_here = address_of(to.row) + own * sizeof(piece<number>);
#pragma unroll
        for (int turn = 0; turn * senders * receivers < TB_GEQRF_CLUSTER_MAXIMUM; turn++) {
            const int receiver = (turn * senders + warp()) * receivers + lane() / pieces;
            const bool is_there = receiver < x.blocks;
            const unsigned barrier_there = cluster::address_in(barrier(round), receiver);
            between_blocks::send_if(is_there, cluster::address_in(numbers_here, receiver), of_block,
                                    barrier_there);
            between_blocks::send_if(is_there && rank() == 0, cluster::address_in(row_here, receiver), of_row,
                                    barrier_there);
        }
    }

    template <class operation> __device__ __forceinline__ void exchange(unsigned round) const
    {
        if (threadIdx.x == TB_GEQRF_THREADS - 1)
            between_blocks::expect(barrier(round), unsigned((x.blocks + 1) * columns * sizeof(number)));
        __syncthreads();
        if (warp() < senders)
            tell<operation>(round);
    }
    template <class operation> __device__ __forceinline__ number joined(unsigned round) const
    {
        const auto &numbers = arrived.of_round[round % 2].numbers;
        between_blocks::await_phase(barrier(round), round / 2 % 2);
        return x.blocks > 8   ? of_so_many<operation, TB_GEQRF_CLUSTER_MAXIMUM>(numbers)
               : x.blocks > 4 ? of_so_many<operation, 8>(numbers)
                              : of_so_many<operation, 4>(numbers);
    }
    template <class operation, int count>
    __device__ __forceinline__ static number of_so_many(const number (*told)[columns])
    {
        mark<count>();
        const number result = over<operation, count>(told);
        mark<count>();
        return result;
    }
    __device__ __forceinline__ const number *row(unsigned round) const
    {
        return arrived.of_round[round % 2].row;
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
    template <class operation> __device__ __forceinline__ void tell(unsigned round) const
    {
        letters_of_blocks &to = told[round % 2];
        to.numbers[rank()][lane()] = over<operation, warps>(of_warps[round % 2].numbers);
        if (rank() == 0)
            to.row[lane()] = of_warps[round % 2].row[lane()];
        __syncwarp();
        if (lane() == 0)
            between_blocks::announce(&flags[rank()], round + 1);
    }
    template <class operation> __device__ __forceinline__ void hear(unsigned round) const
    {
        const letters_of_blocks &from = told[round % 2];
        number all = number_of<number>(0);
        for (int teller = warp(); teller < x.blocks; teller += warps) {
            between_blocks::await(&flags[teller], round + 1);
            all = operation()(all, fresh(from.numbers[teller][lane()]));
            if (teller == 0)
                heard.row[lane()] = fresh(from.row[lane()]);
        }
        heard.numbers[warp()][lane()] = all;
    }

    template <class operation> __device__ __forceinline__ void exchange(unsigned round) const
    {
        __syncthreads();
        if (warp() == 0)
            tell<operation>(round);
        hear<operation>(round);
        __syncthreads();
    }
    template <class operation> __device__ __forceinline__ number joined(unsigned) const
    {
        return over<operation, warps>(heard.numbers);
    }
    __device__ __forceinline__ const number *row(unsigned) const
    {
        return heard.row;
    }
};

} // namespace panels
