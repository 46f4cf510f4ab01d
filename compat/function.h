/* What the headers of all classes have in common: what they use, and the host's routine as a function of the parameters that they have
 * defined before they include this:
 *
 *   C_RESULT, C_PARAMETERS, C_ARGUMENTS                of the C interface, CBLAS or LAPACKE
 *   FORTRAN_PARAMETERS, FORTRAN_ARGUMENTS
 *   LENGTH_PARAMETERS, LENGTHS                         of the strings, if any, hidden behind Fortran's arguments
 */
#include "compat/arguments.h"
#include "compat/follow.h"
#include "compat/forwarders.h"
#include "compat/host_blas.h"
#include "compat/host_calls.h"
#include "compat/integer_arguments.h"
#include "lib/call/line.h"

#define JOIN_(x, y) x##y
#define JOIN(x, y)  JOIN_(x, y)
#define TB_ROUTINE_ JOIN(TB_, ROUTINE)

/* Further parameters or arguments, or none. */
#define AND(...) __VA_OPT__(, ) __VA_ARGS__

static inline const char *fortran_triangle(tb_triangle triangle)
{
    return triangle == TB_LOWER ? "L" : "U";
}

typedef C_RESULT c_function(C_PARAMETERS);
/* A Fortran routine may expect the lengths of its strings behind its arguments. */
typedef void fortran_function(FORTRAN_PARAMETERS AND(LENGTH_PARAMETERS));
/* Whatever was passed behind the visible arguments stays there. */
typedef void untouched_function(FORTRAN_PARAMETERS);

typedef union function {
    void *address;
    c_function *c;
    fortran_function *fortran;
    untouched_function *untouched;
} function;
