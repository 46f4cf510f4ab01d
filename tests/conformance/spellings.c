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
const spelling spellings[] = {SPELLINGS_OF(TB_SGEMM, "sgemm"), SPELLINGS_OF(TB_DGEMM, "dgemm")};
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
    int64_t m, n, k, lda, ldb, ldc;
    char transpose_a, transpose_b;
} passed;

static int64_t word(int64_t value, int bits)
{
    return bits == 64 ? value : (int64_t)(UINT64_C(0xdeadbeef00000000) | (uint32_t)value);
}

/* As C programs call Fortran, without the lengths of the letters. */
#define STAMP_CALLS(call, real)                                                                              \
    typedef void call##_cblas_function(int, int, int, int64_t, int64_t, int64_t, real, const real *,         \
                                       int64_t, const real *, int64_t, real, real *, int64_t);               \
    typedef void call##_fortran_function(const char *, const char *, const int64_t *, const int64_t *,       \
                                         const int64_t *, const real *, const real *, const int64_t *,       \
                                         const real *, const int64_t *, const real *, real *,                \
                                         const int64_t *);                                                   \
    static void call(void *address, bool fortran, const gemm_arguments *x, const passed *p)                  \
    {                                                                                                        \
        const real alpha = (real)x->alpha, beta = (real)x->beta;                                             \
        if (fortran)                                                                                         \
            ((call##_fortran_function *)address)(&p->transpose_a, &p->transpose_b, &p->m, &p->n, &p->k,      \
                                                 &alpha, x->a, &p->lda, x->b, &p->ldb, &beta, x->c,          \
                                                 &p->ldc);                                                   \
        else                                                                                                 \
            ((call##_cblas_function *)address)(x->row_major ? 101 : 102, x->transpose_a, x->transpose_b,     \
                                               p->m, p->n, p->k, alpha, x->a, p->lda, x->b, p->ldb, beta,    \
                                               x->c, p->ldc);                                                \
    }
STAMP_CALLS(call_single, float)
STAMP_CALLS(call_double, double)

bool call_gemm(const spelling *spelling, const gemm_arguments *arguments)
{
    void *address = dlsym(RTLD_DEFAULT, spelling->name);
    if (address == NULL)
        return false;
    const gemm_arguments *x = arguments;
    const int bits = spelling->bits;
    const passed passed = {word(x->m, bits),     word(x->n, bits),    word(x->k, bits),
                           word(x->lda, bits),   word(x->ldb, bits),  word(x->ldc, bits),
                           (char)x->transpose_a, (char)x->transpose_b};
    if (spelling->routine == TB_DGEMM)
        call_double(address, spelling->fortran, x, &passed);
    else
        call_single(address, spelling->fortran, x, &passed);
    return true;
}
