/* The catalog's rows. */
#include "kernels/catalog.h"

#include "kernels/ladder/ladder.h"
#include "kernels/launch.h"
#include "kernels/simt/launch_simt.h"
#include "kernels/simt/launch_skinny.h"
#include "kernels/tensor/launch_split_sm80.h"
#include "kernels/tensor/launch_tensor.h"

#include <string.h>

#if TB_WITH_KERNELS
#define TB_IMAGE(stem) tb_image_##stem
#else
#define TB_IMAGE(stem) NULL
#endif

/* What is built besides: a chip may run PTX of an older one, in which kernels for later chips are empty, and none waits for
 * the launch before it. All of it where the build does not say. */
#ifndef TB_CODE_FROM_80 /* and before 12.0 */
#define TB_CODE_FROM_80 1
#endif
#ifndef TB_CODE_FOR_90
#define TB_CODE_FOR_90 1
#endif
#ifndef TB_CODE_FROM_90
#define TB_CODE_FROM_90 1
#endif
#define TB_EARLY (TB_CODE_FROM_90 != 0)

/* A source file's device code and its four functions <stem>_nn, _nt, _tn and _tt. */
#define TB_KERNEL_FILE(stem, shared)                                                                         \
    extern const unsigned char tb_image_##stem[];                                                            \
    static tb_module module_##stem = {.name = #stem, .image = TB_IMAGE(stem)};                               \
    static tb_entry entries_##stem[] = {                                                                     \
        {&module_##stem, #stem "_nn", shared, NULL, 0, false},                                               \
        {&module_##stem, #stem "_nt", shared, NULL, 0, false},                                               \
        {&module_##stem, #stem "_tn", shared, NULL, 0, false},                                               \
        {&module_##stem, #stem "_tt", shared, NULL, 0, false},                                               \
    };

TB_LADDER_FILES
TB_KERNEL_FILE(naive, 0)
TB_KERNEL_FILE(tiled, 0)

/* The SIMT family: tile and steps of k a stage, slices into which a block divides k, threads, stages, blocks a
 * multiprocessor, and where A and B are aligned and both along k, share of the FMA peak, what A and B along k cost of it.
 * 64x64_2's shape asks for two blocks only, as its threads then keep operands along k by rows; from 8.0 on three fit but in
 * that case.
 */
/* clang-format off */
#define TB_SIMT_FAMILY(X)                                                                                    \
    X(16x128_2,  16, 128, 32, 2, 128, 4, 2, 2,  0.602,  0.032,  0.009)                                       \
    X(128x16_2, 128,  16, 32, 2, 128, 4, 2, 2,  0.601,  0.066, -0.030)                                       \
    X(32x32_4,   32,  32, 64, 4, 128, 3, 3, 3,  0.630,  0.023,  0.042)                                       \
    X(64x32_8,   64,  32, 64, 8, 256, 3, 1, 1,  0.722,  0.150,  0.150)                                       \
    X(64x64_2,   64,  64, 16, 2, 128, 3, 3, 2,  0.863,  0.104,  0.069)                                       \
    X(128x64_2, 128,  64, 32, 2, 256, 3, 1, 1,  0.868,  0.120,  0.101)                                       \
    X(128x64,   128,  64, 16, 1, 128, 4, 3, 3,  0.884,  0.025,  0.023)                                       \
    X(128x128,  128, 128, 16, 1, 256, 3, 2, 2,  0.985,  0.056,  0.061)
/* 16 x 8 of C a thread leave few registers for anything else: not enough for panels on their way, as before 8.0, nor for
 * what 12.0's assembler takes. */
#define TB_SIMT_BROAD(X)                                                                                     \
    X(128x256,  128, 256, 16, 1, 256, 3, 1, 1,  0.954, -0.019, -0.030)
/* Stages of more shared memory, or blocks of more threads, than suit other chips than 9.0. */
#define TB_SIMT_LARGE(X)                                                                                     \
    X(64x64_4,   64,  64, 64, 4, 256, 3, 1, 1,  0.825,  0.053,  0.049)                                       \
    X(128x64_4, 128,  64, 64, 4, 512, 3, 1, 1,  0.913,  0.077,  0.052)                                       \
    X(128x128_2,128, 128, 32, 2, 512, 3, 1, 1,  0.987,  0.001,  0.016)
/* The same, and so much to fill before they begin that they are for long operands alone. */
#define TB_SIMT_LONG(X)                                                                                      \
    X(16x128_k,  16, 128, 64, 2, 256, 4, 1, 1,  0.562, -0.030,  0.028)                                       \
    X(128x16_k, 128,  16, 64, 2, 256, 4, 1, 1,  0.552,  0.006, -0.030)
/* clang-format on */

#define TB_SIMT_FILE(shape, tile_m, tile_n, tile_k, slices, threads, stages, blocks, blocks_along_k,         \
                     efficiency, a_along_k, b_along_k)                                                       \
    TB_SIMT_ENTRIES(sgemm_simt_##shape,                                                                      \
                    stages *TB_SIMT_STAGE_BYTES(tile_m, tile_n, tile_k, slices) +                            \
                        TB_SIMT_TOTALS_BYTES(tile_m, tile_n, slices,                                         \
                                             stages * TB_SIMT_STAGE_BYTES(tile_m, tile_n, tile_k, slices),   \
                                             blocks))

#define TB_SIMT_ENTRIES_OF(stem, suffix, shared)                                                             \
    {&module_##stem, #stem "_nn" suffix, shared, NULL, 0, TB_EARLY},                                         \
        {&module_##stem, #stem "_nt" suffix, shared, NULL, 0, TB_EARLY},                                     \
        {&module_##stem, #stem "_tn" suffix, shared, NULL, 0, TB_EARLY},                                     \
        {&module_##stem, #stem "_tt" suffix, shared, NULL, 0, TB_EARLY},

#define TB_SIMT_ENTRIES(stem, shared)                                                                        \
    extern const unsigned char tb_image_##stem[];                                                            \
    static tb_module module_##stem = {.name = #stem, .image = TB_IMAGE(stem)};                               \
    static tb_entry entries_##stem[] = {TB_SIMT_ENTRIES_OF(stem, "", shared)                                 \
                                            TB_SIMT_ENTRIES_OF(stem, "_vector", shared)};

/* Elements that an operand has at least where a row is chosen that is for long ones: with fewer, the start takes longer
 * than their bytes. */
#define TB_LONG_ELEMENTS (INT64_C(4) << 20)

#define TB_SIMT_ROW(...)       TB_SIMT_ROW_OF(75, 0, false, 0, __VA_ARGS__)
#define TB_SIMT_ROW_BROAD(...) TB_SIMT_ROW_OF(TB_CODE_FROM_80 ? 80 : 120, 120, false, 0, __VA_ARGS__)
#define TB_SIMT_ROW_LARGE(...) TB_SIMT_ROW_OF(TB_CODE_FOR_90 ? 90 : 100, 100, true, 0, __VA_ARGS__)
#define TB_SIMT_ROW_LONG(...)                                                                                \
    TB_SIMT_ROW_OF(TB_CODE_FOR_90 ? 90 : 100, 100, true, TB_LONG_ELEMENTS, __VA_ARGS__)

#define TB_SIMT_ROW_OF(first, end, major_only_, least, shape, m, n, k, slices, threads_, stages, blocks_,    \
                       blocks_along_k_, efficiency_, a_along_k, b_along_k)                                   \
    {                                                                                                        \
        .name = "sgemm_simt_" #shape,                                                                        \
        .summary = "FP32 FMA, " #shape " tiles, k in stages of " #k ", " #stages " stages",                  \
        .architecture = first,                                                                               \
        .architecture_end = end,                                                                             \
        .major_only = major_only_,                                                                           \
        .tile_m = m,                                                                                         \
        .tile_n = n,                                                                                         \
        .tile_k = k,                                                                                         \
        .threads = threads_,                                                                                 \
        .shared_bytes = stages * TB_SIMT_STAGE_BYTES(m, n, k, slices),                                       \
        .efficiency = efficiency_,                                                                           \
        .a_along_k_share = a_along_k,                                                                        \
        .b_along_k_share = b_along_k,                                                                        \
        .segment_k = k / slices,                                                                             \
        .least_elements = least,                                                                             \
        .blocks = blocks_,                                                                                   \
        .blocks_along_k = blocks_along_k_,                                                                   \
        .alignment = 1,                                                                                      \
        .entries = entries_sgemm_simt_##shape,                                                               \
        .prepare = tb_simt_prepare,                                                                            \
        .launch = tb_launch_simt,                                                                            \
    },

TB_SIMT_FAMILY(TB_SIMT_FILE)
TB_SIMT_BROAD(TB_SIMT_FILE)
TB_SIMT_LARGE(TB_SIMT_FILE)
TB_SIMT_LONG(TB_SIMT_FILE)

extern const unsigned char tb_image_sgemm_simt_reduce[];
static tb_module module_sgemm_simt_reduce = {.name = "sgemm_simt_reduce",
                                             .image = TB_IMAGE(sgemm_simt_reduce)};
tb_entry tb_entry_simt_reduce = {&module_sgemm_simt_reduce, "sgemm_simt_reduce", 0, NULL, 0, TB_EARLY};

/* For C with a short side: entries as TB_SKINNY_ENTRY orders them. */
extern const unsigned char tb_image_sgemm_skinny[], tb_image_sgemm_skinny_reduce[];
static tb_module module_sgemm_skinny = {.name = "sgemm_skinny", .image = TB_IMAGE(sgemm_skinny)};
static tb_module module_sgemm_skinny_reduce = {.name = "sgemm_skinny_reduce",
                                               .image = TB_IMAGE(sgemm_skinny_reduce)};
tb_entry tb_entry_skinny_reduce = {&module_sgemm_skinny_reduce, "sgemm_skinny_reduce", 0, NULL, 0, TB_EARLY};
#define TB_SKINNY_ENTRY_OF(symbol, extent)                                                                   \
    {                                                                                                        \
        &module_sgemm_skinny, symbol "_" #extent, TB_SKINNY_SHARED_BYTES(extent, 90), NULL, 0, TB_EARLY      \
    }
#define TB_SKINNY_ENTRIES(symbol)                                                                            \
    TB_SKINNY_ENTRY_OF(symbol, 1), TB_SKINNY_ENTRY_OF(symbol, 2), TB_SKINNY_ENTRY_OF(symbol, 4),             \
        TB_SKINNY_ENTRY_OF(symbol, 8), TB_SKINNY_ENTRY_OF(symbol, 16)
static tb_entry entries_sgemm_skinny[] = {TB_SKINNY_ENTRIES("sgemm_skinny_outer"),
                                          TB_SKINNY_ENTRIES("sgemm_skinny_outer_vector"),
                                          TB_SKINNY_ENTRIES("sgemm_skinny_k")};

/* The tensor-core families. */
#define TB_SPLIT_ENTRIES(module, name, row_bytes)                                                            \
    [TB_SPLIT_BEGIN] = {&module, name "_begin", 0, NULL, 0, true},                                           \
    [TB_SPLIT_SPLIT] = {&module, name "_split", 0, NULL, 0, true},                                           \
    [TB_SPLIT_MULTIPLY_WIDE] =                                                                               \
        {&module, name "_128x192", TB_SPLIT_RING_BYTES(row_bytes, TB_SPLIT_WIDE), NULL, 0, true},            \
    [TB_SPLIT_MULTIPLY_NARROW] =                                                                             \
        {&module, name "_128x128", TB_SPLIT_RING_BYTES(row_bytes, TB_SPLIT_NARROW), NULL, 0, true},          \
    [TB_SPLIT_ADD_WIDE] = {&module, name "_add_128x192", 0, NULL, 0, true},                                  \
    [TB_SPLIT_ADD_NARROW] = {&module, name "_add_128x128", 0, NULL, 0, true}

extern const unsigned char tb_image_sgemm_bf16x6_sm90[], tb_image_sgemm_fp16x3_sm90[],
    tb_image_sgemm_split_sm90[];
static tb_module module_sgemm_bf16x6_sm90 = {.name = "sgemm_bf16x6_sm90",
                                             .image = TB_IMAGE(sgemm_bf16x6_sm90)};
static tb_module module_sgemm_fp16x3_sm90 = {.name = "sgemm_fp16x3_sm90",
                                             .image = TB_IMAGE(sgemm_fp16x3_sm90)};
static tb_module module_sgemm_split_sm90 = {.name = "sgemm_split_sm90", .image = TB_IMAGE(sgemm_split_sm90)};
static tb_entry entries_split_sm90[] = {
    TB_SPLIT_ENTRIES(module_sgemm_split_sm90, "sgemm_split_sm90", TB_SPLIT_MIXED_ROW_BYTES),
    [TB_SPLIT_FIND_LARGEST] = {&module_sgemm_split_sm90, "sgemm_split_sm90_survey", 0, NULL, 0, true}};
static tb_entry entries_bf16_sm90[] = {
    TB_SPLIT_ENTRIES(module_sgemm_bf16x6_sm90, "sgemm_bf16x6_sm90", TB_SPLIT_BF16_ROW_BYTES)};
static tb_entry entries_fp16_sm90[] = {
    TB_SPLIT_ENTRIES(module_sgemm_fp16x3_sm90, "sgemm_fp16x3_sm90", TB_SPLIT_FP16_ROW_BYTES),
    [TB_SPLIT_FIND_LARGEST] = {&module_sgemm_fp16x3_sm90, "sgemm_fp16x3_sm90_largest", 0, NULL, 0, true}};

extern const unsigned char tb_image_sgemm_bf16x6_sm80[];
static tb_module module_sgemm_bf16x6_sm80 = {.name = "sgemm_bf16x6_sm80",
                                             .image = TB_IMAGE(sgemm_bf16x6_sm80)};
static tb_entry entries_sgemm_bf16x6_sm80[] = {
    [TB_SPLIT_BEGIN] = {&module_sgemm_bf16x6_sm80, "sgemm_bf16x6_sm80_begin", 0, NULL, 0, false},
    [TB_SPLIT_SPLIT] = {&module_sgemm_bf16x6_sm80, "sgemm_bf16x6_sm80_split", 0, NULL, 0, false},
    [TB_SPLIT_SM80_MULTIPLY] = {&module_sgemm_bf16x6_sm80, "sgemm_bf16x6_sm80_128x128",
                                TB_SPLIT_SM80_RING_BYTES, NULL, 0, false},
};

#define TB_SPLIT_ROW(family, words, entries_, row_bytes, accuracy_, efficiency_, forced_only_)               \
    {                                                                                                        \
        .name = "sgemm_" #family "_sm90", .summary = words, .architecture = 90, .architecture_end = 100,     \
        .tile_m = TB_SPLIT_TILE_M, .tile_n = TB_SPLIT_WIDE, .tile_k = TB_SPLIT_STAGE_K,                      \
        .threads = TB_SPLIT_THREADS, .shared_bytes = TB_SPLIT_RING_BYTES(row_bytes, TB_SPLIT_WIDE),          \
        .efficiency = efficiency_, .blocks = 1, .alignment = 1, .accuracy = accuracy_, .least_extent = 128,  \
        .forced_only = forced_only_, .entries = entries_, .prepare = tb_##family##_prepare,                  \
        .launch = tb_launch_##family,                                                                        \
    }

const tb_kernel tb_catalog[] = {
    TB_LADDER_ROWS,
    {
        .name = "naive",
        .summary = "one thread per element of C",
        .architecture = 75,
        .tile_m = 32,
        .tile_n = 8,
        .tile_k = 1,
        .threads = 256,
        .efficiency = 0.02,
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
    /* clang-format off */
    TB_SIMT_FAMILY(TB_SIMT_ROW)
    TB_SIMT_BROAD(TB_SIMT_ROW_BROAD)
    TB_SIMT_LARGE(TB_SIMT_ROW_LARGE)
    TB_SIMT_LONG(TB_SIMT_ROW_LONG)
    /* clang-format on */
    {
        .name = "sgemm_skinny",
        .summary = "C with a side of at most 16, the long operand read once",
        .architecture = 75,
        .tile_m = 128,
        .tile_n = 16,
        .tile_k = 32,
        .threads = 32 * TB_SKINNY_WARPS(16),
        .efficiency = 0.5,
        .blocks = TB_SKINNY_BLOCKS,
        .alignment = 1,
        .short_side = 16,
        .least_elements = TB_LONG_ELEMENTS,
        .entries = entries_sgemm_skinny,
        .prepare = tb_skinny_prepare,
        .launch = tb_launch_skinny,
    },
    {
        .name = "sgemm_bf16x6_sm80",
        .summary = "BF16 tensor cores of sm_80, each FP32 split in three, six products",
        .architecture = 80,
        .architecture_end = 100,
        .major_only = true,
        .chosen_end = 90,
        .tile_m = TB_SPLIT_SM80_TILE,
        .tile_n = TB_SPLIT_SM80_TILE,
        .tile_k = TB_SPLIT_STAGE_K,
        .threads = TB_SPLIT_SM80_THREADS,
        .shared_bytes = TB_SPLIT_SM80_RING_BYTES,
        .efficiency = 1.1,
        .blocks = 1,
        .alignment = 1,
        .accuracy = TB_ACCURACY_FP32,
        .least_extent = 256,
        .entries = entries_sgemm_bf16x6_sm80,
        .prepare = tb_split_sm80_prepare,
        .launch = tb_launch_split_sm80,
    },
    TB_SPLIT_ROW(fp16x3, "FP16 tensor cores, each FP32 scaled and split in two, three products",
                 entries_fp16_sm90, TB_SPLIT_FP16_ROW_BYTES, TB_ACCURACY_FAST, 4, false),
    TB_SPLIT_ROW(bf16x9, "BF16 tensor cores, each FP32 split in three, all nine products", entries_bf16_sm90,
                 TB_SPLIT_BF16_ROW_BYTES, TB_ACCURACY_FP32, 1.55, true),
    TB_SPLIT_ROW(bf16x6, "BF16 tensor cores, each FP32 split in three, six products", entries_bf16_sm90,
                 TB_SPLIT_BF16_ROW_BYTES, TB_ACCURACY_FP32, 2.3, false),
    TB_SPLIT_ROW(split, "FP16 and FP8 tensor cores where the operands' range allows, else sgemm_bf16x6_sm90",
                 entries_split_sm90, TB_SPLIT_MIXED_ROW_BYTES, TB_ACCURACY_FP32, 2.7, false)};

const size_t tb_catalog_size = sizeof tb_catalog / sizeof tb_catalog[0];

const tb_kernel *tb_find_kernel(const char *name)
{
    for (size_t row = 0; row < tb_catalog_size; row++)
        if (strcmp(tb_catalog[row].name, name) == 0)
            return &tb_catalog[row];
    return NULL;
}
