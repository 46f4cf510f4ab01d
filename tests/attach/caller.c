/* An extension module that calls a routine of the BLAS it is linked with: by its procedure linkage table, or by its global
 * offset table where it is compiled so. It also holds the routine's address in its data, once where the program may
 * change it, and once where nobody may.
 */
#include "tests/attach/caller.h"

#include "tests/abi/product.h"

static void *const constant = (void *)PRODUCT_FORTRAN;
static void *variable = (void *)PRODUCT_FORTRAN;

long caller_errors(bool fortran, int size)
{
    const product p = {.fortran = fortran, .m = size, .n = size + 1, .k = size + 2};
    return product_errors(&p);
}

void *caller_constant(void)
{
    return *(void *const volatile *)&constant;
}

void **caller_variable(void)
{
    return &variable;
}
