/* What the catalog says of the kernels whose schedules count on it: for each its name, its threads, how many of its blocks run
 * on a multiprocessor at a time, and the registers that a thread must be launched with, or 0.
 */
#include "kernels/catalog.h"
#include "kernels/fp64/launch_dgemm.h"
#include "kernels/fp64/shapes.h"
#include "kernels/simt/launch_simt.h"

#include <stdio.h>
#include <string.h>

/* Four transpositions, of most rows unaligned and aligned. */
#define VARIANTS         8
#define VARIANTS_ALIGNED 4

/* Both operands aligned and along k. */
#define TN_VECTOR (TB_SIMT_VECTOR + 2)

/* The registers that a kernel is to be launched with: with fewer, warps that take over registers of others would wait for
 * ever. */
static int registers_at_launch(const tb_kernel *kernel)
{
#define RETURN_REGISTERS(name_, alignment_, tile_m, tile_n, tile_k, warps_m, warps_n, slices, copying, ...)  \
    if ((copying) > 0 && strcmp(kernel->name, "dgemm_mma_" #name_) == 0)                                     \
        return TB_DGEMM_REGISTERS_AT_LAUNCH(kernel->threads, kernel->blocks);
#define TB_DGEMM_SHAPE(...) TB_DGEMM_BY_NAMES(RETURN_REGISTERS, __VA_ARGS__)
#include "kernels/fp64/shapes.def"
#undef TB_DGEMM_SHAPE
    return 0;
}

int main(void)
{
    for (size_t row = 0; row < tb_catalog_size; row++) {
        const tb_kernel *kernel = &tb_catalog[row];
        const bool simt = kernel->launch == tb_launch_simt;
        const bool mma = kernel->launch == tb_launch_dgemm_mma || kernel->launch == tb_launch_zgemm_mma;
        const int variants = simt || (mma && kernel->alignment == 1) ? VARIANTS : mma ? VARIANTS_ALIGNED : 0;
        for (int i = 0; i < variants; i++)
            printf("%s %d %d %d\n", kernel->entries[i].symbol, kernel->threads,
                   simt && i == TN_VECTOR ? kernel->blocks_along_k : kernel->blocks,
                   registers_at_launch(kernel));
    }
    return 0;
}
