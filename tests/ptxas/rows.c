/* What the catalog says of the kernels whose schedules count on it: for each its name, its threads, and how many of its
 * blocks run on a multiprocessor at a time.
 */
#include "kernels/catalog.h"
#include "kernels/fp64/launch_dgemm.h"
#include "kernels/simt/launch_simt.h"

#include <stdio.h>

/* Four transpositions, unaligned and aligned. */
#define VARIANTS 8

/* Both operands aligned and along k. */
#define TN_VECTOR (TB_SIMT_VECTOR + 2)

int main(void)
{
    for (size_t row = 0; row < tb_catalog_size; row++) {
        const tb_kernel *kernel = &tb_catalog[row];
        const bool simt = kernel->launch == tb_launch_simt;
        for (int i = 0; (simt || kernel->launch == tb_launch_dgemm_mma) && i < VARIANTS; i++)
            printf("%s %d %d\n", kernel->entries[i].symbol, kernel->threads,
                   simt && i == TN_VECTOR ? kernel->blocks_along_k : kernel->blocks);
    }
    return 0;
}
