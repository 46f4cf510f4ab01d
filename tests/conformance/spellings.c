#include "tests/conformance/spellings.h"

#include "bench/fortran_call.h"

#include <dlfcn.h>
#include <string.h>

#define SPELLINGS_OF(ROUTINE, name)                                                                          \
    {"cblas_" name, ROUTINE, false, 32}, {"scipy_cblas_" name, ROUTINE, false, 32},                          \
        {name "_", ROUTINE, true, 32}, {name, ROUTINE, true, 32}, {"scipy_" name "_", ROUTINE, true, 32},    \
        {"scipy_cblas_" name "64_", ROUTINE, false, 64}, {"cblas_" name "64_", ROUTINE, false, 64},          \
        {"cblas_" name "_64", ROUTINE, false, 64}, {"scipy_" name "_64_", ROUTINE, true, 64},                \
        {name "_64_", ROUTINE, true, 64}, {&#ROUTINE[3], ROUTINE, true, 32}, /* without its TB_ */           \
    {                                                                                                        \
        &(#ROUTINE "_64")[3], ROUTINE, true, 64                                                              \
    }
/* Those of batches, which batch_calls.c calls, are left out before main. */
spelling spellings[] = {
#define TB_ROUTINE(NAME, name, CLASS, element) SPELLINGS_OF(TB_##NAME, #name),
#define TB_LAPACK_ROUTINE(...)
#include "words/routines.def"
#undef TB_ROUTINE
};
size_t spelling_count;

__attribute__((constructor)) static void leave_out_batches(void)
{
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        if (!tb_class_of(spellings[i].routine)->is_batch)
            spellings[spelling_count++] = spellings[i];
}

void *spelling_library = RTLD_DEFAULT;

const spelling *spelling_named(const char *name)
{
    for (size_t i = 0; i < spelling_count; i++)
        if (strcmp(spellings[i].name, name) == 0)
            return &spellings[i];
    return NULL;
}

/* The arguments as they come in a register, on the stack or behind a pointer: next to an integer of 32 bits there may be
 * anything. */
typedef struct passed {
    int layout;
    int64_t m, n, k, lda, ldb, ldc;
    char side, triangle, transpose_a, transpose_b, diagonal;
} passed;

static int64_t word(int64_t value, int bits)
{
    return bits == 64 ? value : (int64_t)(UINT64_C(0xdeadbeef00000000) | (uint32_t)value);
}

/* A call by CBLAS's name. Its arguments come by value, and scalars as the class's row says, so that each pattern has a
 * type of its own. */
typedef void cblas_call(void *address, const call_arguments *x, const passed *p);
#define STAMP_CALL(name, real, types, arguments)                                                             \
    static void name(void *address, const call_arguments *x, const passed *p)                                \
    {                                                                                                        \
        const real alpha[2] = {(real)x->alpha, (real)x->alpha_im},                                           \
                   beta[2] = {(real)x->beta, (real)x->beta_im};                                              \
        (void)beta;                                                                                          \
        ((void(*) types)address) arguments;                                                                  \
    }
#define STAMP_CALLS(call, real, scalar, OF)                                                                  \
    /* NULL: batch_calls.c calls those. */                                                                   \
    enum { call##_gemm_batch_OF_ELEMENT = 0, call##_gemm_batch_strided_OF_ELEMENT = 0 };                     \
    STAMP_CALL(call##_gemm_OF_ELEMENT, real,                                                                 \
               (int, int, int, int64_t, int64_t, int64_t, scalar, const real *, int64_t, const real *,       \
                int64_t, scalar, real *, int64_t),                                                           \
               (p->layout, x->transpose_a, x->transpose_b, p->m, p->n, p->k, OF(alpha), x->a, p->lda, x->b,  \
                p->ldb, OF(beta), x->c, p->ldc))                                                             \
    STAMP_CALL(call##_rank_k_OF_ELEMENT, real,                                                               \
               (int, int, int, int64_t, int64_t, scalar, const real *, int64_t, scalar, real *, int64_t),    \
               (p->layout, x->triangle, x->transpose_a, p->n, p->k, OF(alpha), x->a, p->lda, OF(beta), x->c, \
                p->ldc))                                                                                     \
    STAMP_CALL(                                                                                              \
        call##_rank_k_REAL, real,                                                                            \
        (int, int, int, int64_t, int64_t, real, const real *, int64_t, real, real *, int64_t),               \
        (p->layout, x->triangle, x->transpose_a, p->n, p->k, *alpha, x->a, p->lda, *beta, x->c, p->ldc))     \
    STAMP_CALL(call##_triangle_OF_ELEMENT, real,                                                             \
               (int, int, int, int, int64_t, int64_t, scalar, const real *, int64_t, const real *, int64_t,  \
                scalar, real *, int64_t),                                                                    \
               (p->layout, x->triangle, x->transpose_a, x->transpose_b, p->n, p->k, OF(alpha), x->a, p->lda, \
                x->b, p->ldb, OF(beta), x->c, p->ldc))                                                       \
    STAMP_CALL(call##_symm_OF_ELEMENT, real,                                                                 \
               (int, int, int, int64_t, int64_t, scalar, const real *, int64_t, const real *, int64_t,       \
                scalar, real *, int64_t),                                                                    \
               (p->layout, x->side, x->triangle, p->m, p->n, OF(alpha), x->a, p->lda, x->b, p->ldb,          \
                OF(beta), x->c, p->ldc))                                                                     \
    STAMP_CALL(call##_rank_2k_OF_ELEMENT, real,                                                              \
               (int, int, int, int64_t, int64_t, scalar, const real *, int64_t, const real *, int64_t,       \
                scalar, real *, int64_t),                                                                    \
               (p->layout, x->triangle, x->transpose_a, p->n, p->k, OF(alpha), x->a, p->lda, x->b, p->ldb,   \
                OF(beta), x->c, p->ldc))                                                                     \
    STAMP_CALL(call##_rank_2k_REAL_BETA, real,                                                               \
               (int, int, int, int64_t, int64_t, scalar, const real *, int64_t, const real *, int64_t, real, \
                real *, int64_t),                                                                            \
               (p->layout, x->triangle, x->transpose_a, p->n, p->k, OF(alpha), x->a, p->lda, x->b, p->ldb,   \
                *beta, x->c, p->ldc))                                                                        \
    STAMP_CALL(call##_triangular_OF_ELEMENT, real,                                                           \
               (int, int, int, int, int, int64_t, int64_t, scalar, const real *, int64_t, real *, int64_t),  \
               (p->layout, x->side, x->triangle, x->transpose_a, x->diagonal, p->m, p->n, OF(alpha), x->a,   \
                p->lda, x->c, p->ldc))
typedef const void *address_of;
#define BY_VALUE(scalar)   *(scalar)
#define BY_ADDRESS(scalar) (scalar)
STAMP_CALLS(single, float, float, BY_VALUE)
STAMP_CALLS(double, double, double, BY_VALUE)
STAMP_CALLS(complex_single, float, address_of, BY_ADDRESS)
STAMP_CALLS(complex_double, double, address_of, BY_ADDRESS)

static cblas_call *const cblas_calls[TB_CLASSES][TB_ELEMENTS] = {
#define TB_LAPACK_CLASS(...)
#define TB_CLASS(NAME, pattern, scalars, ...)                                                                \
    [TB_CLASS_##NAME] = {                                                                                    \
        [TB_FP32] = single_##pattern##_##scalars,                                                            \
        [TB_FP64] = double_##pattern##_##scalars,                                                            \
        [TB_COMPLEX_FP32] = complex_single_##pattern##_##scalars,                                            \
        [TB_COMPLEX_FP64] = complex_double_##pattern##_##scalars,                                            \
    },
#include "words/classes.def"
#undef TB_CLASS
};

static void call_by_fortran(void *address, const tb_routine_row *row, const call_arguments *x,
                            const passed *p)
{
    const float single_alpha[2] = {(float)x->alpha, (float)x->alpha_im},
                single_beta[2] = {(float)x->beta, (float)x->beta_im};
    const double alpha[2] = {x->alpha, x->alpha_im}, beta[2] = {x->beta, x->beta_im};
    const bool is_single = tb_real_of(row->element) == TB_FP32;
    fortran_call(address, &tb_class_rows[row->class],
                 &(fortran_arguments){.side = &p->side,
                                      .triangle = &p->triangle,
                                      .operation_a = &p->transpose_a,
                                      .operation_b = &p->transpose_b,
                                      .diagonal = &p->diagonal,
                                      .m = &p->m,
                                      .n = &p->n,
                                      .k = &p->k,
                                      .alpha = is_single ? (const void *)single_alpha : alpha,
                                      .a = x->a,
                                      .lda = &p->lda,
                                      .b = x->b,
                                      .ldb = &p->ldb,
                                      .beta = is_single ? (const void *)single_beta : beta,
                                      .c = x->c,
                                      .ldc = &p->ldc});
}

bool call_routine(const spelling *spelling, const call_arguments *arguments)
{
    void *address = dlsym(spelling_library, spelling->name);
    if (address == NULL)
        return false;
    const call_arguments *x = arguments;
    const int bits = spelling->bits;
    const passed passed = {.layout = x->row_major ? 101 : 102,
                           .m = word(x->m, bits),
                           .n = word(x->n, bits),
                           .k = word(x->k, bits),
                           .lda = word(x->lda, bits),
                           .ldb = word(x->ldb, bits),
                           .ldc = word(x->ldc, bits),
                           .side = (char)x->side,
                           .triangle = (char)x->triangle,
                           .transpose_a = (char)x->transpose_a,
                           .transpose_b = (char)x->transpose_b,
                           .diagonal = (char)x->diagonal};
    const tb_routine_row *row = &tb_routine_rows[spelling->routine];
    if (spelling->fortran)
        call_by_fortran(address, row, x, &passed);
    else
        cblas_calls[row->class][row->element](address, x, &passed);
    return true;
}
