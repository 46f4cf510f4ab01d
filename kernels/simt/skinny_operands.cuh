/* What the skinny family reads: how a warp's lanes lie over a step of the long operand, and how either operand gets into shared
 * memory. The words are those of skinny.h.
 */
#pragma once

#include "kernels/simt/copy_async.cuh"
#include "kernels/simt/skinny.h"

namespace skinny
{

/* How the lanes of a warp lie over its step. */
template <class real_, bool k_contiguous_, bool vector_, int extent> struct layout {
    using real = real_;
    static constexpr bool k_contiguous = k_contiguous_, vector = vector_;
    static constexpr int bytes = sizeof(real);
    static constexpr int near = TB_SKINNY_NEAR(vector), far = TB_SKINNY_FAR(vector);
    static constexpr int elements = TB_SKINNY_ELEMENTS(bytes, k_contiguous, vector, extent);
    static constexpr int lines = TB_SKINNY_LINES(bytes, k_contiguous, vector, extent);
    static constexpr int rows = TB_SKINNY_ROWS(bytes, k_contiguous, vector, extent);
    static constexpr int step_k = TB_SKINNY_STEP_K(bytes, k_contiguous, vector, extent);
    static constexpr int lane_rows = k_contiguous ? lines : elements;
    static constexpr int lane_k = TB_SKINNY_LANE_K(bytes, k_contiguous, vector, extent);
    static constexpr int width = vector ? TB_SKINNY_WIDTH(bytes) : 1; /* of a copy */
    static_assert(!k_contiguous || (vector && elements == width), "a lane's k lie in one vector");

    static __device__ int near_lane()
    {
        return threadIdx.x % near;
    }
    static __device__ int far_lane()
    {
        return threadIdx.x % 32 / near;
    }
    /* How far element e of a lane's line lies behind its first, and line l behind its first line. */
    static __device__ constexpr int element(int e)
    {
        return e / width * width * near + e % width;
    }
    static __device__ constexpr int line(int l)
    {
        return l * far;
    }
    /* The lane's row i in the step, in rows of the warp: where warps take turns, these lie apart. */
    static __device__ int row(int i)
    {
        return k_contiguous ? line(i) + far_lane() : element(i) + width * near_lane();
    }
};

template <class real_, int extent_> struct sizes {
    using real = real_;
    static constexpr int bytes = sizeof(real), extent = extent_, slot_bytes = bytes * extent;
    static constexpr int warps = TB_SKINNY_WARPS(bytes, extent), threads = 32 * warps;
#ifdef __CUDA_ARCH__
    static constexpr int architecture = __CUDA_ARCH__ / 10;
#else
    static constexpr int architecture = 80;
#endif
    static constexpr int depth = TB_SKINNY_DEPTH(architecture);
    static constexpr int width = TB_SKINNY_WIDTH(bytes);
    static constexpr int step_elements = threads * TB_SKINNY_SHARE(bytes, extent);
    static constexpr int pitch = TB_SKINNY_PITCH(bytes, extent);
    static constexpr int chunk_k = TB_SKINNY_CHUNK_K(bytes, extent, architecture),
                         before = TB_SKINNY_BEFORE(bytes, extent);
    static constexpr int chunk_elements = (chunk_k + before) * pitch;
    static constexpr int sum_pitch = extent | 1;
    static_assert(chunk_k >= warps * 8 * width, "a chunk has room for a round");
    static_assert(TB_SKINNY_ROWS_MAXIMUM(bytes, extent) * sum_pitch <= depth * step_elements,
                  "sums go where steps were");
};

/* alpha as the product's element. */
template <class real> __device__ inline real alpha_of(const tb_skinny_arguments &arguments)
{
    if constexpr (sizeof(real) == sizeof(float))
        return arguments.alpha;
    else
        return arguments.alpha64;
}

template <class real> __device__ inline real beta_of(const tb_skinny_arguments &arguments)
{
    if constexpr (sizeof(real) == sizeof(float))
        return arguments.beta;
    else
        return arguments.beta64;
}

/* Copies an element if it exists, and else zero, for which nothing is read, so that the address may be any; before sm_80 at
 * once. */
__device__ inline void copy_element(unsigned shared, const float *global, bool exists)
{
#if __CUDA_ARCH__ >= 800
    simt::copy_async<4>(shared, global, exists ? 4 : 0);
#else
    const float value = exists ? *global : 0;
    simt::store_shared<1>(shared, &value);
#endif
}

__device__ inline void copy_element(unsigned shared, const double *global, bool exists)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(shared), "l"(global),
                 "r"(exists ? 8 : 0));
