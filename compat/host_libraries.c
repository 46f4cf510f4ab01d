/* The well-known libraries; see host_libraries.h. MKL comes last: it ends the program when its own parts are not
 * found.
 *
 * Where TileBLAS itself is what libblas.so.3 stands for, another provider that Debian's alternatives know is
 * reached by its path. Those of OpenBLAS and BLIS have names of their own besides; these two have not.
 */
#include "compat/host_libraries.h"

#include <stddef.h>

#define DEBIAN_PROVIDER(folder) "/usr/lib/" TB_MULTIARCH "/" folder "/libblas.so.3"

const char *const tb_blas_libraries_32[] = {
    "libopenblas.so.0",       "libblis.so.4",          "libcblas.so.3",  "libblas.so.3",
    DEBIAN_PROVIDER("atlas"), DEBIAN_PROVIDER("blas"), "libmkl_rt.so.2", NULL,
};

const char *const tb_blas_libraries_64[] = {
    "libopenblas64_.so.0", "libopenblas64.so.0", "libblis64.so.4", "libblas64.so.3", "libmkl_rt.so.2", NULL,
};

const char *const tb_lapack_libraries[] = {
    "libopenblas.so.0", "liblapack.so.3", "liblapacke.so.3", "libmkl_rt.so.2", NULL,
};
