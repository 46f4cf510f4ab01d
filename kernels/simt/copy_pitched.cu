/* copy_pitched: a column-major matrix that begins anywhere, its columns any distance apart, into memory where
 * every column is aligned.
 *
 *          columns                       warp   8 strips, down a column and on to the next: 1 KB on its way
 *        +----+----+----                 lane   one float of each
 *   rows | 32 | 32 |      strips
 *        | 32 | 32 |                     All loads come before the first store. 4 bytes a lane are enough: a
 *        | .. | .. |                     warp's load is 128 bytes in a row, 48 warps have 48 KB in flight,
 *                                        twice what the memory bandwidth of a multiprocessor takes, and its
 *                                        load and store every 14 clocks leave the schedulers idle.
 */
#include "kernels/simt/copy_pitched.h"

namespace
{

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int blocks = 4;
#else
constexpr int blocks = 6;
#endif

/* From strip to strip. */
struct walk {
    int64_t column, strip;

    __device__ explicit walk(const tb_copy_arguments &arguments)
    {
        const int64_t warp = (int64_t(blockIdx.x) * TB_COPY_THREADS + threadIdx.x) / 32;
        column = warp * TB_COPY_STRIPS / arguments.strips;
        strip = warp * TB_COPY_STRIPS % arguments.strips;
    }
    __device__ void advance(const tb_copy_arguments &arguments)
    {
        if (++strip == arguments.strips) {
            strip = 0;
            column++;
        }
    }
    __device__ int64_t row() const
    {
        return strip * 32 + threadIdx.x % 32;
    }
    __device__ bool exists(const tb_copy_arguments &arguments) const
    {
        return column < arguments.columns && row() < arguments.rows;
    }
};

} // namespace

extern "C" __global__ void __launch_bounds__(TB_COPY_THREADS, blocks)
    copy_pitched(const __grid_constant__ tb_copy_arguments arguments)
{
    const walk first(arguments);
    float value[TB_COPY_STRIPS];
    walk at = first;
#pragma unroll
    for (int i = 0; i < TB_COPY_STRIPS; i++, at.advance(arguments))
        if (at.exists(arguments))
            value[i] = __ldg(arguments.from + at.column * arguments.from_ld + at.row());
    at = first;
#pragma unroll
    for (int i = 0; i < TB_COPY_STRIPS; i++, at.advance(arguments))
        if (at.exists(arguments))
            arguments.to[at.column * arguments.to_ld + at.row()] = value[i];
}
