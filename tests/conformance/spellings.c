#include "tests/conformance/spellings.h"

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
/* Batches are called otherwise: batch_calls.c. */
#define OF_GEMM(ROUTINE, name) SPELLINGS_OF(ROUTINE, name),
#define OF_RANK_K              OF_GEMM
#define OF_HERK                OF_GEMM
#define OF_TRIANGLE            OF_GEMM
#define OF_SYMM                OF_GEMM
#define OF_HEMM                OF_GEMM
#define OF_RANK_2K             OF_GEMM
#define OF_HER2K               OF_GEMM
#define OF_TRMM                OF_GEMM
#define OF_TRSM                OF_GEMM
#define OF_GEMM_BATCH(ROUTINE, name)
#define OF_GEMM_BATCH_STRIDED(ROUTINE, name)
const spelling spellings[] = {
#define TB_ROUTINE(NAME, name, CLASS, element) OF_##CLASS(TB_##NAME, #name)
#include "words/routines.def"
#undef TB_ROUTINE
};
const size_t spelling_count = sizeof spellings / sizeof spellings[0];

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

/* A call of each class in either convention; Fortran as C programs call it, without the lengths of the letters. */
#define STAMP_CALLS(call, real, scalar, SCALAR)                                                              \
    typedef union call##_function {                                                                          \
        void *address;                                                                                       \
        void (*gemm)(int, int, int, int64_t, int64_t, int64_t, scalar, const real *, int64_t, const real *,  \
                     int64_t, scalar, real *, int64_t);                                                      \
        void (*rank_k)(int, int, int, int64_t, int64_t, scalar, const real *, int64_t, scalar, real *,       \
                       int64_t);                                                                             \
        void (*herk)(int, int, int, int64_t, int64_t, real, const real *, int64_t, real, real *, int64_t);   \
        void (*rank_2k)(int, int, int, int64_t, int64_t, scalar, const real *, int64_t, const real *,        \
                        int64_t, scalar, real *, int64_t);                                                   \
        void (*her2k)(int, int, int, int64_t, int64_t, scalar, const real *, int64_t, const real *, int64_t, \
                      real, real *, int64_t);                                                                \
        void (*rank_2k_)(const char *, const char *, const int64_t *, const int64_t *, const real *,         \
                         const real *, const int64_t *, const real *, const int64_t *, const real *, real *, \
                         const int64_t *);                                                                   \
        void (*triangle)(int, int, int, int, int64_t, int64_t, scalar, const real *, int64_t, const real *,  \
                         int64_t, scalar, real *, int64_t);                                                  \
        void (*symm)(int, int, int, int64_t, int64_t, scalar, const real *, int64_t, const real *, int64_t,  \
                     scalar, real *, int64_t);                                                               \
        void (*triangular)(int, int, int, int, int, int64_t, int64_t, scalar, const real *, int64_t, real *, \
                           int64_t);                                                                         \
        void (*triangular_)(const char *, const char *, const char *, const char *, const int64_t *,         \
                            const int64_t *, const real *, const real *, const int64_t *, real *,            \
                            const int64_t *);                                                                \
        void (*gemm_)(const char *, const char *, const int64_t *, const int64_t *, const int64_t *,         \
                      const real *, const real *, const int64_t *, const real *, const int64_t *,            \
                      const real *, real *, const int64_t *);                                                \
        void (*symm_)(const char *, const char *, const int64_t *, const int64_t *, const real *,            \
                      const real *, const int64_t *, const real *, const int64_t *, const real *, real *,    \
                      const int64_t *);                                                                      \
        void (*rank_k_)(const char *, const char *, const int64_t *, const int64_t *, const real *,          \
                        const real *, const int64_t *, const real *, real *, const int64_t *);               \
        void (*triangle_)(const char *, const char *, const char *, const int64_t *, const int64_t *,        \
                          const real *, const real *, const int64_t *, const real *, const int64_t *,        \
                          const real *, real *, const int64_t *);                                            \
    } call##_function;                                                                                       \
    static void call##_cblas(void *address, tb_routine_class class, const call_arguments *x,                 \
                             const passed *p)                                                                \
    {                                                                                                        \
        const call##_function function = {address};                                                          \
        const real alphas[2] = {(real)x->alpha, (real)x->alpha_im},                                          \
                   betas[2] = {(real)x->beta, (real)x->beta_im};                                             \
        const scalar alpha = SCALAR(alphas), beta = SCALAR(betas);                                           \
        switch (class) {                                                                                     \
        case TB_CLASS_GEMM:                                                                                  \
            function.gemm(p->layout, x->transpose_a, x->transpose_b, p->m, p->n, p->k, alpha, x->a, p->lda,  \
                          x->b, p->ldb, beta, x->c, p->ldc);                                                 \
            break;                                                                                           \
        case TB_CLASS_RANK_K:                                                                                \
            function.rank_k(p->layout, x->triangle, x->transpose_a, p->n, p->k, alpha, x->a, p->lda, beta,   \
                            x->c, p->ldc);                                                                   \
            break;                                                                                           \
        case TB_CLASS_TRIANGLE:                                                                              \
            function.triangle(p->layout, x->triangle, x->transpose_a, x->transpose_b, p->n, p->k, alpha,     \
                              x->a, p->lda, x->b, p->ldb, beta, x->c, p->ldc);                               \
            break;                                                                                           \
        case TB_CLASS_SYMM:                                                                                  \
        case TB_CLASS_HEMM:                                                                                  \
            function.symm(p->layout, x->side, x->triangle, p->m, p->n, alpha, x->a, p->lda, x->b, p->ldb,    \
                          beta, x->c, p->ldc);                                                               \
            break;                                                                                           \
        case TB_CLASS_HERK:                                                                                  \
            function.herk(p->layout, x->triangle, x->transpose_a, p->n, p->k, alphas[0], x->a, p->lda,       \
                          betas[0], x->c, p->ldc);                                                           \
            break;                                                                                           \
        case TB_CLASS_RANK_2K:                                                                               \
            function.rank_2k(p->layout, x->triangle, x->transpose_a, p->n, p->k, alpha, x->a, p->lda, x->b,  \
                             p->ldb, beta, x->c, p->ldc);                                                    \
            break;                                                                                           \
        case TB_CLASS_HER2K:                                                                                 \
            function.her2k(p->layout, x->triangle, x->transpose_a, p->n, p->k, alpha, x->a, p->lda, x->b,    \
                           p->ldb, betas[0], x->c, p->ldc);                                                  \
            break;                                                                                           \
        case TB_CLASS_TRMM:                                                                                  \
        case TB_CLASS_TRSM:                                                                                  \
            function.triangular(p->layout, x->side, x->triangle, x->transpose_a, x->diagonal, p->m, p->n,    \
                                alpha, x->a, p->lda, x->c, p->ldc);                                          \
            break;                                                                                           \
        case TB_CLASS_GEMM_BATCH: /* batches.c */                                                            \
        case TB_CLASS_GEMM_BATCH_STRIDED:                                                                    \
        case TB_CLASSES:                                                                                     \
            break;                                                                                           \
        }                                                                                                    \
    }                                                                                                        \
    static void call##_fortran(void *address, tb_routine_class class, const call_arguments *x,               \
                               const passed *p)                                                              \
    {                                                                                                        \
        const call##_function function = {address};                                                          \
        const real alpha[2] = {(real)x->alpha, (real)x->alpha_im},                                           \
                   beta[2] = {(real)x->beta, (real)x->beta_im};                                              \
        switch (class) {                                                                                     \
        case TB_CLASS_GEMM:                                                                                  \
            function.gemm_(&p->transpose_a, &p->transpose_b, &p->m, &p->n, &p->k, alpha, x->a, &p->lda,      \
                           x->b, &p->ldb, beta, x->c, &p->ldc);                                              \
            break;                                                                                           \
        case TB_CLASS_HERK:                                                                                  \
        case TB_CLASS_RANK_K:                                                                                \
            function.rank_k_(&p->triangle, &p->transpose_a, &p->n, &p->k, alpha, x->a, &p->lda, beta, x->c,  \
                             &p->ldc);                                                                       \
            break;                                                                                           \
        case TB_CLASS_TRIANGLE:                                                                              \
            function.triangle_(&p->triangle, &p->transpose_a, &p->transpose_b, &p->n, &p->k, alpha, x->a,    \
                               &p->lda, x->b, &p->ldb, beta, x->c, &p->ldc);                                 \
            break;                                                                                           \
        case TB_CLASS_SYMM:                                                                                  \
        case TB_CLASS_HEMM:                                                                                  \
            function.symm_(&p->side, &p->triangle, &p->m, &p->n, alpha, x->a, &p->lda, x->b, &p->ldb, beta,  \
                           x->c, &p->ldc);                                                                   \
            break;                                                                                           \
        case TB_CLASS_RANK_2K:                                                                               \
        case TB_CLASS_HER2K:                                                                                 \
            function.rank_2k_(&p->triangle, &p->transpose_a, &p->n, &p->k, alpha, x->a, &p->lda, x->b,       \
                              &p->ldb, beta, x->c, &p->ldc);                                                 \
            break;                                                                                           \
        case TB_CLASS_TRMM:                                                                                  \
        case TB_CLASS_TRSM:                                                                                  \
            function.triangular_(&p->side, &p->triangle, &p->transpose_a, &p->diagonal, &p->m, &p->n, alpha, \
                                 x->a, &p->lda, x->c, &p->ldc);                                              \
            break;                                                                                           \
        case TB_CLASS_GEMM_BATCH: /* batches.c */                                                            \
        case TB_CLASS_GEMM_BATCH_STRIDED:                                                                    \
        case TB_CLASSES:                                                                                     \
            break;                                                                                           \
        }                                                                                                    \
    }                                                                                                        \
    static void call(void *address, bool fortran, tb_routine_class class, const call_arguments *x,           \
                     const passed *p)                                                                        \
    {                                                                                                        \
        (fortran ? call##_fortran : call##_cblas)(address, class, x, p);                                     \
    }
typedef const void *address_of;
#define BY_VALUE(scalar)   *(scalar)
#define BY_ADDRESS(scalar) (scalar)
STAMP_CALLS(call_single, float, float, BY_VALUE)
STAMP_CALLS(call_double, double, double, BY_VALUE)
STAMP_CALLS(call_complex_single, float, address_of, BY_ADDRESS)
STAMP_CALLS(call_complex_double, double, address_of, BY_ADDRESS)

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
    static void (*const calls[TB_ELEMENTS])(void *, bool, tb_routine_class, const call_arguments *,
                                            const struct passed *) = {
        [TB_FP32] = call_single,
        [TB_FP64] = call_double,
        [TB_COMPLEX_FP32] = call_complex_single,
        [TB_COMPLEX_FP64] = call_complex_double,
    };
    calls[row->element](address, spelling->fortran, row->class, x, &passed);
    return true;
}
