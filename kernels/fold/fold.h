/* What the kernels that fold (words/folded.h) are given. Shared by C and CUDA. */
#ifndef TB_FOLD_H
#define TB_FOLD_H

#include <stdbool.h>
#include <stdint.h>

#define TB_FOLD_TILE    32 /* rows and columns of a tile, which is a block's */
#define TB_FOLD_THREADS 256

typedef struct tb_fold {
    const void *sums;
    void *c;
    int64_t n;
    int64_t ld_sums, ldc; /* in elements */
    double beta_re, beta_im;
    bool upper;     /* the triangle of C */
    bool c_whole;   /* elements of C are aligned to their size, not only to their parts' */
    bool hermitian; /* the transpose is conjugated, and the diagonal real */
} tb_fold;

#endif
