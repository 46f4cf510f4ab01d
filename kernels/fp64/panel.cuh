/* Panels of FP64 operands on their way into shared memory, and from there into the fragments of mma.sync.
 *
 * A panel is tile_outer x tile_k of an operand. It keeps in shared memory the order that it has in global memory: lines
 * along k (A transposed, B not) or along the outer dimension. Nothing is transposed on the way, so that cp.async serves all four
 * transpositions.
 *
 * Lane 4 g + q of a warp has two of 8 steps of k. mma.sync names q and q + 4, but any order will do that A and B share: where A
 * lies along m they are 2 q and 2 q + 1, so that B along k is read 16 bytes at a time. Of 16 rows of A the lane has the rows
 * 2 g and 2 g + 1, in the place of the rows g and g + 8 that mma.sync names: C's rows change places alike, and come out as pairs.
 * Of 8 columns of B it has column g.
 *
 * What is read together, by 16-byte loads of lanes 0 to 7, by 8-byte loads of lanes 0 to 15, has to lie on different banks. Lines
 * are swizzled: an element's place is exclusive-ored with some bits of its line's number, in chunks of 16 bytes, which are four
 * banks. Each row of this table is all eight chunks:
 *
 *   A along m, steps from 2 q on    16 bytes    chunk g of line 2 q, swizzled by 2 q
 *   A along k, steps q, q + 4        8 bytes    chunk q / 2 of line 2 g, by 2 (g % 4)
 *   B along k, steps from 2 q on    16 bytes    chunk q of line g, by 4 (g % 2)
 *   B along k, steps q, q + 4        8 bytes    chunk q / 2 of line g, by 2 (g % 4)
 *   B along n, steps 2 q, or q       8 bytes    chunk g / 2 of that line, by 2 q
 *
 * Where warps copy alone, which have no registers for that, lines are padded instead, and steps are q and q + 4. The banks, as
 * pairs of which a double takes one:
 *
 *   pair of banks         0   1   2   3   4   5   6   7   8   9  10  11  12  13  14  15
 *   A along k             q=0 1   2   3  |0   1   2   3  |0   1   2   3  |0   1   2   3      line 2 g: 2 (tile_k + 2) = 4
 *                         g=0            |1              |2              |3
 *   A along m             g=0     1      |0       1      |0       1      |0       1          step q: tile_m + 4 = 4
 *     rows                0   1   2   3  |0   1   2   3  |0   1   2   3  |0   1   2   3
 *                         q=0            |1              |2              |3
 *   B along k             q=0 1   2   3  |0   1   2   3  |0   1   2   3  |0   1   2   3      column g: tile_k + 4 = 4
 *                         g=0            |1              |2              |3
 *   B along n             g=0 1   2   3  |0   1   2   3  |0   1   2   3  |0   1   2   3      step q: tile_n + 4 = 4
 *                         q=0            |1              |2              |3                  (modulo 16)
 *
 * Copies write lines from end to end, without conflicts however those lie.
 *
 * A complex number of A is a block of four reals, two rows by two steps, and one of B two steps of a column (words/lowered.h). It
 * stays one number in shared memory, which a lane reads as 16 bytes: of 8 rows of A and 4 steps row g and step q, of B column g
 * and step q. So the lane has its rows 2 g, 2 g + 1 and its steps 2 q, 2 q + 1 of the real product. The chunks are those of the
 * first and of the third row of the table, with lines q for 2 q:
 *
 *   A along m, B along n            16 bytes    chunk g of line q, swizzled by 2 q
 *   A along k, B along k            16 bytes    chunk q of line g, by 4 (g % 2)
 */
#pragma once

#include "kernels/fp64/dgemm_mma.h"
#include "kernels/fp64/instructions.cuh"
#include "kernels/simt/copy_async.cuh"

#include <type_traits>

namespace fp64
{

/* Where the elements of a panel lie, in doubles from the first one. of_lane: a lane's neighbouring lines, two of A, one of B.
 * pairs: a lane's two steps are neighbours. */
template <int tile_outer_, int tile_k_, bool k_contiguous_, int of_lane, bool padded, bool pairs>
struct panel {
    static constexpr int tile_outer = tile_outer_, tile_k = tile_k_;
    static constexpr bool k_contiguous = k_contiguous_;
    static constexpr int line = k_contiguous ? tile_k : tile_outer,
                         lines = k_contiguous ? tile_outer : tile_k;
    static constexpr int pad =
        k_contiguous ? of_lane == 2 ? TB_DGEMM_PAD_K_A : TB_DGEMM_PAD_K_B : TB_DGEMM_PAD_OUTER;
    static constexpr int pitch = line + (padded ? pad : 0);
    static_assert(line % 16 == 0, "a line is swizzled within 128 bytes");
    static constexpr int first_step = pairs ? 2 : 1, /* of a lane, for its number q */
        second_step = pairs ? 1 : 4;                 /* from that one on */
    static constexpr bool of_numbers = false;        /* complex ones */

