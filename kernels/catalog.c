/* The catalog's rows, and the few questions that are asked of a row. */
#include "kernels/catalog.h"

#include "kernels/ladder/ladder.h"
#include "kernels/launch.h"
#include "kernels/simt/launch_simt.h"

#include <string.h>

#if TB_WITH_KERNELS
#define TB_IMAGE(stem) tb_image_##stem
#else
#define TB_IMAGE(stem) NULL
#endif

/* A source file's device code and its four functions <stem>_nn, _nt, _tn and _tt. */
#define TB_KERNEL_FILE(stem, shared)                                                                         \
    extern const unsigned char tb_image_##stem[];                                                            \
    static tb_module module_##stem = {.name = #stem, .image = TB_IMAGE(stem)};                               \
    static tb_entry entries_##stem[] = {                                                                     \
        {&module_##stem, #stem "_nn", shared, NULL},                                                         \
        {&module_##stem, #stem "_nt", shared, NULL},                                                         \
        {&module_##stem, #stem "_tn", shared, NULL},                                                         \
        {&module_##stem, #stem "_tt", shared, NULL},                                                         \
    };

TB_LADDER_FILES
TB_KERNEL_FILE(naive, 0)
TB_KERNEL_FILE(tiled, 0)

/* The SIMT family: tile, steps of k a stage, threads, stages, blocks a multiprocessor, share of the FMA peak.
 */
#define TB_SIMT_FAMILY(X)                                                                                    \
    X(128x16, 128, 16, 32, 64, 3, 3, 0.50)                                                                   \
    X(16x128, 16, 128, 32, 64, 3, 3, 0.50)                                                                   \
    X(64x64, 64, 64, 16, 64, 3, 8, 0.70)                                                                     \
    X(128x64, 128, 64, 16, 128, 3, 4, 0.75)                                                                  \
    X(128x128, 128, 128, 16, 256, 3, 2, 0.80)                                                                \
    X(128x256, 128, 256, 16, 256, 3, 1, 0.85)

#define TB_SIMT_FILE(shape, tile_m, tile_n, tile_k, threads, stages, blocks, efficiency)                     \
    TB_SIMT_ENTRIES(sgemm_simt_##shape, stages *TB_SIMT_STAGE_BYTES(tile_m, tile_n, tile_k))

#define TB_SIMT_ENTRIES(stem, shared)                                                                        \
    extern const unsigned char tb_image_##stem[];                                                            \
    static tb_module module_##stem = {.name = #stem, .image = TB_IMAGE(stem)};                               \
    static tb_entry entries_##stem[] = {                                                                     \
        {&module_##stem, #stem "_nn", shared, NULL},                                                         \
        {&module_##stem, #stem "_nt", shared, NULL},                                                         \
        {&module_##stem, #stem "_tn", shared, NULL},                                                         \
        {&module_##stem, #stem "_tt", shared, NULL},                                                         \
        {&module_##stem, #stem "_nn_vector", shared, NULL},                                                  \
        {&module_##stem, #stem "_nt_vector", shared, NULL},                                                  \
        {&module_##stem, #stem "_tn_vector", shared, NULL},                                                  \
        {&module_##stem, #stem "_tt_vector", shared, NULL},                                                  \
    };

#define TB_SIMT_ROW(shape, m, n, k, threads_, stages, blocks_, efficiency_)                                  \
    {                                                                                                        \
        .name = "sgemm_simt_" #shape,                                                                        \
        .summary = "FP32 FMA, " #shape " tiles, k in stages of " #k ", " #stages " stages",                  \
        .architecture = 75,                                                                                  \
        .tile_m = m,                                                                                         \
        .tile_n = n,                                                                                         \
        .tile_k = k,                                                                                         \
        .threads = threads_,                                                                                 \
        .shared_bytes = stages * TB_SIMT_STAGE_BYTES(m, n, k),                                               \
        .efficiency = efficiency_,                                                                           \
        .blocks = blocks_,                                                                                   \
        .alignment = 1,                                                                                      \
        .entries = entries_sgemm_simt_##shape,                                                               \
        .workspace = tb_simt_workspace,                                                                      \
        .splits = tb_simt_splits,                                                                            \
        .launch = tb_launch_simt,                                                                            \
    },

TB_SIMT_FAMILY(TB_SIMT_FILE)

extern const unsigned char tb_image_sgemm_simt_reduce[];
static tb_module module_sgemm_simt_reduce = {.name = "sgemm_simt_reduce",
                                             .image = TB_IMAGE(sgemm_simt_reduce)};
tb_entry tb_entry_simt_reduce = {&module_sgemm_simt_reduce, "sgemm_simt_reduce", 0, NULL};

const tb_kernel tb_catalog[] = {TB_LADDER_ROWS,
                                {
                                    .name = "naive",
                                    .summary = "one thread per element of C",
                                    .architecture = 75,
                                    .tile_m = 32,
                                    .tile_n = 8,
                                    .tile_k = 1,
                                    .threads = 256,
                                    .efficiency = 0.08,
                                    .blocks = 8,
                                    .alignment = 1,
                                    .entries = entries_naive,
                                    .launch = tb_launch_tiles,
                                },
                                {
                                    .name = "padded",
                                    .summary = "operands copied into pitched memory, then tiled",
                                    .architecture = 75,
                                    .tile_m = 128,
                                    .tile_n = 128,
                                    .tile_k = 8,
                                    .threads = 256,
                                    .efficiency = 0.6,
                                    .blocks = 2,
                                    .alignment = 4,
                                    .pads = true,
                                    .entries = entries_tiled,
                                    .launch = tb_launch_tiles,
                                },
                                {
                                    .name = "tiled",
                                    .summary = "float4, double-buffered shared memory, 8 x 8 a thread",
                                    .architecture = 75,
                                    .tile_m = 128,
                                    .tile_n = 128,
                                    .tile_k = 8,
                                    .threads = 256,
                                    .efficiency = 0.6,
                                    .blocks = 2,
                                    .alignment = 4,
                                    .entries = entries_tiled,
                                    .launch = tb_launch_tiles,
                                },
                                TB_SIMT_FAMILY(TB_SIMT_ROW)};

const size_t tb_catalog_size = sizeof tb_catalog / sizeof tb_catalog[0];

const tb_kernel *tb_find_kernel(const char *name)
{
    for (size_t row = 0; row < tb_catalog_size; row++)
        if (strcmp(tb_catalog[row].name, name) == 0)
            return &tb_catalog[row];
    return NULL;
}

bool tb_kernel_takes(const tb_kernel *kernel, const float *operand, int64_t leading_dimension)
{
    return (uintptr_t)operand % ((size_t)kernel->alignment * sizeof(float)) == 0 &&
           leading_dimension % kernel->alignment == 0;
}

int tb_transposition(const tb_problem *problem)
{
    return 2 * problem->transpose_a + problem->transpose_b;
}
