/* A library with LAPACKE's POTRF of 64-bit integers, and its solves, of one equation alone, and nothing else (fixture_lapacke.c). */
#ifndef TB_FIXTURE_LAPACKE_H
#define TB_FIXTURE_LAPACKE_H

#include <stdint.h>

/* What it answers where an argument is irregular, or there is more than one equation, and where these are by rows: nobody else does. */
enum { FIXTURE_IRREGULAR = -77, FIXTURE_BY_ROWS = -78 };

int64_t LAPACKE_dpotrf_64(int layout, char letter, int64_t n, double *a, int64_t lda);
int64_t LAPACKE_dpotrf_work_64(int layout, char letter, int64_t n, double *a, int64_t lda);

#endif
