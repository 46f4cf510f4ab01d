/* Solves by factors as a sequence (substitution.c). */
#ifndef TB_SUBSTITUTION_H
#define TB_SUBSTITUTION_H

#include "sequences/sequence.h"
#include "words/factor.h"

/* Of these columns of B, by A's factors, or a triangle. The last step says that they are finished. */
tb_status tb_walk_substitution(const tb_factor *factor, tb_range columns, tb_visitor *visitor);

#endif
