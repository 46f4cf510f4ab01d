/* What the classes' headers (gemm_abi.h, rank_k_abi.h, triangle_abi.h) have in common: what they use, and the host's routine as
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

typedef void cblas_function(CBLAS_PARAMETERS);
/* A Fortran routine may expect the lengths of its strings behind its arguments. */
typedef void fortran_function(FORTRAN_PARAMETERS, LENGTH_PARAMETERS);

typedef union function {
    void *address;
    cblas_function *cblas;
    fortran_function *fortran;
} function;
