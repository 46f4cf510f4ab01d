/* A library that finds device code as TileBLAS's do, and says what it is: program.c. */
#include "lib/device/code.h"

#include <stdio.h>

__attribute__((visibility("default"))) int read_code(void);

int read_code(void)
{
    if (tb_open_code() != TB_OK)
        return 1;
    const char *first = tb_find_binary("first"), *second = tb_find_binary("second");
    if (!first || !second || tb_find_binary("third"))
        return 2;
    printf("%.13s, %.14s, from %s\n", first, second, tb_code_file() ? tb_code_file() : "itself");
    return 0;
}
