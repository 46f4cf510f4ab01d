/* What the classes of LAPACK's routines have in common (potrf_abi.h): what they use, and the host's routine as a function of the
 * parameters that they have defined before they include this.
 */
#include "compat/follow.h"
#include "compat/forwarders.h"
#include "compat/host_blas.h"
#include "compat/host_calls.h"
#include "compat/integer_arguments.h"
#include "compat/lapack_arguments.h"
#include "lib/call/line.h"
#include "lib/call/small.h"

#define JOIN_(x, y) x##y
#define JOIN(x, y)  JOIN_(x, y)
#define TB_ROUTINE_ JOIN(TB_, ROUTINE)

static inline const char *triangle_letter(const tb_factor *factor)
{
    return factor->stored == TB_LOWER ? "L" : "U";
}

/* LAPACKE's functions return info, in the caller's width. */
typedef int64_t lapacke_function(LAPACKE_PARAMETERS);
/* A Fortran routine may expect the lengths of its strings behind its arguments. */
typedef void fortran_function(FORTRAN_PARAMETERS, LENGTH_PARAMETERS);
typedef void untouched_function(FORTRAN_PARAMETERS);

typedef union function {
    void *address;
    lapacke_function *lapacke;
    fortran_function *fortran;
    untouched_function *untouched;
} function;

/* The function by a name that nobody else can define (attach.c). */
#define TB_ENTRY(type, symbol, ...)                                                                          \
    extern type tb_entry_##symbol(__VA_ARGS__) __attribute__((alias(#symbol), visibility("hidden")));
