#include "tests/conformance/spellings.h"

#include <dlfcn.h>

const spelling spellings[] = {
    {"cblas_sgemm", false, 32},    {"scipy_cblas_sgemm", false, 32}, {"sgemm_", true, 32},
    {"sgemm", true, 32},           {"scipy_sgemm_", true, 32},       {"scipy_cblas_sgemm64_", false, 64},
    {"cblas_sgemm64_", false, 64}, {"cblas_sgemm_64", false, 64},    {"scipy_sgemm_64_", true, 64},
    {"sgemm_64_", true, 64},
};
const size_t spelling_count = sizeof spellings / sizeof spellings[0];

/* As C programs call Fortran, without the lengths of the letters. */
#define DEFINE_CALLS(bits, integer)                                                                          \
    typedef void cblas_##bits(int, int, int, integer, integer, integer, float, const float *, integer,       \
                              const float *, integer, float, float *, integer);                              \
    typedef void fortran_##bits(const char *, const char *, const integer *, const integer *,                \
                                const integer *, const float *, const float *, const integer *,              \
                                const float *, const integer *, const float *, float *, const integer *);    \
    static void call_##bits(void *address, bool fortran, const sgemm_arguments *x)                           \
    {                                                                                                        \
        const integer m = (integer)x->m, n = (integer)x->n, k = (integer)x->k;                               \
        const integer lda = (integer)x->lda, ldb = (integer)x->ldb, ldc = (integer)x->ldc;                   \
        const char ta = (char)x->transpose_a, tb = (char)x->transpose_b;                                     \
        if (fortran)                                                                                         \
            ((fortran_##bits *)address)(&ta, &tb, &m, &n, &k, &x->alpha, x->a, &lda, x->b, &ldb, &x->beta,   \
                                        x->c, &ldc);                                                         \
        else                                                                                                 \
            ((cblas_##bits *)address)(x->row_major ? 101 : 102, x->transpose_a, x->transpose_b, m, n, k,     \
                                      x->alpha, x->a, lda, x->b, ldb, x->beta, x->c, ldc);                   \
    }

DEFINE_CALLS(32, int32_t)
DEFINE_CALLS(64, int64_t)

bool call_sgemm(const spelling *spelling, const sgemm_arguments *arguments)
{
    void *address = dlsym(RTLD_DEFAULT, spelling->name);
    if (address == NULL)
        return false;
    (spelling->bits == 64 ? call_64 : call_32)(address, spelling->fortran, arguments);
    return true;
}