    /* So many of the product's rows or columns, or steps, in the panel's. */
    template <class integer> static __device__ constexpr integer outer_of(integer count)
    {
        return count;
    }
    template <class integer> static __device__ constexpr integer steps_of(integer count)
    {
        return count;
    }

    /* The number by which a line's elements are swizzled. */
    static __device__ constexpr int swizzle(int number)
    {
        return padded         ? 0
               : k_contiguous ? pairs ? number / of_lane % 2 * 8 : number / of_lane % 4 * 4
                              : number / (pairs ? 2 : 1) % 4 * 4;
    }

    static __device__ constexpr int at(int outer, int k)
    {
        const int number = k_contiguous ? outer : k, element = k_contiguous ? k : outer;
        return number * pitch + (element ^ swizzle(number));
    }

    /* The address of what lies so many rows or columns and steps behind a lane's first element: multiples of 8, or steps of 4
     * where pairs are not neighbours. What the swizzle may change of it comes with an exclusive or. */
    static __device__ unsigned behind(unsigned place, int outer, int k)
    {
        const int number = k_contiguous ? outer : k, element = k_contiguous ? k : outer;
        const unsigned swizzled = padded ? 0 : 8 * (element & 12);
        return (place ^ swizzled) + 8 * (number * pitch + element) - swizzled;
    }

