/* cuSOLVER's 64-bit interface, and orgqr, which that lacks, reached by name: nothing that is built here is linked to cuSOLVER. Needs bench_open_driver's device.
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

/* A matrix on the device, without gaps, with m >= n. */
typedef struct bench_device_matrix {
    tb_element element;
    int64_t m, n;
    void *data;
} bench_device_matrix;

/* What prepares takes the workspace of such a routine, in place of what was taken before. What enqueues is of the routine that
 * was prepared last. False: cuSOLVER refuses it. */
bool bench_prepare_potrf(const bench_stored_triangle *matrix);
bool bench_enqueue_potrf(const bench_stored_triangle *matrix);

/* Its pivots stay on the device, where getrs finds them, until they are fetched. */
bool bench_prepare_getrf(const bench_device_matrix *a);
bool bench_enqueue_getrf(const bench_device_matrix *a);
bool bench_enqueue_getrs(const bench_device_matrix *a, const bench_device_matrix *b);
void bench_fetch_pivots(int pivots[], int count);

/* The inverse in A's place: getrf, and getrs of the identity, which is copied within the device, as the result is. */
bool bench_prepare_inverse(const bench_device_matrix *a);
bool bench_enqueue_inverse(const bench_device_matrix *a);

/* Its tau stays on the device, where orgqr finds it, until it is fetched. */
bool bench_prepare_geqrf(const bench_device_matrix *a);
bool bench_enqueue_geqrf(const bench_device_matrix *a);
void bench_fetch_tau(tb_element element, void *tau, int count);

/* Of geqrf, too, which is enqueued before orgqr, or ungqr where numbers are complex. */
bool bench_prepare_orgqr(const bench_device_matrix *a);
bool bench_enqueue_orgqr(const bench_device_matrix *a);

/* LAPACK's info of what was enqueued since it was prepared, once that is done: the first one's that failed. */
int bench_cusolver_info(void);

#endif
