/* What is multiplied while operations of the device fail (failing.h): one call of a routine, in memory of its own, whose
 * result is held against the oracle.
 */
#ifndef TB_SCENARIO_H
#define TB_SCENARIO_H

#include "tests/check.h"
#include "tests/conformance/arena.h"
#include "words/product.h"

typedef struct scenario {
    tb_element element;
    int m, n, k;
    bool transposed;           /* A and B; of complex numbers A is conjugated as well */
    tb_triangle triangle;      /* of C, by SYRK: B is A, and m is n; ... */
    bool hermitian, two_terms; /* ... or by HERK; or by SYR2K and HER2K, of two matrices */
    bool alike;                /* columns of B are as far apart as those of A */
    tb_structure structure;    /* of the left factor, by SYMM or HEMM, which is square: k is m */
    bool structured_right;     /* of the right one instead: k is n */
    tb_triangle stored;        /* of that factor */
    /* Whether it is TRMM or TRSM: that factor is triangular, the other one is C, and beta does not count. */
    tb_in_place in_place;
    bool unit_diagonal; /* of a triangular one */
    double beta;
    double alpha_im, beta_im;  /* of complex numbers */
    int threads;               /* in a crowd every other one multiplies doubles */
    bool drawn;                /* each call has routine, sizes, scalars and memory of its own instead ... */
    bool drawn_on_device;      /* ... which may be the device's */
    int calls;                 /* of each thread; 0: one */
    tb_memory memory;          /* of A, B and C */
    bool managed_c, device_c,  /* but C lies in managed memory, on the device, ... */
        host_c, pinned_c;      /* ... in the host's memory, or in pinned memory */
    const char *device_memory; /* the option; NULL: its default */
    const char *devices;       /* that share the product; NULL: one */
    bool exchanged;            /* they bring an operand for each other */
    bool measured;             /* when they come up */
    const char *kernel;        /* that is forced; NULL: none, or for operands on the device one that pads */
    const char *pinned_memory; /* the option; NULL: PINNED_MIB */
    long launches;             /* without failures; 0: any */
    bool fetched;              /* the host computes what is fetched from the device: nothing is launched */
    int foldings;              /* without failures; 0: any number, -1: none */
    long step;                 /* between operations that fail, where a call has many; 0: every one does */
} scenario;

/* Multiplies what the scenario says, or what is drawn for a call of that number. Whether C is right; else what is wrong. */
bool scenario_multiply(const scenario *of_all, uint64_t seed, uint64_t number, char *wrong, size_t size);

/* What a call of the crowd multiplies: a triangle, complex numbers, a factor of which one triangle is stored, or neither;
 * or in C's place. */
scenario scenario_draw(const scenario *of_all, check_random *random);

#endif
