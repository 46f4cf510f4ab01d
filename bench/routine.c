#include "bench/routine.h"

#include "bench/fortran_call.h"

#include <stdio.h>
#include <string.h>

enum { COLUMN_MAJOR = 102, NO_TRANSPOSE = 111, TRANSPOSE = 112, LOWER = 122 };

static const tb_routine besides_others[] = {TB_SGEMM, TB_DGEMM, TB_SSYRK, TB_DSYRK, TB_SGEMMT, TB_DGEMMT};
enum { BESIDES_OTHERS = sizeof besides_others / sizeof *besides_others };

const bench_routine *bench_find_routine(const char *name)
{
    for (int i = 0; i < BESIDES_OTHERS; i++)
        if (strcmp(tb_routine_rows[besides_others[i]].name, name) == 0)
            return &tb_routine_rows[besides_others[i]];
    return NULL;
}

const char *bench_routine_names(void)
{
    return "sgemm, dgemm, ssyrk, dsyrk, sgemmt, dgemmt";
}

const bench_routine *bench_find_any_routine(const char *name)
{
    for (tb_routine routine = 0; routine < TB_PRODUCT_ROUTINES; routine++)
        if (strcmp(tb_routine_rows[routine].name, name) == 0 && !tb_class_of(routine)->is_batch)
            return &tb_routine_rows[routine];
    return NULL;
}

bool bench_updates(const bench_routine *routine)
{
    return tb_class_rows[routine->class].updates;
}

bool bench_has_product(const bench_routine *routine, bool transpose_a, bool transpose_b, int64_t m, int64_t n)
{
    return !bench_updates(routine) || (m == n && transpose_a != transpose_b);
}

tb_product bench_product_of(const bench_routine *routine, bool transpose_a, bool transpose_b, int64_t m,
                            int64_t n, int64_t k, void *a, void *b, void *c)
{
    const tb_routine name = (tb_routine)(routine - tb_routine_rows);
    const tb_class_row *class = &tb_class_rows[routine->class];
    const bool in_place = class->in_place != TB_OUT_OF_PLACE, has_side = class->is_symmetric || in_place,
               left = !transpose_b;
    const int64_t rows = class->updates ? n : m;
    const int64_t ldb = class->turns_b ? (transpose_a ? k : n) : transpose_b ? n : k;
    return tb_product_of(&(tb_arguments){.routine = name,
                                         .right = !left,
                                         .triangle = TB_LOWER,
                                         .operation_a.transposed = transpose_a,
                                         .operation_b.transposed = transpose_b,
                                         .m = m,
                                         .n = n,
                                         .k = k,
                                         .alpha = {1, 0},
                                         .a = a,
                                         .lda = has_side      ? (left ? m : n)
                                                : transpose_a ? k
                                                              : rows,
                                         .b = b,
                                         .ldb = has_side ? m : ldb,
                                         .c = c,
                                         .ldc = rows});
}

void bench_fill_random(tb_element element, void *matrix, size_t count)
{
    const size_t numbers = count * (tb_is_complex(element) ? 2 : 1);
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < numbers; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        const double number = (double)((int64_t)state >> 11) * 0x1p-52;
        if (tb_real_of(element) == TB_FP64)
            ((double *)matrix)[i] = number;
        else
            ((float *)matrix)[i] = (float)number;
    }
}

void bench_make_triangle(tb_element element, void *matrix, int64_t n)
{
    const int parts = tb_is_complex(element) ? 2 : 1;
    const bool single = tb_real_of(element) == TB_FP32;
    for (int64_t i = 0; i < n * n * parts; i++) {
        const bool is_diagonal = i / parts % (n + 1) == 0;
        const double before = single ? (double)((float *)matrix)[i] : ((double *)matrix)[i],
                     value = is_diagonal ? i % parts == 0 : before / (64.0 * (double)n);
        if (single)
            ((float *)matrix)[i] = (float)value;
        else
            ((double *)matrix)[i] = value;
    }
}

bool bench_is_on_right(const tb_product *product)
{
    return product->a.structure == TB_GENERAL && product->b.structure != TB_GENERAL;
}

double bench_flop(const tb_product *product)
{
    return 2 * tb_volume(product);
}

bool bench_has_operand(const bench_routine *routine, tb_role role)
{
    return role != TB_B || !tb_class_rows[routine->class].has_one_operand;
}

size_t bench_bytes_in(const bench_routine *routine, const tb_product *product)
{
    return tb_matrix_bytes(&product->a.matrix) +
           (bench_has_operand(routine, TB_B) ? tb_matrix_bytes(&product->b.matrix) : 0);
}

