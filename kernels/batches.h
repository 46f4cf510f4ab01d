/* Where the matrices of a batch lie, as kernels are given it. Shared by C and CUDA. Tiles are numbered product after product, so
 * that a kernel finds from a tile's number which of them it belongs to.
 */
#ifndef TB_BATCHES_H
#define TB_BATCHES_H

#include "words/role.h"

#include <stddef.h>
#include <stdint.h>

typedef struct tb_batches {
    int64_t strides[TB_ROLES];     /* from one matrix to the next, in elements */
    void *const *tables[TB_ROLES]; /* in device memory: where each begins; NULL: at the stride */
} tb_batches;

#ifdef __CUDACC__
/* A matrix, where the first one is known. */
template <class real>
__device__ inline real *tb_matrix_of(const tb_batches &batches, tb_role role, real *first, int64_t number)
{
    if (batches.tables[role])
        return static_cast<real *>(batches.tables[role][number]);
    return first + number * batches.strides[role];
}
#endif

#endif
