/* Products whose every element is known beforehand, to be held against it at once, also by a thread that has just left
 * a call by a jump. All elements are integers that FP32 holds, so that each order of summation gives the same.
 *
 * Header only, for programs that are linked with one of the simulated libraries.
 */
#ifndef TB_KNOWN_PRODUCT_H
#define TB_KNOWN_PRODUCT_H

#include "tests/sim/device_sim.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* What C holds before a product, and what a test fills it with afterwards. */
#define KNOWN_BEFORE 3.0
#define KNOWN_FILLED (-77.0)

void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                 int);
void cblas_dgemm(int, int, int, int, int, int, double, const double *, int, const double *, int, double,
                 double *, int);
void cblas_ssymm(int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
void cblas_dsymm(int, int, int, int, int, double, const double *, int, const double *, int, double, double *,
                 int);
#define KNOWN_COMPLEX_GEMM(name)                                                                             \
    void name(int, int, int, int, int, int, const void *, const void *, int, const void *, int,              \
              const void *, void *, int);
#define KNOWN_COMPLEX_SYMM(name)                                                                             \
    void name(int, int, int, int, int, const void *, const void *, int, const void *, int, const void *,     \
              void *, int);
KNOWN_COMPLEX_GEMM(cblas_cgemm)
KNOWN_COMPLEX_GEMM(cblas_zgemm)
KNOWN_COMPLEX_SYMM(cblas_csymm)
KNOWN_COMPLEX_SYMM(cblas_zsymm)
KNOWN_COMPLEX_SYMM(cblas_chemm)
KNOWN_COMPLEX_SYMM(cblas_zhemm)

typedef enum known_class { KNOWN_GEMM, KNOWN_SYMM, KNOWN_HEMM } known_class;

typedef struct known_product {
    known_class class; /* of SYMM and HEMM the lower triangle of A is stored, and k is m */
    int m, n, k;
    double factor; /* of A's elements: another one gives other data in the same place */
    double beta;
    tb_memory memory; /* where all three lie */
    bool of_doubles;  /* not of floats */
    bool is_complex;  /* with real and imaginary parts of these */
    void *a, *b, *c;
} known_product;

static inline int known_parts(const known_product *p)
{
    return p->is_complex ? 2 : 1;
}

static inline size_t known_bytes(const known_product *p, int elements)
{
    return (size_t)(elements * known_parts(p)) * (p->of_doubles ? sizeof(double) : sizeof(float));
}

static inline void *known_host_block(size_t bytes)
{
    void *block = calloc(bytes, 1);
    if (!block)
        abort();
    return block;
}

/* NULL where a device, or pinned memory, has no room. */
static inline void *known_allocate(const known_product *p, int elements)
{
    const size_t bytes = known_bytes(p, elements);
    return p->memory == TB_MEMORY_HOST ? known_host_block(bytes) : sim_allocate(p->memory, 0, bytes);
}

static inline void known_release(tb_memory memory, void *block)
{
    if (memory == TB_MEMORY_HOST)
        free(block);
    else if (block)
        sim_release(block);
}

static inline double known_number(const known_product *p, const void *block, int index)
{
    return p->of_doubles ? ((const double *)block)[index] : (double)((const float *)block)[index];
}

static inline void known_set(const known_product *p, void *block, int index, double number)
{
    if (p->of_doubles)
        ((double *)block)[index] = number;
    else
        ((float *)block)[index] = (float)number;
}

/* An element that is a number times the imaginary unit to some power, as long as it has parts. */
static inline void known_set_turned(const known_product *p, void *block, int index, double number, int turns)
{
    if (!p->is_complex) {
        known_set(p, block, index, number);
        return;
    }
    const double signed_number = turns % 4 < 2 ? number : -number;
    known_set(p, block, 2 * index, turns % 2 == 0 ? signed_number : 0);
    known_set(p, block, 2 * index + 1, turns % 2 == 0 ? 0 : signed_number);
}

/* The host's view of C, wherever that lies. */
static inline void *known_fetch_c(const known_product *p)
{
    const size_t bytes = known_bytes(p, p->m * p->n);
    void *copy = known_host_block(bytes);
    sim_copy(copy, p->c, bytes);
    return copy;
}

/* Puts the host's view of so many elements in their place, and frees it. */
static inline void known_put(const known_product *p, void *place, void *view, int elements)
{
    sim_copy(place, view, known_bytes(p, elements));
    free(view);
}

/* The weight of A's column, or of a symmetric A's row as well. */
static inline int known_weight(const known_product *p, int l)
{
    return p->class == KNOWN_GEMM ? l % 3 + 1 : l % 7 + 1;
}

/* Element (i, l) of a complex A is turned by i and back by l, by both of a symmetric one, and what of B meets it the other way,
 * so that terms of a sum are all turned by i. What of A is not stored is nonsense. */
static inline void known_fill_a(const known_product *p)
{
    void *a = known_host_block(known_bytes(p, p->m * p->k));
    for (int l = 0; l < p->k; l++)
        for (int i = 0; i < p->m; i++) {
            const bool is_stored = p->class == KNOWN_GEMM || i >= l;
            known_set_turned(p, a, i + l * p->m,
                             is_stored ? p->factor * ((i % 7 + 1) * known_weight(p, l)) : KNOWN_FILLED,
                             i % 2 + (p->class == KNOWN_SYMM ? l % 2 : l % 2 * 3));
        }
    known_put(p, p->a, a, p->m * p->k);
}

static inline void known_fill_b(const known_product *p)
{
    void *b = known_host_block(known_bytes(p, p->k * p->n));
    for (int j = 0; j < p->n; j++)
        for (int l = 0; l < p->k; l++)
            known_set_turned(p, b, l + j * p->k, (j % 5 + 1) * (l % 2 + 1),
                             p->class == KNOWN_SYMM ? l % 2 * 3 : l % 2);
    known_put(p, p->b, b, p->k * p->n);
}

static inline void known_fill_c(const known_product *p, double value)
{
    void *c = known_host_block(known_bytes(p, p->m * p->n));
    for (int i = 0; i < known_parts(p) * p->m * p->n; i++)
        known_set(p, c, i, value);
    known_put(p, p->c, c, p->m * p->n);
}

static inline void known_free(known_product *p)
{
    known_release(p->memory, p->a);
    known_release(p->memory, p->b);
    known_release(p->memory, p->c);
}

/* False where there is no room for it. */
static inline bool known_has_place(known_product *p)
{
    p->a = known_allocate(p, p->m * p->k);
    p->b = known_allocate(p, p->k * p->n);
    p->c = known_allocate(p, p->m * p->n);
    if (!p->a || !p->b || !p->c) {
        known_free(p);
        return false;
    }
    known_fill_a(p);
    known_fill_b(p);
    known_fill_c(p, KNOWN_BEFORE);
    return true;
}

static inline void known_place(known_product *p)
{
    if (!known_has_place(p))
        abort();
}

/* Makes a product of floats, as most tests' are. */
static inline known_product known_make(int m, int n, int k, double beta, double factor, tb_memory memory)
{
    known_product p = {.m = m, .n = n, .k = k, .factor = factor, .beta = beta, .memory = memory};
    known_place(&p);
    return p;
}

static inline void known_multiply_complex(const known_product *p)
{
    const double one[] = {1, 0}, beta[] = {p->beta, 0};
    const float one_single[] = {1, 0}, beta_single[] = {(float)p->beta, 0};
    const void *alpha = p->of_doubles ? (const void *)one : one_single,
               *of_c = p->of_doubles ? (const void *)beta : beta_single;
    const int m = p->m, n = p->n, k = p->k;
    if (p->class == KNOWN_GEMM)
        (p->of_doubles ? cblas_zgemm : cblas_cgemm)(102, 111, 111, m, n, k, alpha, p->a, m, p->b, k, of_c,
                                                    p->c, m);
    else if (p->class == KNOWN_SYMM)
        (p->of_doubles ? cblas_zsymm : cblas_csymm)(102, 141, 122, m, n, alpha, p->a, m, p->b, k, of_c, p->c,
                                                    m);
    else
        (p->of_doubles ? cblas_zhemm : cblas_chemm)(102, 141, 122, m, n, alpha, p->a, m, p->b, k, of_c, p->c,
                                                    m);
}

/* One call site of each routine: the BLAS behind it is looked for once. */
static __attribute__((noinline)) void known_multiply(const known_product *p)
{
    const int m = p->m, n = p->n, k = p->k;
    if (p->is_complex)
        known_multiply_complex(p);
    else if (p->of_doubles && p->class == KNOWN_GEMM)
        cblas_dgemm(102, 111, 111, m, n, k, 1, p->a, m, p->b, k, p->beta, p->c, m);
    else if (p->class == KNOWN_GEMM)
        cblas_sgemm(102, 111, 111, m, n, k, 1, p->a, m, p->b, k, (float)p->beta, p->c, m);
    else if (p->of_doubles)
        cblas_dsymm(102, 141, 122, m, n, 1, p->a, m, p->b, k, p->beta, p->c, m);
    else
        cblas_ssymm(102, 141, 122, m, n, 1, p->a, m, p->b, k, (float)p->beta, p->c, m);
}

/* Numbers in C, parts of complex ones counted each, that are something else than the product says, C having held
 * KNOWN_BEFORE. */
static inline int known_errors(const known_product *p)
{
    void *c = known_fetch_c(p);
    const int parts = known_parts(p);
    double sum = 0;
    int errors = 0;
    for (int l = 0; l < p->k; l++)
        sum += known_weight(p, l) * (l % 2 + 1);
    for (int j = 0; j < p->n; j++)
        for (int i = 0; i < p->m; i++)
            for (int part = 0; part < parts; part++) {
                const bool is_turned_there = parts == 1 || part == i % 2;
                const double product = is_turned_there ? p->factor * ((i % 7 + 1) * (j % 5 + 1)) * sum : 0;
                errors +=
                    known_number(p, c, parts * (i + j * p->m) + part) != product + p->beta * KNOWN_BEFORE;
            }
    free(c);
    return errors;
}

/* Numbers in C that are something else than the value. */
static inline int known_differ(const known_product *p, double value)
{
    void *c = known_fetch_c(p);
    int others = 0;
    for (int i = 0; i < known_parts(p) * p->m * p->n; i++)
        others += known_number(p, c, i) != value;
    free(c);
    return others;
}

/* One product from beginning to end; elements that are wrong. */
static inline int known_multiply_once(int m, int n, int k, double beta, double factor, tb_memory memory)
{
    known_product p = known_make(m, n, k, beta, factor, memory);
    known_multiply(&p);
    const int errors = known_errors(&p);
    known_free(&p);
    return errors;
}

#endif
