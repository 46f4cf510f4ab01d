/* cuSOLVER's 64-bit interface, reached by name: nothing that is built here is linked to cuSOLVER. Needs bench_open_driver's device.
 */
#ifndef BENCH_CUSOLVER_H
#define BENCH_CUSOLVER_H

#include "words/element.h"

/* NULL, or why there is no cuSOLVER. All else here needs it. */
const char *bench_open_cusolver(void);

int bench_cusolver_version(void);

/* A square matrix on the device, of which a triangle is stored, without gaps. */
typedef struct bench_stored_triangle {
    tb_element element;
    bool upper;
    int64_t n;
    void *a;
} bench_stored_triangle;

/* Takes the workspace of such a factorization, in place of what was taken before. False: cuSOLVER refuses it. */
bool bench_prepare_potrf(const bench_stored_triangle *matrix);

/* Enqueues the factorization that was prepared last. False: cuSOLVER refuses it. */
bool bench_enqueue_potrf(const bench_stored_triangle *matrix);

/* LAPACK's info of what was enqueued last, once that is done. */
int bench_cusolver_info(void);

#endif
