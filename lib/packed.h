/* Floats on their way to a device in seven eighths of their bytes, without loss. The exponents of 64 floats that lie together
 * rarely differ by more than 14: each is told by how far it is below the highest, in four bits. A block of 64 of which that
 * is not so travels as it is.
 *
 * Columns of so many rows are filled up with zeros to whole blocks. Of each column, one after the other,
 *
 *   low     64 x blocks   lower halves of the floats, 16 bits
 *   high    64 x blocks   sign and upper 7 bits of the fraction, 8 bits
 *   steps   32 x blocks   of the block's floats i and 32 + i in the lower and upper half of a byte: the highest exponent less
 *                         this one, or 15 for zero
 *
 * and behind all columns a head of 16 bits for each block, its highest exponent or TB_PACKED_WHOLE and an index; and then the
 * blocks that travel as they are. Shared by the host, device code and the simulated device.
 */
#ifndef TB_PACKED_H
#define TB_PACKED_H

#include <stdint.h>

#define TB_PACKED_FLOATS 64  /* a block */
#define TB_PACKED_BYTES  224 /* of one, beside its head */
#define TB_PACKED_WHOLE  0x8000u
#define TB_PACKED_ZERO   15u

#ifdef __CUDACC__
#define TB_PACKED_INLINE __host__ __device__ inline
#else
#define TB_PACKED_INLINE static inline
#endif

/* Columns in device memory, and where they are to be unpacked. */
typedef struct tb_packed {
    const unsigned char *memory;
    float *target;
    int64_t rows, columns, target_ld;
} tb_packed;

TB_PACKED_INLINE int64_t tb_packed_blocks(int64_t rows)
{
    return (rows + TB_PACKED_FLOATS - 1) / TB_PACKED_FLOATS;
}

/* Where the heads begin; and, on a multiple of a block's bytes, the blocks that travel as they are. */
TB_PACKED_INLINE int64_t tb_packed_heads(int64_t rows, int64_t columns)
{
    return columns * tb_packed_blocks(rows) * TB_PACKED_BYTES;
}

TB_PACKED_INLINE int64_t tb_packed_wholes(int64_t rows, int64_t columns)
{
    const int64_t end = columns * tb_packed_blocks(rows) * (TB_PACKED_BYTES + (int64_t)sizeof(uint16_t));
    const int64_t whole = TB_PACKED_FLOATS * (int64_t)sizeof(float);
    return (end + whole - 1) / whole * whole;
}

#endif
