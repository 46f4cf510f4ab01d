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

typedef struct known_product {
    int m, n, k;
    double factor; /* of A's elements: another one gives other data in the same place */
    double beta;
    tb_memory memory; /* where all three lie */
    bool of_doubles;  /* not of floats */
    void *a, *b, *c;
} known_product;

static inline size_t known_bytes(const known_product *p, int elements)
{
    return (size_t)elements * (p->of_doubles ? sizeof(double) : sizeof(float));
}

static inline void *known_host_block(size_t bytes)
{
    void *block = calloc(bytes, 1);
    if (!block)
        abort();
    return block;
}

static inline void *known_allocate(const known_product *p, int elements)
{
    const size_t bytes = known_bytes(p, elements);
    if (p->memory == TB_MEMORY_HOST)
        return known_host_block(bytes);
    void *block = sim_allocate(p->memory, 0, bytes);
    if (!block)
        abort();
    return block;
}

static inline void known_release(tb_memory memory, void *block)
{
    if (memory == TB_MEMORY_HOST)
        free(block);
    else
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

static inline void known_fill_a(const known_product *p)
{
    void *a = known_host_block(known_bytes(p, p->m * p->k));
    for (int l = 0; l < p->k; l++)
        for (int i = 0; i < p->m; i++)
            known_set(p, a, i + l * p->m, p->factor * ((i % 7 + 1) * (l % 3 + 1)));
    known_put(p, p->a, a, p->m * p->k);
}

static inline void known_fill_b(const known_product *p)
{
    void *b = known_host_block(known_bytes(p, p->k * p->n));
    for (int j = 0; j < p->n; j++)
        for (int l = 0; l < p->k; l++)
            known_set(p, b, l + j * p->k, (j % 5 + 1) * (l % 2 + 1));
    known_put(p, p->b, b, p->k * p->n);
}

static inline void known_fill_c(const known_product *p, double value)
{
    void *c = known_host_block(known_bytes(p, p->m * p->n));
    for (int i = 0; i < p->m * p->n; i++)
        known_set(p, c, i, value);
    known_put(p, p->c, c, p->m * p->n);
}

static inline known_product known_make_of(bool of_doubles, int m, int n, int k, double beta, double factor,
                                          tb_memory memory)
{
    known_product p = {
        .m = m, .n = n, .k = k, .factor = factor, .beta = beta, .memory = memory, .of_doubles = of_doubles};
    p.a = known_allocate(&p, m * k);
    p.b = known_allocate(&p, k * n);
    p.c = known_allocate(&p, m * n);
    known_fill_a(&p);
    known_fill_b(&p);
    known_fill_c(&p, KNOWN_BEFORE);
    return p;
}

/* Of floats, as most tests' are. */
static inline known_product known_make(int m, int n, int k, double beta, double factor, tb_memory memory)
{
    return known_make_of(false, m, n, k, beta, factor, memory);
}

static inline void known_free(known_product *p)
{
    known_release(p->memory, p->a);
    known_release(p->memory, p->b);
    known_release(p->memory, p->c);
}

/* One call site of either element: the BLAS behind it is looked for once. */
static __attribute__((noinline)) void known_multiply(const known_product *p)
{
    if (p->of_doubles)
        cblas_dgemm(102, 111, 111, p->m, p->n, p->k, 1, p->a, p->m, p->b, p->k, p->beta, p->c, p->m);
    else
        cblas_sgemm(102, 111, 111, p->m, p->n, p->k, 1, p->a, p->m, p->b, p->k, (float)p->beta, p->c, p->m);
}

/* Elements of C that are something else than the product says, C having held KNOWN_BEFORE. */
static inline int known_errors(const known_product *p)
{
    void *c = known_fetch_c(p);
    double sum = 0;
    int errors = 0;
    for (int l = 0; l < p->k; l++)
        sum += (l % 3 + 1) * (l % 2 + 1);
    for (int j = 0; j < p->n; j++)
        for (int i = 0; i < p->m; i++)
            errors += known_number(p, c, i + j * p->m) !=
                      p->factor * ((i % 7 + 1) * (j % 5 + 1)) * sum + p->beta * KNOWN_BEFORE;
    free(c);
    return errors;
}

/* Elements of C that are something else than the value. */
static inline int known_differ(const known_product *p, double value)
{
    void *c = known_fetch_c(p);
    int others = 0;
    for (int i = 0; i < p->m * p->n; i++)
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
