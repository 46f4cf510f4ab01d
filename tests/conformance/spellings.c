#include "tests/conformance/spellings.h"

#include <dlfcn.h>
#include <string.h>

#define SPELLINGS_OF(ROUTINE, name)                                                                          \
    {"cblas_" name, ROUTINE, false, 32}, {"scipy_cblas_" name, ROUTINE, false, 32},                          \
        {name "_", ROUTINE, true, 32}, {name, ROUTINE, true, 32}, {"scipy_" name "_", ROUTINE, true, 32},    \
        {"scipy_cblas_" name "64_", ROUTINE, false, 64}, {"cblas_" name "64_", ROUTINE, false, 64},          \
        {"cblas_" name "_64", ROUTINE, false, 64}, {"scipy_" name "_64_", ROUTINE, true, 64},                \
    {                                                                                                        \
        name "_64_", ROUTINE, true, 64                                                                       \
    }
const spelling spellings[] = {
    SPELLINGS_OF(TB_SGEMM, "sgemm"),     SPELLINGS_OF(TB_DGEMM, "dgemm"),
    SPELLINGS_OF(TB_SSYRK, "ssyrk"),     SPELLINGS_OF(TB_DSYRK, "dsyrk"),
    SPELLINGS_OF(TB_SGEMMT, "sgemmt"),   SPELLINGS_OF(TB_DGEMMT, "dgemmt"),
    SPELLINGS_OF(TB_SGEMMTR, "sgemmtr"), SPELLINGS_OF(TB_DGEMMTR, "dgemmtr"),
};
const size_t spelling_count = sizeof spellings / sizeof spellings[0];

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
    char triangle, transpose_a, transpose_b;
} passed;

static int64_t word(int64_t value, int bits)
{
    return bits == 64 ? value : (int64_t)(UINT64_C(0xdeadbeef00000000) | (uint32_t)value);
}

/* A call of each class in either convention; Fortran as C programs call it, without the lengths of the letters. */
#define STAMP_CALLS(call, real)                                                                              \
    typedef union call##_function {                                                                          \
        void *address;                                                                                       \
        void (*gemm)(int, int, int, int64_t, int64_t, int64_t, real, const real *, int64_t, const real *,    \
                     int64_t, real, real *, int64_t);                                                        \
        void (*rank_k)(int, int, int, int64_t, int64_t, real, const real *, int64_t, real, real *, int64_t); \
        void (*triangle)(int, int, int, int, int64_t, int64_t, real, const real *, int64_t, const real *,    \
                         int64_t, real, real *, int64_t);                                                    \
        void (*gemm_)(const char *, const char *, const int64_t *, const int64_t *, const int64_t *,         \
                      const real *, const real *, const int64_t *, const real *, const int64_t *,            \
                      const real *, real *, const int64_t *);                                                \
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
        const real alpha = (real)x->alpha, beta = (real)x->beta;                                             \
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
        default:                                                                                             \
            break;                                                                                           \
        }                                                                                                    \
    }                                                                                                        \
    static void call##_fortran(void *address, tb_routine_class class, const call_arguments *x,               \
                               const passed *p)                                                              \
    {                                                                                                        \
        const call##_function function = {address};                                                          \
        const real alpha = (real)x->alpha, beta = (real)x->beta;                                             \
        switch (class) {                                                                                     \
        case TB_CLASS_GEMM:                                                                                  \
            function.gemm_(&p->transpose_a, &p->transpose_b, &p->m, &p->n, &p->k, &alpha, x->a, &p->lda,     \
                           x->b, &p->ldb, &beta, x->c, &p->ldc);                                             \
            break;                                                                                           \
        case TB_CLASS_RANK_K:                                                                                \
            function.rank_k_(&p->triangle, &p->transpose_a, &p->n, &p->k, &alpha, x->a, &p->lda, &beta,      \
                             x->c, &p->ldc);                                                                 \
            break;                                                                                           \
        case TB_CLASS_TRIANGLE:                                                                              \
            function.triangle_(&p->triangle, &p->transpose_a, &p->transpose_b, &p->n, &p->k, &alpha, x->a,   \
                               &p->lda, x->b, &p->ldb, &beta, x->c, &p->ldc);                                \
            break;                                                                                           \
        default:                                                                                             \
            break;                                                                                           \
        }                                                                                                    \
    }                                                                                                        \
    static void call(void *address, bool fortran, tb_routine_class class, const call_arguments *x,           \
                     const passed *p)                                                                        \
    {                                                                                                        \
        (fortran ? call##_fortran : call##_cblas)(address, class, x, p);                                     \
    }
STAMP_CALLS(call_single, float)
STAMP_CALLS(call_double, double)

bool call_routine(const spelling *spelling, const call_arguments *arguments)
{
    void *address = dlsym(RTLD_DEFAULT, spelling->name);
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
                           .triangle = (char)x->triangle,
                           .transpose_a = (char)x->transpose_a,
                           .transpose_b = (char)x->transpose_b};
    const tb_routine_row *row = &tb_routine_rows[spelling->routine];
    (row->element == TB_FP64 ? call_double : call_single)(address, spelling->fortran, row->class, x, &passed);
    return true;
}
