/* The options of bench/lapack: lapack.c explains them. */
#ifndef BENCH_LAPACK_OPTIONS_H
#define BENCH_LAPACK_OPTIONS_H

#include <stdbool.h>

enum { LAPACK_SIZES_MOST = 64 };

typedef struct lapack_options {
    bool on_host, upper;
    double seconds;       /* on each routine, size and side */
    const char *routines; /* with commas between them; NULL: all */
    int sizes[LAPACK_SIZES_MOST], size_count;
    int rows;         /* of each matrix, none of whose sizes is larger; 0: as many as columns */
    int right_sides;  /* 0: as many as columns */
    const char *json; /* NULL: no file */
} lapack_options;

/* Ends the program where they are none. */
lapack_options lapack_read_options(int argc, char **argv);

#endif
