/* What the catalog says of the kernels whose schedules count on it: for each its name, its threads, and how many of its
 * blocks run on a multiprocessor at a time.
 */
#include "kernels/catalog.h"
#include "kernels/simt/launch_simt.h"

#include <stdio.h>

/* Four transpositions, unaligned and aligned. */
#define VARIANTS 8

/* Both operands aligned and along k. */
#define TN_VECTOR (TB_SIMT_VECTOR + 2)

int main(void)
{
    for (size_t row = 0; row < tb_catalog_size; row++)
        for (int i = 0; tb_catalog[row].launch == tb_launch_simt && i < VARIANTS; i++) {
            const char *symbol = tb_catalog[row].entries[i].symbol;
            const int blocks = i == TN_VECTOR ? tb_catalog[row].blocks_along_k : tb_catalog[row].blocks;
            printf("%s %d %d\n", symbol, tb_catalog[row].threads, blocks);
        }
    return 0;
}