#else
    const double value = exists ? *global : 0;
    asm volatile("st.shared.f64 [%0], %1;" ::"r"(shared), "d"(value));
#endif
}

/* Copies 16 bytes; L2 fetches all of the line of 128 that they are of, if it is wanted soon: along k by the next round. */
template <bool fetches_line, class real>
__device__ inline void copy_vector(unsigned shared, const real *global)
{
#if __CUDA_ARCH__ >= 800
    if (fetches_line)
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(shared), "l"(global));
    else
        simt::copy_async(shared, global);
#else
    const float4 line = *reinterpret_cast<const float4 *>(global);
    simt::store_shared<4>(shared, &line.x);
#endif
}

/* The long operand, step by step. */
template <class layout, class sizes> struct source {
    using real = typename layout::real;
    static constexpr int width = layout::width, bytes = layout::bytes;
    const tb_skinny_arguments &arguments;
    const real *address;  /* of this lane's first element of the step that is fetched next */
    int64_t left;         /* of k, or of positions, from that step on */
    unsigned first, slot; /* of this lane in shared memory: of all steps, and of that one */
    int shift;            /* of this lane's lines */
    unsigned live;        /* bit i: row i exists */
    bool at_start;        /* that step begins before k does */

    __device__ source(const tb_skinny_arguments &arguments, const real *steps, int64_t first_row,
                      int64_t first_k, int apart)
        : arguments(arguments), left(arguments.k - first_k), live(0)
    {
        const int64_t line =
            layout::k_contiguous ? first_row + apart * layout::far_lane() : first_k + layout::far_lane();
        const real *begin = static_cast<const real *>(arguments.x) + line * arguments.x_line;
        shift =
            int(unsigned(reinterpret_cast<uintptr_t>(begin) / sizeof(real)) & unsigned(arguments.shifts - 1));
        address = begin - shift + (layout::k_contiguous ? first_k : first_row) + width * layout::near_lane();
        first = slot = unsigned(__cvta_generic_to_shared(steps)) + threadIdx.x * width * bytes;
        at_start = layout::k_contiguous && arguments.shifts > 1 && first_k == 0;
#pragma unroll
        for (int i = 0; i < layout::lane_rows; i++)
            if (first_row + apart * layout::row(i) < arguments.length)
                live |= 1u << i;
        simt::keep(live);
    }

    /* Where element e of line l lies behind the lane's first in shared memory, in bytes: what a copy brings of all lanes side
     * by side. */
    static __device__ constexpr unsigned place(int l, int e)
    {
        return unsigned((l * layout::elements + e) / width * sizes::threads * width + e % width) * bytes;
    }

    __device__ unsigned behind(unsigned slot) const
    {
        slot += sizes::step_elements * bytes;
        return slot < first + sizes::depth * sizes::step_elements * bytes ? slot : first;
    }

    __device__ bool exists(int l, int e) const
    {
        return live >> (layout::k_contiguous ? l : e) & 1;
    }

    __device__ void fetch()
    {
        if (left >= layout::step_k && !at_start)
            fetch_whole();
        else
            fetch_guarded();
        at_start = false;
        left -= arguments.round_k;
        address += arguments.x_round;
        slot = behind(slot);
    }

    __device__ void fetch_whole() const
    {
        const real *from = address;
#pragma unroll
        for (int l = 0; l < layout::lines; l++, from += arguments.x_lane_line)
#pragma unroll
            for (int e = 0; e < layout::elements; e += width)
                if (exists(l, e)) {
                    if (layout::vector)
                        copy_vector<layout::k_contiguous>(slot + place(l, e), from + layout::element(e));
                    else
                        copy_element(slot + place(l, e), from + layout::element(e), true);
                }
    }

    /* Element by element: k may begin and end within a vector. */
    __device__ void fetch_guarded() const
    {
        const int end = int(min(max(left, int64_t(-sizes::before)), int64_t(layout::step_k)));
        const real *from = address;
#pragma unroll 1
        for (int l = 0; l < layout::lines; l++, from += arguments.x_lane_line)
#pragma unroll
            for (int e = 0; e < layout::elements; e++) {
                const int k = layout::k_contiguous ? layout::element(e) + width * layout::near_lane() - shift
                                                   : layout::line(l) + layout::far_lane();
                const bool wanted = exists(l, e) && k < end && (k >= 0 || !at_start);
                copy_element(slot + place(l, e),
                             wanted ? from + layout::element(e) : static_cast<const real *>(arguments.x),
                             wanted);
            }
    }
};

