/* What replaces a matrix as a whole, as a sequence (inversion.c). */
#ifndef TB_INVERSION_H
#define TB_INVERSION_H

#include "sequences/sequence.h"
#include "words/factor.h"

/* The order of the tile by which a matrix becomes I. */
#define TB_TILE_ORDER 128

/* A square matrix becomes I, by a tile that is one. */
tb_status tb_walk_identity(const tb_matrix *matrix, const tb_matrix *tile, tb_visitor *visitor);

/* b is I, of the size of A. What replaces A lies, in the end, in b, or in A itself: in what is stored of it. Steps say which of its columns
 * are finished, in order. */
tb_status tb_walk_replacement(const tb_factor *factor, tb_visitor *visitor);
bool tb_replacement_is_in_b(const tb_factor *factor);

#endif
