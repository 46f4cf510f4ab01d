/* What the classes' headers (gemm_abi.h, rank_k_abi.h, triangle_abi.h, symm_abi.h) have in common: what they use, and the host's routine as
 * a function of the parameters that they have defined before they include this.
 */
#include "compat/arguments.h"
#include "compat/forwarders.h"
#include "compat/host_blas.h"
#include "compat/host_calls.h"
#include "compat/integer_arguments.h"
#include "lib/call/multiply.h"

#define JOIN_(x, y) x##y
#define JOIN(x, y)  JOIN_(x, y)
#define TB_ROUTINE_ JOIN(TB_, ROUTINE)

/* A scalar as CBLAS passes it, and what both conventions make of it; REALs are real and imaginary part by turns. */
#ifdef IS_COMPLEX
typedef const REAL *scalar;
#define NUMBER_OF_CBLAS NUMBER_OF_FORTRAN
#define NUMBER_OF_FORTRAN(x)                                                                                 \
    (tb_scalar)                                                                                              \
    {                                                                                                        \
        (double)(x)[0], (double)(x)[1]                                                                       \
    }
#define HANDED(parts) (parts)
#define MULTIPLY_ADDS 4 /* of real numbers, for each of elements */
#else
typedef REAL scalar;
#define NUMBER_OF_CBLAS(x)                                                                                   \
    (tb_scalar)                                                                                              \
    {                                                                                                        \
        (double)(x), 0                                                                                       \
    }
#define NUMBER_OF_FORTRAN(x) NUMBER_OF_CBLAS(*(x))
#define HANDED(parts)        (*(parts))
#define MULTIPLY_ADDS        1
#endif
#define PARTS(number)                                                                                        \
    {                                                                                                        \
        (REAL)(number).re, (REAL)(number).im                                                                 \
    }

typedef void cblas_function(CBLAS_PARAMETERS);
/* A Fortran routine may expect the lengths of its strings behind its arguments. */
typedef void fortran_function(FORTRAN_PARAMETERS, LENGTH_PARAMETERS);

typedef union function {
    void *address;
    cblas_function *cblas;
    fortran_function *fortran;
} function;
