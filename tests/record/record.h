/* The record of what the library computes: a line for each of some thousand calls of every routine, with the plan and a hash of
 * every byte of C. Two builds that give the same record compute the same, bit for bit (scripts/record.sh).
 *
 * The program knows a library by its file and its public names alone, so that it also runs builds that it was not made with. The
 * catalog's rows and the routines are those of its own build: one of which there is no line is an error.
 */
#ifndef TB_RECORD_H
#define TB_RECORD_H

#include "words/routine.h"

#include <stdbool.h>
#include <stddef.h>

/* A call of the library, with the options that programs may set from one call to the next. */
typedef struct record_case {
    const char *route, *kernel; /* NULL: auto */
    const char *precision;      /* for tileblas_set_precision; NULL: that of the option */
    tb_routine routine;
    char spelling;          /* 'f': sgemm_; 'c': that of CBLAS, column-major; 'r': the same, row-major */
    const char *transposes; /* "NT": A as it is, B transposed; of routines that have one, the first */
    char side, triangle, diagonal; /* Fortran's letters; 0: L, L and N */
    int m, n,
        k; /* n and k are C's extent and the depth of routines that have no m; k is of no routine that has none */
    int pad;  /* elements by which leading dimensions pass what they have to be */
    int skew; /* elements by which operands begin behind an aligned address */
    double alpha, beta;
    double alpha_im, beta_im; /* of complex routines, where they take one */
    const char *places;       /* of A, B and C: a letter each, as in place.h */
    int calls;                /* of the same operands; before the fourth A gets other elements */
} record_case;

/* Runs the case and prints a line for each of its calls. */
/* The option of that name for all cases, which are then those in ordinary memory alone; NULL: nobody has asked for it. */
const char *record_server(void);

void record_run(const record_case *now);

/* Whether a call went to the device with this row of the catalog since the program began, or one of this routine did. */
bool record_has_row(size_t row);
bool record_has_routine(tb_routine routine);

/* Cases that share a process, as some options are read once for each. */
typedef struct record_group {
    const char *name;
    const char *elements; /* 's', 'd': with either the group is run by itself; '*': it has all of them */
    const char
        *environment[4]; /* "NAME=value", without TILEBLAS_; on a real device others, where there are any */
    const char *environment_gpu[4];
    void (*run)(bool simulated);
} record_group;

/* The functions of the library, a handle of dlopen, are found, or the program ends; lines begin with the
 * name. */
void record_begin(const char *name, tb_element element, void *library);

/* What matrices of the group are made of that have no routine of their own. */
extern tb_element record_element;

extern const record_group record_groups[];
extern const size_t record_group_count;

/* These run record_groups (routines.c): every routine in all its letters, and every row of the catalog with every routine of its
 * precision. They end the program where one is without a line. */
void record_routines(bool simulated);
void record_rows(bool simulated);

#endif
