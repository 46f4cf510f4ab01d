/* The names that programs call SGEMM by, one row each (sgemm_names.def), and the two calling conventions that they have. */
#ifndef TB_SPELLINGS_H
#define TB_SPELLINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CBLAS with integers of either width: x86-64 (System V) and AArch64 (Linux) pass each of them in a whole
 * 64-bit register or stack slot, so a function declared with int64_t receives, and hands on, exactly the bits
 * that came. Only whoever looks at a value has to know how many of its bits count. */
#define TB_CBLAS_SGEMM_PARAMETERS                                                                            \
    int layout, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k, float alpha,              \
        const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc
#define TB_CBLAS_SGEMM_ARGUMENTS                                                                             \
    layout, transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc

/* Fortran's visible arguments; integers of either width are behind pointers. */
#define TB_FORTRAN_SGEMM_PARAMETERS                                                                          \
    const char *transpose_a, const char *transpose_b, const void *m, const void *n, const void *k,           \
        const float *alpha, const float *a, const void *lda, const float *b, const void *ldb,                \
        const float *beta, float *c, const void *ldc
#define TB_FORTRAN_SGEMM_ARGUMENTS transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc

typedef void tb_cblas_sgemm(TB_CBLAS_SGEMM_PARAMETERS);
/* A Fortran routine may expect the lengths of its two strings behind its arguments. */
typedef void tb_fortran_sgemm(TB_FORTRAN_SGEMM_PARAMETERS, size_t length_a, size_t length_b);

typedef enum tb_spelling {
#define TB_CBLAS_NAME(symbol, bits)   TB_SPELLING_##symbol,
#define TB_FORTRAN_NAME(symbol, bits) TB_SPELLING_##symbol,
#include "compat/sgemm_names.def"
#undef TB_CBLAS_NAME
#undef TB_FORTRAN_NAME
    TB_SPELLING_COUNT,
} tb_spelling;

typedef struct tb_spelling_row {
    const char *symbol;
    bool is_cblas;    /* its calling convention; else Fortran's */
    int integer_bits; /* 0: that of the host */
} tb_spelling_row;
extern const tb_spelling_row tb_spelling_rows[TB_SPELLING_COUNT];

#endif
