/* The sides of bench/lapack. All of them overwrite the same matrices, which are made anew before each call. */
#ifndef BENCH_LAPACK_SIDES_H
#define BENCH_LAPACK_SIDES_H

#include "bench/lapack_options.h"
#include "bench/lapack_operands.h"

enum { LAPACK_OURS, LAPACK_REFERENCE, LAPACK_COPIES, LAPACK_SIDES_MOST };

typedef struct lapack_side {
    const char *name;
    const char *key;     /* its name in JSON */
    const char *missing; /* why it takes no part in anything; NULL: it does */
    void *library;       /* that has the routines by Fortran's names; NULL: cuSOLVER */
    bool is_complete;    /* the library has all functions of the routine that was looked for last */
    lapack_fortran
        fortran; /* these functions; the workspace is that of the operands that were prepared last */
} lapack_side;

typedef struct lapack_sides {
    bool on_host, has_device;
    double link;  /* bytes a second each way; NaN without a device, or where nothing crosses the link */
    int cusolver; /* its version; 0: it is not there */
    lapack_side list[LAPACK_SIDES_MOST];
    int count;
} lapack_sides;

/* In device memory cuSOLVER is the reference. In host memory OpenBLAS is, and cuSOLVER with copies takes part. Prints what
 * is missing, and ends the program where no side is there. */
lapack_sides lapack_open_sides(const lapack_options *options);

/* Looks for the routine. */
void lapack_find_routine(lapack_sides *sides, const lapack_routine *routine, tb_element element);

/* Which sides have the routine that was looked for last, and can compute it for these operands, which is prepared. Returns
 * how many. */
int lapack_choose_sides(lapack_sides *sides, const lapack_operands *operands, int chosen[LAPACK_SIDES_MOST]);

/* Seconds from the call until the result is there; NaN where it is none. */
double lapack_time_call(const lapack_sides *sides, int side, const lapack_operands *operands);

#endif
