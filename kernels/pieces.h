/* How the SIMT family and dgemm_mma deal steps of tiles to blocks. The steps of those tiles that are not whole lie in one line,
 * tile after tile, and a piece is a run of them, which one block has; or, where all tiles are cut into as many pieces, these have a
 * tile's steps in turn. Shared by C and CUDA.
 */
#ifndef TB_PIECES_H
#define TB_PIECES_H

#include "kernels/host_device.h"

#include <stdbool.h>
#include <stdint.h>

/* First of the dealt steps that a piece has. */
TB_HOST_DEVICE_INLINE int64_t tb_first_step_of_piece(int64_t piece, int64_t dealt, int64_t pieces)
{
    return piece * dealt / pieces;
}

/* The piece that has a step. */
TB_HOST_DEVICE_INLINE int64_t tb_piece_of_step(int64_t step, int64_t dealt, int64_t pieces)
{
    return ((step + 1) * pieces - 1) / dealt;
}

/* Where a piece leaves the sum of an incomplete tile in the workspace, in tiles: a piece has at most one of which it misses the
 * beginning, its first, and one of which it has the beginning, its last. */
TB_HOST_DEVICE_INLINE int64_t tb_workspace_slot(int64_t piece, int has_beginning)
{
    return 2 * piece + has_beginning;
}

/* Pieces of a tile that may have its steps in turn: where no tile is whole, and all are cut into as many. 1: there are none. */
TB_HOST_DEVICE_INLINE int32_t tb_alternating_pieces(int64_t tiles, int64_t whole, int64_t pieces)
{
    return whole == 0 && pieces % tiles == 0 ? (int32_t)(pieces / tiles) : 1;
}

/* Bytes from the panel of a step to that of the step after so many of k, in an operand that is contiguous along k or not. */
TB_HOST_DEVICE_INLINE int64_t tb_panel_jump(int64_t ld, bool along_k, int64_t k, int element_bytes)
{
    return k * (along_k ? 1 : ld) * element_bytes;
}

#endif
