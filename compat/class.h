/* What the classes' headers (gemm_abi.h, update_abi.h, triangle_abi.h, symm_abi.h, triangular_abi.h) have in common: scalars, and
 * how operands are read.
 */
/* A scalar as CBLAS passes it, and what both conventions make of it; REALs are real and imaginary part by turns. */
#if defined IS_COMPLEX && !defined REAL_SCALARS
typedef const REAL *scalar;
#define NUMBER_OF_CBLAS NUMBER_OF_FORTRAN
#define NUMBER_OF_FORTRAN(x)                                                                                 \
    (tb_scalar)                                                                                              \
    {                                                                                                        \
        (double)(x)[0], (double)(x)[1]                                                                       \
    }
#define HANDED(parts) (parts)
#else
typedef REAL scalar;
#define NUMBER_OF_CBLAS(x)                                                                                   \
    (tb_scalar)                                                                                              \
    {                                                                                                        \
        (double)(x), 0                                                                                       \
    }
#define NUMBER_OF_FORTRAN(x) NUMBER_OF_CBLAS(*(x))
#define HANDED(parts)        (*(parts))
#endif
#ifdef IS_COMPLEX
#define MULTIPLY_ADDS 4 /* of real numbers, for each of elements */
#else
#define MULTIPLY_ADDS 1
#endif
/* alpha of the product that is added to C, and what C is multiplied by: nothing is added to a C that is multiplied in its
 * place. */
#ifdef IN_PLACE
#define FACTORS(number, beta_number) (tb_scalar){0, 0}, number(alpha)
#else
#define FACTORS(number, beta_number) number(alpha), beta_number(beta)
#endif
/* beta, which is real where that of HER2K is. */
#ifndef REAL_BETA
#define BETA_OF_CBLAS   NUMBER_OF_CBLAS
#define BETA_OF_FORTRAN NUMBER_OF_FORTRAN
typedef scalar beta_scalar;
#define HANDED_BETA HANDED
#else
typedef REAL beta_scalar;
#define BETA_OF_CBLAS(x)                                                                                     \
    (tb_scalar)                                                                                              \
    {                                                                                                        \
        (double)(x), 0                                                                                       \
    }
#define BETA_OF_FORTRAN(x) BETA_OF_CBLAS(*(x))
#define HANDED_BETA(parts) (*(parts))
#endif
#define PARTS(number)                                                                                        \
    {                                                                                                        \
        (REAL)(number).re, (REAL)(number).im                                                                 \
    }

#define C_RESULT void
#include "compat/function.h"

/* How an operand is read, as either convention says it. */
static inline int cblas_operation(const tb_operand *operand)
{
    return TB_NO_TRANSPOSE + operand->transposed + operand->conjugated;
}

static inline const char *fortran_operation(const tb_operand *operand)
{
    return operand->conjugated ? "C" : operand->transposed ? "T" : "N";
}

static inline int cblas_triangle(tb_triangle triangle)
{
    return triangle == TB_LOWER ? TB_CBLAS_LOWER : TB_CBLAS_UPPER;
}
