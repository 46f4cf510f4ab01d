/* The options of bench/level3: level3.c explains them. */
#ifndef BENCH_LEVEL3_OPTIONS_H
#define BENCH_LEVEL3_OPTIONS_H

#include <stdbool.h>

enum { LEVEL3_SIZES_MOST = 64 };

typedef struct level3_options {
    bool on_host;
    bool itself;
    bool pairs;
    bool right, apart;
    int columns;          /* of C in GEMM, SYMM, HEMM, TRMM and TRSM; 0: as many as rows */
    int k;                /* of routines that have a k; 0: as much as C has rows */
    double seconds;       /* on each product and side */
    const char *routines; /* with commas between them; NULL: all */
    int sizes[LEVEL3_SIZES_MOST], size_count;
    const char *json; /* NULL: no file */
} level3_options;

/* Ends the program where they are none. */
level3_options level3_read_options(int argc, char **argv);

#endif
