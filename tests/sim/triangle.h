/* One call of a routine that computes a triangle of C, SYRK or GEMMT, of either element, layout and triangle, its operands
 * wherever they may lie, and what it has to leave in C. All elements are integers of which sums are exact, so that each order
 * of summation gives the same.
 *
 * Header only, for the one file of a program that holds main.
 */
#ifndef TB_TRIANGLE_H
#define TB_TRIANGLE_H

#include "include/tileblas.h"
#include "tests/check.h"
#include "tests/sim/device_sim.h"

#include <math.h>
#include <string.h>

void cblas_ssyrk(int, int, int, int, int, float, const float *, int, float, float *, int);
void cblas_dsyrk(int, int, int, int, int, double, const double *, int, double, double *, int);
void cblas_sgemmt(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                  int);
void cblas_dgemmt(int, int, int, int, int, int, double, const double *, int, const double *, int, double,
                  double *, int);

/* Where B lies: SYRK has none; otherwise memory of its own, A's, or a part of A's. */
typedef enum second { NO_B, OWN_B, A_ITSELF, INSIDE_A } second;

typedef struct call {
    bool doubles, row_major, lower, transpose_a, transpose_b;
    second second;
    int n, k, lda, ldb, ldc, b_offset, c_offset;
    double alpha, beta;
    bool apart; /* B is a copy of its own of what it is in A's memory */
    tb_memory memory_a, memory_b, memory_c;
    size_t elements_a, elements_c;
    void *a, *b, *c;                    /* where they are allocated */
    double *known_a, *known_b, *before; /* the same numbers */
    atomic_int stop;                    /* whoever writes beside the triangle */
    atomic_long lost;                   /* elements there that have been written by somebody else */
    long rounds;                        /* that they were written */
} call;

static inline size_t element_bytes(const call *x)
{
    return x->doubles ? sizeof(double) : sizeof(float);
}

static inline double get(const call *x, const void *block, size_t i)
{
    return x->doubles ? ((const double *)block)[i] : (double)((const float *)block)[i];
}

static inline void set(const call *x, void *block, size_t i, double number)
{
    if (x->doubles)
        ((double *)block)[i] = number;
    else
        ((float *)block)[i] = (float)number;
}

/* Allocates ordinary memory where the device is lost. */
static inline void *allocate(tb_memory *memory, size_t bytes)
{
    void *block = *memory == TB_MEMORY_HOST ? NULL : sim_allocate(*memory, 0, bytes);
    if (!block) {
        *memory = TB_MEMORY_HOST;
        block = malloc(bytes);
    }
    if (!block)
        abort();
    return block;
}

static inline void release(tb_memory memory, void *block)
{
    if (memory == TB_MEMORY_HOST)
        free(block);
    else
        sim_release(block);
}

static inline void put(const call *x, void *place, const double *numbers, size_t count)
{
    void *view = malloc(count * element_bytes(x));
    for (size_t i = 0; i < count; i++)
        set(x, view, i, numbers[i]);
    sim_copy(place, view, count * element_bytes(x));
    free(view);
}

static inline double *numbers(size_t count, check_random *random)
{
    double *drawn = malloc(count * sizeof *drawn);
    for (size_t i = 0; i < count; i++)
        drawn[i] = (double)check_between(random, -3, 3);
    return drawn;
}

/* Allocates what the call is about, and fills it. Leading dimensions and offsets are given. */
static inline void place_call(call *x, check_random *random)
{
    const int most = x->n > x->k ? x->n : x->k;
    x->elements_a = (size_t)(x->lda > x->ldb ? x->lda : x->ldb) * (size_t)(most + 1) + 64;
    x->elements_c = (size_t)x->ldc * (size_t)x->n + 4;
    x->known_a = numbers(x->elements_a, random);
    x->known_b = x->second == OWN_B ? numbers(x->elements_a, random) : x->known_a;
    x->before = numbers(x->elements_c, random);
    x->a = allocate(&x->memory_a, x->elements_a * element_bytes(x));
    x->b = allocate(&x->memory_b, x->elements_a * element_bytes(x));
    x->c = allocate(&x->memory_c, x->elements_c * element_bytes(x));
    put(x, x->a, x->known_a, x->elements_a);
    put(x, x->b, x->known_b, x->elements_a);
}

/* Some elements of A change, or all, between two calls. */
static inline void change_a(call *x, check_random *random)
{
    const size_t count = check_between(random, 0, 1) ? 1 : x->elements_a;
    for (size_t i = 0; i < count; i++)
        x->known_a[count == 1 ? (size_t)check_between(random, 0, (int64_t)x->elements_a - 1) : i] =
            (double)check_between(random, -3, 3);
    put(x, x->a, x->known_a, x->elements_a);
    if (x->second != OWN_B)
        put(x, x->b, x->known_b, x->elements_a);
}

