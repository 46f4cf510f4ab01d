/* The routines that bench/lapack measures, a row each: how matrices for it are made, how the sides are called, and how what comes of
 * it is checked. A routine's functions are in a file of its own, lapack_potrf.c for instance. Some rows are two calls, one after
 * the other.
 */
#ifndef BENCH_LAPACK_ROUTINES_H
#define BENCH_LAPACK_ROUTINES_H

#include "bench/cusolver.h"
#include "bench/lapack_numbers.h"
#include "bench/routine.h"

enum { LAPACK_CALLS_MOST = 2, LAPACK_NAME_BYTES = 16 };

typedef struct lapack_routine lapack_routine;

/* A matrix without gaps that calls overwrite. */
typedef struct lapack_matrix {
    size_t bytes;         /* 0: the routine has no such matrix */
    void *made;           /* the matrix as it was made, in ordinary memory */
    void *made_on_device; /* the same, or NULL where all sides begin in ordinary memory */
    void *data;           /* what is overwritten, in the memory that is measured */
    void *on_device;      /* where that is data, or where data is copied to; NULL without a device */
} lapack_matrix;

/* What one routine, element and size is measured by. */
typedef struct lapack_operands {
    const lapack_routine *routine;
    tb_element element;
    bool upper;      /* of Hermitian matrices, the triangle that is stored */
    int m, n;        /* of a; m is n or more */
    int right_sides; /* the columns of b, which is n x right_sides; 0: there is no b */
    lapack_matrix a, b;

    /* Beside the matrices, in ordinary memory wherever these are: n numbers, of each routine's results those that it has. */
    int *pivots;
    void *tau;

    void *
        triangle; /* where QR's first call leaves R, in n x n elements, for the second one overwrites it; NULL: nowhere */
} lapack_operands;

static inline lapack_stored lapack_a_made(const lapack_operands *operands)
{
    return (lapack_stored){operands->element, (size_t)operands->m, (size_t)operands->n, operands->a.made};
}

static inline bench_device_matrix lapack_a_on_device(const lapack_operands *operands)
{
    return (bench_device_matrix){operands->element, operands->m, operands->n, operands->a.on_device};
}

/* How a library is called: by the row's functions, and with the workspace that it asked for. */
typedef struct lapack_fortran {
    bench_function *functions[LAPACK_CALLS_MOST];
    void *work;
    int work_count; /* elements */
} lapack_fortran;

struct lapack_routine {
    /* By Fortran's names without the element's letter, which make the row's name. "or" is "un" where numbers are complex. */
    const char *calls[LAPACK_CALLS_MOST];

    bool stores_triangle; /* of a, which is Hermitian */
    bool may_be_tall;     /* a may have more rows than columns */
    bool has_right_sides; /* there is a b */

    double (*flop)(const lapack_operands *operands);           /* of real numbers */
    double (*elements_moved)(const lapack_operands *operands); /* that have to go each way of the link */

    /* Of a's random numbers, with parts between -1 and 1. NULL: these are a. */
    void (*make)(const lapack_operands *operands, void *matrix);

    /* How many elements of workspace the functions ask for. NULL: they have none. */
    int (*count_work)(const lapack_fortran *fortran, const lapack_operands *operands);

    /* Overwrites what there is of a, b, pivots and tau. Returns LAPACK's info. */
    int (*call_fortran)(const lapack_fortran *fortran, const lapack_operands *operands);

    /* cuSOLVER overwrites what is on the device: first what is done once, then the call, which is not waited for. False: it
     * refuses. */
    bool (*prepare)(const lapack_operands *operands);
    bool (*enqueue)(const lapack_operands *operands);

    /* Brings pivots or tau from the device, where cuSOLVER leaves them. NULL: there are none, or nobody asks for them. */
    void (*collect)(const lapack_operands *operands);

    /* How far the result is from what was made, in the larger size times the element's roundoff. a and b are what was overwritten,
     * in ordinary memory. */
    double (*residual)(const lapack_operands *operands, const void *a, const void *b);
};

extern const lapack_routine lapack_routines[]; /* the last one has no calls */

/* The name of one of its calls with the element's letter. Returns name. */
const char *lapack_call_name(const lapack_routine *routine, int call, tb_element element,
                             char name[LAPACK_NAME_BYTES]);

/* The row's name: those of its calls, "dgetrf+getri" for instance. Returns name. */
const char *lapack_name(const lapack_routine *routine, tb_element element, char name[LAPACK_NAME_BYTES]);

#endif
