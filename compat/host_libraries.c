/* The well-known libraries; see host_libraries.h. MKL comes last: it ends the program when its own parts are not
 * found.
 *
 * Where TileBLAS itself is what libblas.so.3 or libblas64.so.3 stands for, another provider that Debian's
 * alternatives know is reached by its path. Those of OpenBLAS and BLIS have names of their own besides; these
 * have not.
 */
#include "compat/host_libraries.h"

#include "compat/definitions.h"

#include <stddef.h>
#include <stdint.h>

#define DEBIAN_PROVIDER(folder, name) "/usr/lib/" TB_MULTIARCH "/" folder "/" name

const char *const tb_blas_libraries_32[] = {
    "libopenblas.so.0",
    "libblis.so.4",
    "libcblas.so.3",
    "libblas.so.3",
    DEBIAN_PROVIDER("atlas", "libblas.so.3"),
    DEBIAN_PROVIDER("blas", "libblas.so.3"),
    "libmkl_rt.so.2",
    NULL,
};

const char *const tb_blas_libraries_64[] = {
    "libopenblas64_.so.0",
    "libopenblas64.so.0",
    "libblis64.so.4",
    "libblas64.so.3",
    DEBIAN_PROVIDER("blas64", "libblas64.so.3"),
    "libmkl_rt.so.2",
    NULL,
};

const char *const tb_lapack_libraries[] = {
    "libopenblas.so.0", "liblapack.so.3", "liblapacke.so.3", "libmkl_rt.so.2", NULL,
};

void *tb_libraries_with_us[TB_LIBRARIES_WITH_US];

static void *find_host_symbol(const void *of_object, const char *symbol)
{
    const tb_definition found = tb_first_definition(of_object, symbol);
    return found.address && !found.object.is_tileblas ? found.address : NULL;
}

/* What became of the question that this thread is asking. */
static _Thread_local enum {
    NONE,
    ASKED,
    UNANSWERED
} width_question __attribute__((tls_model("initial-exec")));

bool tb_notice_width_question(void)
{
    if (width_question == NONE)
        return false;
    width_question = UNANSWERED;
    return true;
}

int tb_probe_integer_bits(const void *of_object)
{
    /* The established probe: of this n, a 32-bit isamax sees 3 and answers a position, a 64-bit one sees a
     * negative number and answers 0. */
    const int64_t n = (int64_t)0xffffffff00000003, increment = 1;
    const float x[3] = {1, 2, 4};
    union {
        void *address;
        int32_t (*fortran)(const int64_t *n, const float *x, const int64_t *increment);
        int32_t (*cblas)(int64_t n, const float *x, int64_t increment);
    } isamax;
    int32_t position = 0;

    width_question = ASKED;
    if ((isamax.address = find_host_symbol(of_object, "isamax_")) ||
        (isamax.address = find_host_symbol(of_object, "isamax")))
        position = isamax.fortran(&n, x, &increment);
    else if ((isamax.address = find_host_symbol(of_object, "cblas_isamax")))
        position = isamax.cblas(n, x, increment);
    else
        width_question = UNANSWERED;
    const bool answered = width_question == ASKED;
    width_question = NONE;
    if (!answered)
        return 0;
    return position ? 32 : 64;
}