    /* The address of what lies so many lines behind an element: a multiple of a power of two, and the element's line less than
     * that, so that their swizzles add up. */
    static __device__ unsigned lines_behind(unsigned place, int number)
    {
        return (place ^ 8 * swizzle(number)) + 8 * number * pitch;
    }
};

/* A panel of complex numbers as they lie, in doubles: tile_outer and tile_k are the real product's, in which a number of A has
 * two rows and two steps, one of B two steps. Along m or n a line has the numbers of one step, both parts of each. */
template <int tile_outer_, int tile_k_, bool k_contiguous_, bool of_a>
struct complex_panel : panel<k_contiguous_ == of_a ? of_a ? tile_outer_ / 2 : 2 * tile_outer_ : tile_outer_,
                             k_contiguous_ ? tile_k_ : tile_k_ / 2, k_contiguous_, 1, false, k_contiguous_> {
    static constexpr int first_step = 2;
    static constexpr bool of_numbers = true;

    template <class integer> static __device__ constexpr integer outer_of(integer count)
    {
        return k_contiguous_ == of_a ? of_a ? count / 2 : 2 * count : count;
    }
    template <class integer> static __device__ constexpr integer steps_of(integer count)
    {
        return k_contiguous_ ? count : count / 2;
    }
};

/* Copies one operand's panels, one after the other along k. A thread has, of `count` lines, `width` elements each. Elements
 * beyond the outer dimension are not read; what lies in shared memory in their place reaches only elements that C does not
 * have. A stage is named by its offset from the first one, in bytes. */
template <class panel, int threads, bool vector, bool through_l1> struct loader {
    static constexpr int width = vector ? 2 : 1;
    static constexpr int lanes = panel::line / width, at_a_time = threads / lanes;
    static constexpr int count = panel::lines / at_a_time;
    static_assert(threads % lanes == 0 && panel::lines % at_a_time == 0, "threads share the panel evenly");
    static_assert((at_a_time & (at_a_time - 1)) == 0, "as lines_behind wants it");
    static constexpr unsigned ragged = 1u << 31, short_end = 1u << 30;
    static_assert(count <= 30, "a mask has a bit for each piece, and two more");

    const double *address; /* of the panel's first piece */
    int64_t stride;        /* from piece to piece */
    const int64_t &
        jump; /* from panel to panel, a number among the kernel's arguments: in bytes, which takes no register */
    unsigned target; /* shared address of the first piece in the first stage */
    int outer_left;  /* rows or columns from the thread's first one on, if few */
    /* bit i: all of piece i is within the outer dimension; ragged: the first element of each is; short_end: the
     * chain's last panel has fewer steps than others */
    unsigned mask;

    __device__ static int first_line()
    {
        return threadIdx.x / lanes;
    }
    __device__ static int first_in_line()
    {
        return threadIdx.x % lanes * width;
    }

    /* Panels of the rows or columns from `outer` on and, first, from a step of k. */
    __device__ loader(const double *operand, int64_t ld, int64_t outer, int64_t extent, int64_t step,
                      unsigned first, const int64_t &jump)
        : stride(ld * at_a_time), jump(jump), mask(0)
    {
        const int own_outer = panel::k_contiguous ? first_line() : first_in_line();
        const int own_k = panel::k_contiguous ? first_in_line() : first_line();
        const int64_t k = step * panel::tile_k + own_k;
        address = operand + (panel::k_contiguous ? (outer + own_outer) * ld + k : outer + own_outer + k * ld);
        target = first + 8 * panel::at(own_outer, own_k);
        outer_left = int(min(extent - outer, int64_t(panel::tile_outer))) - own_outer;
#pragma unroll
        for (int i = 0; i < count; i++)
            if (panel::k_contiguous ? outer_left > i * at_a_time : outer_left >= width)
                mask |= 1u << i;
        if (!panel::k_contiguous && vector && outer_left == 1)
            mask = ragged;
        simt::keep(target);
        simt::keep(mask);
    }

    __device__ void skip(int64_t bytes)
    {
        address = reinterpret_cast<const double *>(reinterpret_cast<const char *>(address) + bytes);
    }

    __device__ void go_on()
    {
        skip(jump);
    }

    __device__ unsigned to(unsigned stage, int i) const
    {
        return panel::lines_behind(target + stage, at_a_time * i);
    }

    /* The next panel, of which so many steps exist; beyond them it is zero. */
    __device__ void start_guarded(unsigned stage, int k_left)
    {
        const int own_left = k_left - (panel::k_contiguous ? first_in_line() : first_line());
        const int lines_left = panel::k_contiguous ? outer_left : own_left;
        const int valid = 8 * max(0, min(width, panel::k_contiguous ? own_left : outer_left));
#pragma unroll 1
        for (int i = 0; i < count; i++)
            copy_async<8 * width, through_l1>(to(stage, i), address + i * stride,
                                              lines_left > i * at_a_time ? valid : 0);
        go_on();
    }

    /* There is no further panel. */
    __device__ void stop()
    {
        mask = 0;
    }

    /* Copies what of a panel that lies within k is not in whole pieces; comes before its pieces. */
    __device__ void start_ragged(unsigned stage) const
    {
        if (!panel::k_contiguous && vector && mask & ragged)
#pragma unroll
            for (int i = 0; i < count; i++)
                copy_async_if<8, through_l1>(1, to(stage, i), address + i * stride);
    }

    __device__ void start_piece(unsigned stage, int i)
    {
        copy_async_if<8 * width, through_l1>(mask & 1u << i, to(stage, i), address + i * stride);
        if (i == count - 1)
            go_on();
    }
};

/* 16 rows and 8 steps of A, from `row` and k of the lane's place on: a[2 i + h] is row h of its pair, the lane's
 * step i. */
template <class panel> __device__ inline void load_a(double (&a)[4], unsigned place, int row, int k)
{
    if constexpr (panel::of_numbers) {
        load_shared_pair(a[0], a[1], panel::behind(place, panel::outer_of(row), panel::steps_of(k)));
    } else {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const unsigned first = panel::behind(place, row, k + i * panel::second_step);
            if (panel::k_contiguous) {
                a[2 * i] = load_shared(first);
                a[2 * i + 1] = load_shared(first + 8 * panel::pitch);
            } else {
                load_shared_pair(a[2 * i], a[2 * i + 1], first);
            }
        }
    }
}

/* Makes of a complex number of A, as it was read, the block of four reals that it stands for. zero is 0, which the assembler
 * does not know: it would find that halves of a fragment are equal, and put the eight registers together anew for each
 * multiplication. */
__device__ inline void complete_a(double (&a)[4], unsigned zero)
{
    a[2] = with_bits(a[1], 0x80000000u, zero);
    a[3] = with_bits(a[0], zero, zero);
}

/* 8 columns and 8 steps of B likewise: b[i] is the lane's step i. */
template <class panel> __device__ inline void load_b(double (&b)[2], unsigned place, int column, int k)
{
    if constexpr (panel::of_numbers)
        load_shared_pair(b[0], b[1], panel::behind(place, panel::outer_of(column), panel::steps_of(k)));
    else if constexpr (panel::k_contiguous && panel::second_step == 1)
        load_shared_pair(b[0], b[1], panel::behind(place, column, k));
    else
#pragma unroll
        for (int i = 0; i < 2; i++)
            b[i] = load_shared(panel::behind(place, column, k + i * panel::second_step));
}

} // namespace fp64
