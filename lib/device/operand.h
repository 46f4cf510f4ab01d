/* Operands as matrices in memory: how they are stored, and how they are copied to and from devices. */
#ifndef TB_OPERAND_H
#define TB_OPERAND_H

#include "lib/device/device.h"
#include "lib/device/memory.h"
#include "words/problem.h"

#include <stdbool.h>

/* A column-major matrix as stored. */
typedef struct tb_matrix {
    const float *data;
    int64_t rows, columns, ld;
} tb_matrix;

static inline tb_matrix tb_matrix_a(const tb_problem *problem)
{
    return problem->transpose_a ? (tb_matrix){problem->a, problem->k, problem->m, problem->lda}
                                : (tb_matrix){problem->a, problem->m, problem->k, problem->lda};
}

static inline tb_matrix tb_matrix_b(const tb_problem *problem)
{
    return problem->transpose_b ? (tb_matrix){problem->b, problem->n, problem->k, problem->ldb}
                                : (tb_matrix){problem->b, problem->k, problem->n, problem->ldb};
}

static inline tb_matrix tb_matrix_c(const tb_problem *problem)
{
    return (tb_matrix){problem->c, problem->m, problem->n, problem->ldc};
}

/* Whether kernels can use memory of this place as it is, at full speed. */
static inline bool tb_is_on_device(const tb_place *place)
{
    return place->memory == TB_MEMORY_DEVICE || place->memory == TB_MEMORY_MANAGED;
}

/* Every copy of operands goes through here, so that bytes moved over the link are counted. */
tb_status tb_issue_copy(tb_stream *stream, const tb_copy *copy);

/* Enqueues a copy of the matrix to target, whose columns lie target_ld floats apart. */
tb_status tb_copy_matrix(tb_stream *stream, tb_direction direction, const tb_matrix *matrix, void *target,
                         int64_t target_ld);

/* Takes a pitched buffer on the device for the matrix, enqueues the copy into it, and lets *matrix describe
 * the copy. */
tb_status tb_bring_matrix(tb_stream *stream, tb_direction direction, int device, tb_matrix *matrix,
                          tb_buffer *buffer);

#endif
