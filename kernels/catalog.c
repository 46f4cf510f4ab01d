/* The catalog's rows, and the few questions that are asked of a row. */
#include "kernels/catalog.h"

#include "kernels/launch.h"

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

TB_KERNEL_FILE(naive, 0)
TB_KERNEL_FILE(tiled, 0)

const tb_kernel tb_catalog[] = {
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
};

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
