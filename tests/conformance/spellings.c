#include "tests/conformance/spellings.h"

#include <dlfcn.h>

const spelling spellings[] = {
    {"cblas_sgemm", false, 32},    {"scipy_cblas_sgemm", false, 32}, {"sgemm_", true, 32},
    {"sgemm", true, 32},           {"scipy_sgemm_", true, 32},       {"scipy_cblas_sgemm64_", false, 64},
    {"cblas_sgemm64_", false, 64}, {"cblas_sgemm_64", false, 64},    {"scipy_sgemm_64_", true, 64},
    {"sgemm_64_", true, 64},
};
const size_t spelling_count = sizeof spellings / sizeof spellings[0];

typedef void cblas_sgemm_function(int, int, int, int64_t, int64_t, int64_t, float, const float *, int64_t,
                                  const float *, int64_t, float, float *, int64_t);
/* As C programs call Fortran, without the lengths of the letters. */
typedef void fortran_sgemm_function(const char *, const char *, const int64_t *, const int64_t *,
                                    const int64_t *, const float *, const float *, const int64_t *,
                                    const float *, const int64_t *, const float *, float *, const int64_t *);

/* An integer as it comes in a register, on the stack or behind a pointer: next to one of 32 bits there may be
 * anything. */
static int64_t word(int64_t value, int bits)
{
    return bits == 64 ? value : (int64_t)(UINT64_C(0xdeadbeef00000000) | (uint32_t)value);
}

bool call_sgemm(const spelling *spelling, const sgemm_arguments *arguments)
{
    void *address = dlsym(RTLD_DEFAULT, spelling->name);
    if (address == NULL)
        return false;
    const sgemm_arguments *x = arguments;
    const int bits = spelling->bits;
    const int64_t m = word(x->m, bits), n = word(x->n, bits), k = word(x->k, bits);
    const int64_t lda = word(x->lda, bits), ldb = word(x->ldb, bits), ldc = word(x->ldc, bits);
    const char transpose_a = (char)x->transpose_a, transpose_b = (char)x->transpose_b;
    if (spelling->fortran)
        ((fortran_sgemm_function *)address)(&transpose_a, &transpose_b, &m, &n, &k, &x->alpha, x->a, &lda,
                                            x->b, &ldb, &x->beta, x->c, &ldc);
    else
        ((cblas_sgemm_function *)address)(x->row_major ? 101 : 102, x->transpose_a, x->transpose_b, m, n, k,
                                          x->alpha, x->a, lda, x->b, ldb, x->beta, x->c, ldc);
    return true;
}
