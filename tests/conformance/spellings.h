/* Every name under which programs call SGEMM, as they call it. */
#ifndef TB_SPELLINGS_H
#define TB_SPELLINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct spelling {
    const char *name;
    bool fortran;
    int bits; /* of an integer argument */
} spelling;

extern const spelling spellings[];
extern const size_t spelling_count;

/* Transposes are CBLAS's numbers or Fortran's letters, as the spelling has them; row_major is CBLAS's. */
typedef struct sgemm_arguments {
    bool row_major;
    int transpose_a, transpose_b;
    int64_t m, n, k, lda, ldb, ldc;
    float alpha, beta;
    const float *a, *b;
    float *c;
} sgemm_arguments;

/* Calls the name that the dynamic linker finds; false when it finds none. */
bool call_sgemm(const spelling *spelling, const sgemm_arguments *arguments);

#endif
