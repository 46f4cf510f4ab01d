/* Batches: products that differ in where their matrices lie, and in nothing else. A batch is a tb_product; one of its products
 * is a member. A call of ?gemm_batch is one batch for each of its groups.
 *
 * An operand's matrices lie anywhere (starts), or equally far apart (stride): also at 0, where all products read the same.
 * Those of C do not overlap; that is the caller's to see to. What is asked of products that are batches is in words/members.h.
 */
#ifndef TB_BATCH_H
#define TB_BATCH_H

#include "words/matrix.h"
#include "words/role.h"

#include <stdbool.h>

/* Where the matrices of an operand lie, of which the operand itself is the first. */
typedef struct tb_members {
    int64_t stride;      /* from one to the next, in elements */
    void *const *starts; /* where each of them begins; NULL where the stride says so */
    bool uneven; /* they are not equally far apart: the stride is a power of two that divides all distances */
} tb_members;

typedef struct tb_batch {
    int64_t count; /* of products; 0 and 1 are a single one, and what follows means nothing */
    tb_members members[TB_ROLES];
} tb_batch;

/* How many products there are. */
static inline int64_t tb_count_of(const tb_batch *batch)
{
    return batch->count > 1 ? batch->count : 1;
}

/* Where a matrix of the batch begins. */
static inline void *tb_start_of(const tb_members *members, const tb_matrix *first, int64_t number)
{
    return members->starts
               ? members->starts[number]
               : (char *)first->data + number * members->stride * (int64_t)tb_bytes_of(first->element);
}

#endif
