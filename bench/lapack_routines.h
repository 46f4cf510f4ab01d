/* The routines that bench/lapack measures, a row each: how a matrix for it is made, how the sides are called, and how what comes of
 * it is checked. A routine's functions are in a file of its own, lapack_potrf.c for instance.
 */
#ifndef BENCH_LAPACK_ROUTINES_H
#define BENCH_LAPACK_ROUTINES_H

#include "bench/routine.h"

typedef struct lapack_routine lapack_routine;

/* What one routine, element and size is measured by: n x n matrices without gaps. */
typedef struct lapack_operands {
    const lapack_routine *routine;
    tb_element element;
    bool upper; /* of Hermitian matrices, the triangle that is stored */
    int n;
    size_t bytes;         /* of a matrix */
    void *made;           /* the matrix as it was made, in ordinary memory */
    void *made_on_device; /* the same, or NULL where all sides begin in ordinary memory */
    void *a;              /* what is overwritten, in the memory that is measured */
    void *on_device;      /* where that is a, or where a is copied to; NULL without a device */
} lapack_operands;

struct lapack_routine {
    const char *name; /* without the element's letter */

    double (*flop)(double n);           /* of real numbers */
    double (*elements_moved)(double n); /* that have to go each way of the link */

    /* From random numbers between -1 and 1. */
    void (*make)(const lapack_operands *operands, void *matrix);

    /* Overwrites a. Returns LAPACK's info. */
    int (*call_fortran)(bench_function *function, const lapack_operands *operands);

    /* cuSOLVER overwrites on_device: first what is done once, then the call, which is not waited for. False: it refuses. */
    bool (*prepare)(const lapack_operands *operands);
    bool (*enqueue)(const lapack_operands *operands);

    /* How far the result is from the matrix that was made, in n times the element's roundoff. */
    double (*residual)(const lapack_operands *operands, const void *result);
};

extern const lapack_routine lapack_routines[]; /* the last one has no name */

/* Its name with the element's letter. Returns name. */
const char *lapack_name(const lapack_routine *routine, tb_element element, char name[8]);

#endif
