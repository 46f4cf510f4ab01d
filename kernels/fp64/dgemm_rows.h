/* What catalog.c stamps from the rows of shapes.def and shapes_complex.def: for each shape its module, its
 * entries, and its row of the catalog. For catalog.c alone.
 */
#ifndef TB_DGEMM_ROWS_H
#define TB_DGEMM_ROWS_H

#include "kernels/fp64/launch_dgemm.h"
#include "kernels/fp64/shapes.h"

/* FP64 on tensor cores: unaligned and aligned, or aligned alone, four transpositions each. */
#define TB_DGEMM_ENTRIES_OF(stem, suffix, shared)                                                            \
    {&module_##stem, #stem "_nn" suffix, shared, NULL, 0, true},                                             \
        {&module_##stem, #stem "_nt" suffix, shared, NULL, 0, true},                                         \
        {&module_##stem, #stem "_tn" suffix, shared, NULL, 0, true},                                         \
        {&module_##stem, #stem "_tt" suffix, shared, NULL, 0, true},

#define TB_DGEMM_ENTRIES_OF_1(stem, shared)                                                                  \
    TB_DGEMM_ENTRIES_OF(stem, "", shared) TB_DGEMM_ENTRIES_OF(stem, "_vector", shared)
#define TB_DGEMM_ENTRIES_OF_2(stem, shared) TB_DGEMM_ENTRIES_OF(stem, "", shared)

#define TB_DGEMM_ENTRIES(stem, alignment, shared)                                                            \
    static tb_module module_##stem = {.name = #stem};                                                        \
    static tb_entry entries_##stem[] = {TB_DGEMM_ENTRIES_OF_##alignment(stem, shared)};

#define TB_DGEMM_FILE(name, alignment, tile_m, tile_n, tile_k, warps_m, warps_n, slices, copying, stages,    \
                      ...)                                                                                   \
    TB_DGEMM_ENTRIES(dgemm_mma_##name, alignment,                                                            \
                     stages *TB_DGEMM_STAGE_BYTES(tile_m, tile_n, tile_k, copying) +                         \
                         TB_DGEMM_BYTES_BEHIND(copying))

/* Complex numbers that are read where they lie: four transpositions. */
#define TB_ZGEMM_FILE(name_, tile_m, tile_n, tile_k, warps_m, warps_n, slices, stages, ...)                  \
    TB_DGEMM_ENTRIES(zgemm_mma_##name_, 2, TB_ZGEMM_SHARED_BYTES(tile_m, tile_n, tile_k, stages))
#define TB_ZGEMM_SHARED_BYTES(tile_m, tile_n, tile_k, stages)                                                \
    ((stages)*TB_ZGEMM_STAGE_BYTES(tile_m, tile_n, tile_k) + TB_DGEMM_WORK_BYTES)

/* Multiprocessors of 8.x other than 8.0 do FP64 at a 32nd of its rate. */
#define TB_DGEMM_FIELDS(name_, letter, m, n, k, warps_m, warps_n, slices_, copying, ring_bytes, blocks_,     \
                        totals, first, efficiency_)                                                          \
    .name = #letter "gemm_mma_" #name_, .architecture = first, .architecture_end = 100, .major_only = true,  \
    .tile_m = m, .tile_n = n, .tile_k = k, .threads = TB_DGEMM_THREADS(warps_m, warps_n, slices_, copying),  \
    .shares_tiles = TB_DGEMM_SHARES_TILES(m, n, copying, ring_bytes), .chains_in_c = !(totals),              \
    .chain_roots = TB_DGEMM_CHAIN_ROOTS(slices_, copying, totals),                                           \
    .shared_bytes = (ring_bytes) + TB_DGEMM_BYTES_BEHIND(copying), .efficiency = efficiency_,                \
    .blocks = blocks_, .masks = true, .batches = true, .joins = (copying) == 0,                              \
    .entries = entries_##letter##gemm_mma_##name_, .prepare = tb_##letter##gemm_mma_prepare,                 \
    .launch = tb_launch_##letter##gemm_mma

#define TB_DGEMM_ROW(name_, alignment_, m, n, k, warps_m, warps_n, slices_, copying, stages_, blocks_,       \
                     through_l1, totals, first, efficiency_)                                                 \
    {                                                                                                        \
        .summary = "FP64 tensor cores, " #name_ " tiles, k in stages of " #k ", " #stages_ " stages",        \
        .element = TB_FP64,                                                                                  \
        .alignment = alignment_,                                                                             \
        .k_limit = TB_DGEMM_K_LIMIT,                                                                         \
        TB_DGEMM_FIELDS(name_, d, m, n, k, warps_m, warps_n, slices_, copying,                               \
                        stages_ * TB_DGEMM_STAGE_BYTES(m, n, k, copying), blocks_, totals, first,            \
                        efficiency_),                                                                        \
    },

#define TB_ZGEMM_ROW(name_, m, n, k, warps_m, warps_n, slices_, stages_, blocks_, through_l1, totals, first, \
                     efficiency_)                                                                            \
    {                                                                                                        \
        .summary = "complex, read as they lie, FP64 tensor cores, " #name_                                   \
                   " tiles of parts, k in stages of " #k ", " #stages_ " stages",                            \
        .element = TB_COMPLEX_FP64,                                                                          \
        .alignment = 2,                                                                                      \
        .k_limit = TB_DGEMM_K_LIMIT / 2, /* of the real product it is twice as long */                       \
        .reads = TB_READS_COMPLEX,                                                                           \
        TB_DGEMM_FIELDS(name_, z, m, n, k, warps_m, warps_n, slices_, 0,                                     \
                        stages_ * TB_ZGEMM_STAGE_BYTES(m, n, k), blocks_, totals, first, efficiency_),       \
    },

#endif
