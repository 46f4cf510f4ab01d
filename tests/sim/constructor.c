/* A library that multiplies while it is being loaded (starting.c). */
#include "tests/sim/known_product.h"

__attribute__((constructor)) static void multiply(void)
{
    if (known_multiply_once(300, 200, 30, 0, 2, TB_MEMORY_HOST) != 0)
        abort();
}
