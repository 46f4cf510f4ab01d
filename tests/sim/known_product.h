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
#define KNOWN_BEFORE 3.0f
#define KNOWN_FILLED (-77.0f)

void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                 int);

typedef struct known_product {
    int m, n, k;
    float factor; /* of A's elements: another one gives other data in the same place */
    float beta;
    tb_memory memory; /* where all three lie */
    float *a, *b, *c;
} known_product;

static inline float *known_floats(int floats)
{
    float *block = calloc((size_t)floats, sizeof(float));
    if (!block)
        abort();
    return block;
}

static inline float *known_allocate(tb_memory memory, int floats)
{
    const size_t bytes = (size_t)floats * sizeof(float);
    if (memory == TB_MEMORY_HOST)
        return known_floats(floats);
    float *block = sim_allocate(memory, 0, bytes);
    if (!block)
        abort();
    return block;
}

static inline void known_release(tb_memory memory, float *block)
{
    if (memory == TB_MEMORY_HOST)
        free(block);
    else
        sim_release(block);
}

/* The host's view of what lies anywhere. */
static inline float *known_fetch(const float *block, int floats)
{
    float *copy = known_floats(floats);
    sim_copy(copy, block, (size_t)floats * sizeof(float));
    return copy;
}

static inline void known_fill_a(const known_product *p)
{
    float *a = known_floats(p->m * p->k);
    for (int l = 0; l < p->k; l++)
        for (int i = 0; i < p->m; i++)
            a[i + l * p->m] = p->factor * (float)((i % 7 + 1) * (l % 3 + 1));
    sim_copy(p->a, a, (size_t)(p->m * p->k) * sizeof(float));
    free(a);
}

static inline void known_fill_b(const known_product *p)
{
    float *b = known_floats(p->k * p->n);
    for (int j = 0; j < p->n; j++)
        for (int l = 0; l < p->k; l++)
            b[l + j * p->k] = (float)((j % 5 + 1) * (l % 2 + 1));
    sim_copy(p->b, b, (size_t)(p->k * p->n) * sizeof(float));
    free(b);
}

static inline void known_fill_c(const known_product *p, float value)
{
    float *c = known_floats(p->m * p->n);
    for (int i = 0; i < p->m * p->n; i++)
        c[i] = value;
    sim_copy(p->c, c, (size_t)(p->m * p->n) * sizeof(float));
    free(c);
}

static inline known_product known_make(int m, int n, int k, float beta, float factor, tb_memory memory)
{
    known_product p = {.m = m, .n = n, .k = k, .factor = factor, .beta = beta, .memory = memory};
    p.a = known_allocate(memory, m * k);
    p.b = known_allocate(memory, k * n);
    p.c = known_allocate(memory, m * n);
    known_fill_a(&p);
    known_fill_b(&p);
    known_fill_c(&p, KNOWN_BEFORE);
    return p;
}

static inline void known_free(known_product *p)
{
    known_release(p->memory, p->a);
    known_release(p->memory, p->b);
    known_release(p->memory, p->c);
}

/* One call site: the BLAS behind it is looked for once. */
static __attribute__((noinline)) void known_multiply(const known_product *p)
{
    cblas_sgemm(102, 111, 111, p->m, p->n, p->k, 1, p->a, p->m, p->b, p->k, p->beta, p->c, p->m);
}

/* Elements of C that are something else than the product says, C having held KNOWN_BEFORE. */
static inline int known_errors(const known_product *p)
{
    float *c = known_fetch(p->c, p->m * p->n), sum = 0;
    int errors = 0;
    for (int l = 0; l < p->k; l++)
        sum += (float)((l % 3 + 1) * (l % 2 + 1));
    for (int j = 0; j < p->n; j++)
        for (int i = 0; i < p->m; i++)
            errors += c[i + j * p->m] !=
                      p->factor * (float)((i % 7 + 1) * (j % 5 + 1)) * sum + p->beta * KNOWN_BEFORE;
    free(c);
    return errors;
}

/* Elements of C that are something else than the value. */
static inline int known_differ(const known_product *p, float value)
{
    float *c = known_fetch(p->c, p->m * p->n);
    int others = 0;
    for (int i = 0; i < p->m * p->n; i++)
        others += c[i] != value;
    free(c);
    return others;
}

/* One product from beginning to end; elements that are wrong. */
static inline int known_multiply_once(int m, int n, int k, float beta, float factor, tb_memory memory)
{
    known_product p = known_make(m, n, k, beta, factor, memory);
    known_multiply(&p);
    const int errors = known_errors(&p);
    known_free(&p);
    return errors;
}

#endif