size_t bench_bytes_out(const tb_product *product)
{
    const size_t all = tb_matrix_bytes(&product->c.matrix);
    return product->mask == TB_FULL ? all : (all + tb_column_bytes(&product->c.matrix)) / 2;
}

bench_number bench_number_of(tb_element element, tb_scalar scalar)
{
    if (tb_real_of(element) == TB_FP64)
        return (bench_number){.doubles = {scalar.re, scalar.im}};
    return (bench_number){.floats = {(float)scalar.re, (float)scalar.im}};
}

/* ---- By CBLAS's names -------------------------------------------------------------------------------------- */

static int cblas_operation(const tb_operand *operand)
{
    return operand->transposed ? TRANSPOSE : NO_TRANSPOSE;
}

/* The calls for one element, whose numbers are of that type. */
#define STAMP_CALLS(type)                                                                                    \
    /* GEMMT has GEMM's arguments, but for a triangle in front and one size less. */                         \
    typedef void cblas_gemm_##type(int, int, int, int, int, int, type, const type *, int, const type *, int, \
                                   type, type *, int);                                                       \
    typedef void cblas_syrk_##type(int, int, int, int, int, type, const type *, int, type, type *, int);     \
                                                                                                             \
    static void call_cblas_##type(bench_function *function, const tb_class_row *class, const tb_product *p)  \
    {                                                                                                        \
        const type alpha = (type)p->alpha.re, beta = (type)p->beta.re;                                       \
        const int of_a = cblas_operation(&p->a), of_b = cblas_operation(&p->b);                              \
        const int m = (int)p->m, n = (int)p->n, k = (int)p->k;                                               \
        const int lda = (int)p->a.ld, ldb = (int)p->b.ld, ldc = (int)p->c.ld;                                \
        if (class->has_one_operand)                                                                          \
            ((cblas_syrk_##type *)function)(COLUMN_MAJOR, LOWER, of_a, n, k, alpha, p->a.data, lda, beta,    \
                                            p->c.data, ldc);                                                 \
        else if (class->updates)                                                                             \
            ((cblas_gemm_##type *)function)(COLUMN_MAJOR, LOWER, of_a, of_b, n, k, alpha, p->a.data, lda,    \
                                            p->b.data, ldb, beta, p->c.data, ldc);                           \
        else                                                                                                 \
            ((cblas_gemm_##type *)function)(COLUMN_MAJOR, of_a, of_b, m, n, k, alpha, p->a.data, lda,        \
                                            p->b.data, ldb, beta, p->c.data, ldc);                           \
    }

STAMP_CALLS(float)
STAMP_CALLS(double)

void bench_call_cblas(bench_function *function, const bench_routine *routine, const tb_product *product)
{
    const tb_class_row *class = &tb_class_rows[routine->class];
    (routine->element == TB_FP64 ? call_cblas_double : call_cblas_float)(function, class, product);
}

/* ---- By Fortran's names ------------------------------------------------------------------------------------ */

static const char *operation_of(const tb_operand *operand)
{
    return !operand->transposed ? "N" : operand->conjugated ? "C" : "T";
}

void bench_call_fortran(bench_function *function, const tb_product *product)
{
    const tb_element element = tb_element_of(product);
    const bench_number alpha = bench_number_of(element, product->alpha),
                       beta = bench_number_of(element, product->beta);
    const bool right = bench_is_on_right(product);
    const tb_operand *a = right ? &product->b : &product->a, *b = right ? &product->a : &product->b;
    const tb_triangle triangle = product->mask == TB_FULL ? a->stored : product->mask;
    const int m = (int)product->m, n = (int)product->n, k = (int)product->k;
    const int lda = (int)a->ld, ldb = (int)b->ld, ldc = (int)product->c.ld;
    fortran_call((void *)function, tb_class_of(product->routine),
                 &(fortran_arguments){.side = right ? "R" : "L",
                                      .triangle = triangle == TB_LOWER ? "L" : "U",
                                      .operation_a = operation_of(a),
                                      .operation_b = operation_of(b),
                                      .diagonal = a->unit_diagonal ? "U" : "N",
                                      .m = &m,
                                      .n = &n,
                                      .k = &k,
                                      .alpha = &alpha,
                                      .a = a->data,
                                      .lda = &lda,
                                      .b = b->data,
                                      .ldb = &ldb,
                                      .beta = &beta,
                                      .c = product->c.data,
                                      .ldc = &ldc});
}
