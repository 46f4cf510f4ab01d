/* The record of what the library computes: a line for each of some hundred products, with the plan and a hash of every byte of
 * C. Two builds that give the same record compute the same, bit for bit (scripts/record.sh).
 *
 * The program knows a library by its file and its public names alone, so that it also runs builds that it was not made with.
 */
#ifndef TB_RECORD_H
#define TB_RECORD_H

#include <stdbool.h>
#include <stddef.h>

/* A call of the library, with the options that programs may set from one call to the next. */
typedef struct record_case {
    const char *route, *kernel; /* NULL: auto */
    const char *precision;      /* for tileblas_set_precision; NULL: that of the option */
    char spelling; /* 'f': sgemm_ or dgemm_; 'c': that of CBLAS, column-major; 'r': the same, row-major */
    const char *transposes; /* "NT": A as it is, B transposed */
    int m, n, k;
    int pad;  /* elements by which leading dimensions pass what they have to be */
    int skew; /* elements by which operands begin behind an aligned address */
    double alpha, beta;
    const char *places; /* of A, B and C: a letter each, as in place.h */
    int calls;          /* of the same operands; before the fourth A gets other elements */
} record_case;

/* Runs the case and prints a line for each of its calls. */
void record_run(const record_case *now);

/* Cases that share a process, as some options are read once for each. */
typedef struct record_group {
    const char *name;
    const char *elements; /* 's', 'd': with either the group is run by itself */
    const char
        *environment[4]; /* "NAME=value", without TILEBLAS_; on a real device others, where there are any */
    const char *environment_gpu[4];
    void (*run)(bool simulated);
} record_group;

/* The functions of the library, a handle of dlopen, are found, or the program ends; lines begin with the
 * name. */
void record_begin(const char *name, bool of_doubles, void *library);

/* What matrices are made of, not floats: as the program has begun. */
extern bool record_of_doubles;

extern const record_group record_groups[];
extern const size_t record_group_count;

#endif