/* The short operand in chunks: a slot for each k, and in it the columns. Where the long operand is contiguous along k,
 * k that leave the same remainder by a vector's width lie together in a share of the chunk, behind those from before the chunk:
 * what a lane wants lies `shift` earlier. */
template <class layout, class sizes> struct slots {
    static constexpr int before = sizes::before, width = sizes::width;
    static constexpr int share = (sizes::chunk_k + before) / width;

    static __device__ int of(int k)
    {
        return (layout::k_contiguous ? (k + before) % width * share + (k + before) / width : k) *
               sizes::pitch * sizes::bytes;
    }

    /* Where a lane's number j of k is found, in bytes, before it moves on by whole steps. */
    int at[layout::lane_k];

    __device__ slots(int shift)
    {
#pragma unroll
        for (int j = 0; j < layout::lane_k; j++)
            at[j] = of(layout::k_contiguous ? layout::element(j) + width * layout::near_lane() - shift
                                            : layout::line(j) + layout::far_lane());
    }

    static __device__ int step(int k)
    {
        return (layout::k_contiguous ? k / width : k) * sizes::pitch * sizes::bytes;
    }
};

/* Puts k from first_k on, `count` of them and those before, into a buffer, zero beyond the edges. Neighbouring threads take
 * neighbours in memory. */
template <class layout, class sizes>
__device__ inline void stage(unsigned buffer, const tb_skinny_arguments &arguments,
                             const typename sizes::real *y, int columns, int64_t first_k, int count)
{
    using slots = skinny::slots<layout, sizes>;
    const int before = arguments.shifts > 1 ? arguments.shifts : 0;
    const int begin = -int(min(int64_t(before), first_k)),
              end = int(min(arguments.k - first_k, int64_t(count)));
    y += first_k * arguments.y_k;
    if (arguments.y_k == 1) {
#pragma unroll 1
        for (int k = int(threadIdx.x) - before; k < count; k += sizes::threads) {
            const bool exists = k >= begin && k < end;
            const typename sizes::real *from = y + k;
            const unsigned to = buffer + slots::of(k);
#pragma unroll
            for (int column = 0; column < sizes::extent; column++, from += arguments.y_row)
                copy_element(to + column * sizes::bytes, from, exists && column < columns);
        }
    } else {
        constexpr int k_step = sizes::threads / sizes::extent;
        static_assert(k_step % sizes::width == 0, "a thread's slots lie evenly");
        const int column = threadIdx.x % sizes::extent;
        int k = int(threadIdx.x) / sizes::extent - before;
        const typename sizes::real *from = y + k * arguments.y_k + column * arguments.y_row;
        unsigned to = buffer + slots::of(k) + column * sizes::bytes;
#pragma unroll 2
        for (; k < count; k += k_step, from += k_step * arguments.y_k, to += slots::step(k_step))
            copy_element(to, from, k >= begin && k < end && column < columns);
    }
}

} // namespace skinny