static inline void free_call(call *x)
{
    release(x->memory_a, x->a);
    release(x->memory_c, x->c);
    release(x->memory_b, x->b);
    if (x->second == OWN_B)
        free(x->known_b);
    free(x->known_a);
    free(x->before);
}

static inline void *at(const call *x, void *block, int offset)
{
    return (char *)block + (size_t)offset * element_bytes(x);
}

static inline void multiply(const call *x)
{
    const int layout = x->row_major ? 101 : 102, triangle = x->lower ? 122 : 121,
              a = x->transpose_a ? 112 : 111, b = x->transpose_b ? 112 : 111;
    void *c = at(x, x->c, x->c_offset),
         *of_b = at(x, x->second == OWN_B || x->apart ? x->b : x->a, x->b_offset);
    if (x->second == NO_B && x->doubles)
        cblas_dsyrk(layout, triangle, a, x->n, x->k, x->alpha, x->a, x->lda, x->beta, c, x->ldc);
    else if (x->second == NO_B)
        cblas_ssyrk(layout, triangle, a, x->n, x->k, (float)x->alpha, x->a, x->lda, (float)x->beta, c,
                    x->ldc);
    else if (x->doubles)
        cblas_dgemmt(layout, triangle, a, b, x->n, x->k, x->alpha, x->a, x->lda, of_b, x->ldb, x->beta, c,
                     x->ldc);
    else
        cblas_sgemmt(layout, triangle, a, b, x->n, x->k, (float)x->alpha, x->a, x->lda, of_b, x->ldb,
                     (float)x->beta, c, x->ldc);
}

/* ---- What is known of it ---------------------------------------------------------------------------------- */

static inline size_t place_in_c(const call *x, int i, int j)
{
    return (size_t)x->c_offset +
           (x->row_major ? (size_t)i * (size_t)x->ldc + (size_t)j : (size_t)j * (size_t)x->ldc + (size_t)i);
}

static inline double element_of(const call *x, const double *block, int ld, bool transposed, int i, int j)
{
    const size_t row = (size_t)(transposed ? j : i), column = (size_t)(transposed ? i : j);
    return block[x->row_major ? row * (size_t)ld + column : column * (size_t)ld + row];
}

static inline double expected(const call *x, int i, int j)
{
    double sum = 0;
    const double before = x->before[place_in_c(x, i, j)];
    for (int l = 0; l < x->k && x->alpha != 0; l++)
        sum += element_of(x, x->known_a, x->lda, x->transpose_a, i, l) *
               element_of(x, x->known_b + x->b_offset, x->ldb, x->transpose_b, l, j);
    return x->alpha * sum + (x->beta == 0 ? 0 : x->beta * before);
}

static inline bool is_in_triangle(const call *x, int i, int j)
{
    return x->lower ? i >= j : i <= j;
}

static inline void check_call(const call *x, const char *when)
{
    double *result = malloc(x->elements_c * sizeof(double));
    void *view = malloc(x->elements_c * element_bytes(x));
    sim_copy(view, x->c, x->elements_c * element_bytes(x));
    for (size_t i = 0; i < x->elements_c; i++)
        result[i] = get(x, view, i);
    free(view);
    long wrong = 0, spoilt = 0;
    int row = -1, column = -1;
    for (int j = 0; j < x->n; j++)
        for (int i = 0; i < x->n; i++) {
            const size_t place = place_in_c(x, i, j);
            const double now = result[place];
            if (!is_in_triangle(x, i, j)) {
                spoilt += now != (x->rounds > 0 ? (double)(x->rounds % 1000) : x->before[place]);
                continue;
            }
            const double known = expected(x, i, j);
            if (now != known && !(isnan(now) && isnan(known))) {
                if (wrong++ == 0)
                    row = i, column = j;
            }
            result[place] = x->before[place];
        }
    for (int j = 0; j < x->n; j++) /* what is left lies between columns */
        for (int i = 0; i < x->n; i++)
            result[place_in_c(x, i, j)] = x->before[place_in_c(x, i, j)];
    for (size_t i = 0; i < x->elements_c; i++)
        spoilt += result[i] != x->before[i];
    char plan[256];
    tileblas_last_plan(plan, sizeof plan);
    CHECK(wrong == 0 && spoilt == 0 && x->lost == 0,
          "%s: %ld wrong from (%d, %d) on, %ld spoilt, %ld lost; %s %s %s %s %d%d n=%d k=%d alpha %g beta %g "
          "ld %d %d %d "
          "offsets %d %d memory %d %d %d; %s",
          when, wrong, row, column, spoilt, (long)x->lost, x->doubles ? "d" : "s",
          x->second == NO_B ? "syrk" : "gemmt", x->row_major ? "row-major" : "column-major",
          x->lower ? "lower" : "upper", x->transpose_a, x->transpose_b, x->n, x->k, x->alpha, x->beta, x->lda,
          x->ldb, x->ldc, x->b_offset, x->c_offset, (int)x->memory_a, (int)x->memory_b, (int)x->memory_c,
          plan);
    free(result);
}

#endif
