/* unpack: columns of floats out of the seven eighths of their bytes in which they crossed the link (lib/packed.h). Exact.
 *
 *       16 threads x 4 floats a packed block     block  256 threads: 16 packed blocks, which lie one behind the other,
 *      +----+----+-----+----+                           column after column
 *      | 4  | 4  | ... | 4  |                    warp   two of them: 256 bytes of lower halves at a time, 128 and 64 of
 *      +----+----+-----+----+                           the other parts, 512 of floats
 */
#include "kernels/packing.h"

namespace
{

constexpr int threads_a_block = TB_PACKED_FLOATS / 4;

/* A float of an exponent that is so many steps below the highest. */
__device__ float join(unsigned low, unsigned high, unsigned step, unsigned highest)
{
    const unsigned exponent = step < TB_PACKED_ZERO ? highest - step : 0;
    return __uint_as_float((high & 0x80) << 24 | exponent << 23 | (high & 0x7f) << 16 | low);
}

__device__ float4 read_packed(const unsigned char *column, int64_t blocks, int64_t block, int lane,
                              unsigned highest)
{
    const ushort4 low = reinterpret_cast<const ushort4 *>(column + 2 * TB_PACKED_FLOATS * block)[lane];
    column += 2 * TB_PACKED_FLOATS * blocks;
    const uchar4 high = reinterpret_cast<const uchar4 *>(column + TB_PACKED_FLOATS * block)[lane];
    column += TB_PACKED_FLOATS * blocks;
    const unsigned two = reinterpret_cast<const unsigned *>(column + TB_PACKED_FLOATS / 2 *
                                                                         block)[lane % (threads_a_block / 2)];
    const unsigned steps = lane < threads_a_block / 2 ? two : two >> 4;
    return make_float4(
        join(low.x, high.x, steps & 15, highest), join(low.y, high.y, steps >> 8 & 15, highest),
        join(low.z, high.z, steps >> 16 & 15, highest), join(low.w, high.w, steps >> 24 & 15, highest));
}

__device__ void write(float *target, const float4 &four, int64_t rows_left)
{
    if (rows_left >= 4 && reinterpret_cast<uintptr_t>(target) % sizeof(float4) == 0) {
        *reinterpret_cast<float4 *>(target) = four;
        return;
    }
    const float each[] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (i < rows_left)
            target[i] = each[i];
}

} // namespace

extern "C" __global__ void __launch_bounds__(TB_UNPACK_THREADS)
    unpack(const __grid_constant__ tb_packed packed)
{
    const int64_t blocks = tb_packed_blocks(packed.rows);
    const int64_t index = (int64_t(blockIdx.x) * TB_UNPACK_THREADS + threadIdx.x) / threads_a_block;
    if (index >= packed.columns * blocks)
        return;
    const int lane = threadIdx.x % threads_a_block;
    const int64_t column = index / blocks, block = index % blocks;
    const unsigned head = reinterpret_cast<const uint16_t *>(
        packed.memory + tb_packed_heads(packed.rows, packed.columns))[index];
    float4 four;
    if (head & TB_PACKED_WHOLE)
        four = reinterpret_cast<const float4 *>(
            packed.memory +
            tb_packed_wholes(packed.rows, packed.columns))[(head - TB_PACKED_WHOLE) * threads_a_block + lane];
    else
        four = read_packed(packed.memory + column * blocks * TB_PACKED_BYTES, blocks, block, lane, head);
    const int64_t row = block * TB_PACKED_FLOATS + lane * 4;
    write(packed.target + column * packed.target_ld + row, four, packed.rows - row);
}
