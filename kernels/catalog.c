/* The catalog's rows. */
#include "kernels/catalog.h"

#include "kernels/crt/crt.h"
#include "kernels/fp64/launch_dgemm.h"
#include "kernels/ladder/ladder.h"
#include "kernels/launch.h"
#include "kernels/simt/launch_skinny.h"
#include "kernels/simt/shapes.h"
#include "kernels/structured/launch_structured.h"
#include "kernels/structured/structured.h"
#include "kernels/tensor/launch_split_sm80.h"
#include "kernels/tensor/launch_tensor.h"
#include "kernels/triangular/mend.h"
#include "kernels/triangular/triangular.h"

#include <string.h>

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
    static tb_module module_##stem = {.name = #stem};                                                        \
    static tb_entry entries_##stem[] = {                                                                     \
        {&module_##stem, #stem "_nn", shared, NULL, 0, false},                                               \
        {&module_##stem, #stem "_nt", shared, NULL, 0, false},                                               \
        {&module_##stem, #stem "_tn", shared, NULL, 0, false},                                               \
        {&module_##stem, #stem "_tt", shared, NULL, 0, false},                                               \
    };

TB_LADDER_FILES
TB_KERNEL_FILE(naive, 0)
TB_KERNEL_FILE(tiled, 0)
TB_KERNEL_FILE(dgemm_naive, 0)

#define TB_SIMT_SHAPE(...) TB_SIMT_STAMP(TB_SIMT_FILE, __VA_ARGS__)
#include "kernels/simt/shapes.def"
#undef TB_SIMT_SHAPE

static tb_module module_sgemm_simt_reduce = {.name = "sgemm_simt_reduce"};
tb_entry tb_entry_simt_reduce = {&module_sgemm_simt_reduce, "sgemm_simt_reduce", 0, NULL, 0, TB_EARLY};

/* For C with a short side: entries as TB_SKINNY_ENTRY orders them. */
static tb_module module_sgemm_skinny = {.name = "sgemm_skinny"};
static tb_module module_dgemm_skinny = {.name = "dgemm_skinny"};
static tb_module module_sgemm_skinny_reduce = {.name = "sgemm_skinny_reduce"};
static tb_module module_dgemm_skinny_reduce = {.name = "dgemm_skinny_reduce"};
tb_entry tb_entry_skinny_reduce[] = {
    [TB_FP32] = {&module_sgemm_skinny_reduce, "sgemm_skinny_reduce", 0, NULL, 0, TB_EARLY},
    [TB_FP64] = {&module_dgemm_skinny_reduce, "dgemm_skinny_reduce", 0, NULL, 0, TB_EARLY},
};
#define TB_SKINNY_ENTRY_OF(stem, what, bytes, extent)                                                        \
    {                                                                                                        \
        &module_##stem, #stem what "_" #extent, TB_SKINNY_SHARED_BYTES(bytes, extent, 90), NULL, 0, TB_EARLY \
    }
#define TB_SKINNY_ENTRIES(stem, what, bytes)                                                                 \
    TB_SKINNY_ENTRY_OF(stem, what, bytes, 1), TB_SKINNY_ENTRY_OF(stem, what, bytes, 2),                      \
        TB_SKINNY_ENTRY_OF(stem, what, bytes, 4), TB_SKINNY_ENTRY_OF(stem, what, bytes, 8)
#define TB_SKINNY_ENTRIES_OF_FLOATS(what)                                                                    \
    TB_SKINNY_ENTRIES(sgemm_skinny, what, 4), TB_SKINNY_ENTRY_OF(sgemm_skinny, what, 4, 16)
static tb_entry entries_sgemm_skinny[] = {TB_SKINNY_ENTRIES_OF_FLOATS("_outer"),
                                          TB_SKINNY_ENTRIES_OF_FLOATS("_outer_vector"),
                                          TB_SKINNY_ENTRIES_OF_FLOATS("_k")};
static tb_entry entries_dgemm_skinny[] = {TB_SKINNY_ENTRIES(dgemm_skinny, "_outer", 8),
                                          TB_SKINNY_ENTRIES(dgemm_skinny, "_outer_vector", 8),
                                          TB_SKINNY_ENTRIES(dgemm_skinny, "_k", 8)};

/* Writing operands out. */
static tb_module module_expand_fp32 = {.name = "expand_fp32"};
static tb_module module_expand_fp64 = {.name = "expand_fp64"};
tb_entry tb_entries_expand[TB_ELEMENTS][2] = {
    [TB_FP32] = {{&module_expand_fp32, "expand_fp32", 0, NULL, 0, TB_EARLY},
                 {&module_expand_fp32, "expand_fp32_vector", 0, NULL, 0, TB_EARLY}},
    [TB_FP64] = {{&module_expand_fp64, "expand_fp64", 0, NULL, 0, TB_EARLY},
                 {&module_expand_fp64, "expand_fp64_vector", 0, NULL, 0, TB_EARLY}},
    [TB_COMPLEX_FP32] = {{&module_expand_fp32, "expand_fp32_complex", 0, NULL, 0, TB_EARLY},
                         {&module_expand_fp32, "expand_fp32_complex_vector", 0, NULL, 0, TB_EARLY}},
    [TB_COMPLEX_FP64] = {{&module_expand_fp64, "expand_fp64_complex", 0, NULL, 0, TB_EARLY}},
};
tb_entry tb_entries_expand_batch[TB_ELEMENTS][2] = {
    [TB_COMPLEX_FP32] = {{&module_expand_fp32, "expand_fp32_complex_batch", 0, NULL, 0, TB_EARLY},
                         {&module_expand_fp32, "expand_fp32_complex_batch_vector", 0, NULL, 0, TB_EARLY}},
    [TB_COMPLEX_FP64] = {{&module_expand_fp64, "expand_fp64_complex_batch", 0, NULL, 0, TB_EARLY}},
};

/* Triangular solves, and products in one launch: what is theirs alone is the small triangles. */
static tb_module module_triangular_fp32 = {.name = "triangular_fp32"};
static tb_module module_triangular_fp64 = {.name = "triangular_fp64"};
#define TB_TRIANGULAR_ENTRY(module, stem, bytes)                                                             \
    static tb_entry entries_##stem[] = {                                                                     \
        {&module, #stem "_block", TB_TRIANGULAR_SHARED_BYTES(bytes), NULL, 0, TB_EARLY}};
#define TB_SOLVE_ENTRY(module, stem, bytes)                                                                  \
    static tb_entry entries_##stem[] = {                                                                     \
        {&module, #stem "_block", TB_SOLVE_SHARED_BYTES(bytes), NULL, 0, TB_EARLY}};
#define TB_TRIANGULAR_ROW(name_, stem, element_, bytes, in_place_, accuracy_, panels, how, words)            \
    {                                                                                                        \
        .name = name_, .summary = words, .element = element_, .architecture = 75,                            \
        .tile_m = (panels)*TB_TRIANGULAR_ROWS(bytes), .tile_n = TB_TRIANGULAR_COLUMNS * TB_TRIANGULAR_WARPS, \
        .tile_k = 1, .threads = (in_place_) == TB_SOLVES ? TB_SOLVE_THREADS : TB_TRIANGULAR_THREADS,         \
        .shared_bytes =                                                                                      \
            (in_place_) == TB_SOLVES ? TB_SOLVE_SHARED_BYTES(bytes) : TB_TRIANGULAR_SHARED_BYTES(bytes),     \
        .efficiency = 0.5, .blocks = (in_place_) == TB_SOLVES ? TB_SOLVE_BLOCKS : TB_TRIANGULAR_BLOCKS,      \
        .alignment = 1, .structured = true, .in_place = in_place_, .accuracy = accuracy_,                    \
        .entries = entries_##stem, .prepare = tb_##how##_prepare, .launch = tb_launch_##how,                 \
    }
#define TB_BLOCKED_ROW(letter, element, bytes, accuracy, suffix, words)                                      \
    TB_TRIANGULAR_ROW(#letter "trsm_blocked" suffix, letter##trsm, element, bytes, TB_SOLVES, accuracy,      \
                      TB_TRIANGULAR_PANELS_SOLVED, triangular,                                               \
                      "substitution in a triangle, by halves" words)
#define TB_TRIANGULAR_ROWS_OF(letter, element, bytes)                                                        \
    TB_TRIANGULAR_ROW(#letter "trmm_block", letter##trmm, element, bytes, TB_MULTIPLIES, TB_ACCURACY_IEEE,   \
                      1, triangle, "a triangle times C, in one launch"),                                     \
        TB_TRIANGULAR_ROW(#letter "trsm_block", letter##trsm, element, bytes, TB_SOLVES, TB_ACCURACY_IEEE,   \
                          1, triangle, "substitution in a triangle, in one launch"),                         \
        TB_EXPANDED_ROW(letter, element, TB_ACCURACY_IEEE, "", ""),                                          \
        TB_BLOCKED_ROW(letter, element, bytes, TB_ACCURACY_IEEE, "", "")
#define TB_TENSOR_TRIANGULAR_ROWS_OF(letter, element, bytes)                                                 \
    TB_EXPANDED_ROW(letter, element, TB_ACCURACY_FP32, "_tensor", ", on tensor cores"),                      \
        TB_BLOCKED_ROW(letter, element, bytes, TB_ACCURACY_FP32, "_tensor", ", products on tensor cores")
TB_TRIANGULAR_ENTRY(module_triangular_fp32, strmm, 4)
TB_SOLVE_ENTRY(module_triangular_fp32, strsm, 4)
TB_TRIANGULAR_ENTRY(module_triangular_fp64, dtrmm, 8)
TB_SOLVE_ENTRY(module_triangular_fp64, dtrsm, 8)
TB_TRIANGULAR_ENTRY(module_triangular_fp32, ctrmm, 8)
TB_SOLVE_ENTRY(module_triangular_fp32, ctrsm, 8)
TB_TRIANGULAR_ENTRY(module_triangular_fp64, ztrmm, 16)
TB_SOLVE_ENTRY(module_triangular_fp64, ztrsm, 16)

/* Triangular products as plain ones: what is theirs alone is what those leave to be mended. */
static tb_module module_trmm_mend = {.name = "trmm_mend"};
#define TB_MEND_ENTRY(letter)                                                                                \
    static tb_entry entries_##letter##trmm_mend[] = {                                                        \
        {&module_trmm_mend, #letter "trmm_mend", 0, NULL, 0, TB_EARLY}};
TB_MEND_ENTRY(s)
TB_MEND_ENTRY(d)
TB_MEND_ENTRY(c)
TB_MEND_ENTRY(z)
#define TB_EXPANDED_ROW(letter, element_, accuracy_, suffix, words)                                          \
    {                                                                                                        \
        .name = #letter "trmm_expanded" suffix,                                                              \
        .summary = "a triangle times C, written out as one product" words, .element = element_,              \
        .architecture = 75, .tile_m = 128, .tile_n = 128, .tile_k = 1, .threads = TB_MEND_THREADS,           \
        .efficiency = 0.5, .blocks = 4, .alignment = 1, .structured = true, .in_place = TB_MULTIPLIES,       \
        .accuracy = accuracy_, .entries = entries_##letter##trmm_mend, .prepare = tb_multiplied_prepare,     \
        .launch = tb_launch_multiplied,                                                                      \
    }

/* For products that are not plain: an entry serves every transposition. Their efficiency is naive's, not measured. */
static tb_module module_structured = {.name = "structured"};
#define TB_STRUCTURED_ENTRY(stem)                                                                            \
    static tb_entry entries_##stem[] = {{&module_structured, #stem, 0, NULL, 0, false}};
TB_STRUCTURED_ENTRY(sgemm_structured)
TB_STRUCTURED_ENTRY(dgemm_structured)
TB_STRUCTURED_ENTRY(cgemm_structured)
TB_STRUCTURED_ENTRY(zgemm_structured)

#define TB_STRUCTURED_ROW(stem, element_, words)                                                             \
    {                                                                                                        \
        .name = #stem, .summary = words ", operands read as they lie, one thread per element of C",          \
        .element = element_, .architecture = 75, .tile_m = TB_STRUCTURED_TILE_M,                             \
        .tile_n = TB_STRUCTURED_TILE_N, .tile_k = 1, .threads = TB_STRUCTURED_THREADS, .efficiency = 0.02,   \
        .blocks = TB_STRUCTURED_BLOCKS, .alignment = 1, .masks = true, .batches = true, .structured = true,  \
        .entries = entries_##stem, .launch = tb_launch_structured,                                           \
    }

/* The tile stands for the shapes that blocks have: see skinny.h. Chosen where reading the long operand takes long: from 16 MiB
 * on. */
#define TB_SKINNY_ROW(stem, element_, bytes, widest)                                                         \
    {                                                                                                        \
        .name = #stem, .summary = "C with a side of at most " #widest ", the long operand read once",        \
        .architecture = 75, .tile_m = 128, .tile_n = widest, .tile_k = 32,                                   \
        .threads = 32 * TB_SKINNY_WARPS(bytes, widest), .element = element_, .efficiency = 0.5,              \
        .blocks = TB_SKINNY_BLOCKS, .alignment = 1, .short_side = widest,                                    \
        .least_elements = 4 * TB_LONG_ELEMENTS / (bytes), .entries = entries_##stem,                         \
        .prepare = tb_skinny_prepare, .launch = tb_launch_skinny,                                            \
    }

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

static tb_module module_sgemm_bf16x6_sm90 = {.name = "sgemm_bf16x6_sm90"};
static tb_module module_sgemm_fp16x3_sm90 = {.name = "sgemm_fp16x3_sm90"};
static tb_module module_sgemm_split_sm90 = {.name = "sgemm_split_sm90"};
static tb_entry entries_split_sm90[] = {
    TB_SPLIT_ENTRIES(module_sgemm_split_sm90, "sgemm_split_sm90", TB_SPLIT_MIXED_ROW_BYTES),
    [TB_SPLIT_FIND_LARGEST] = {&module_sgemm_split_sm90, "sgemm_split_sm90_survey", 0, NULL, 0, true}};
static tb_entry entries_bf16_sm90[] = {
    TB_SPLIT_ENTRIES(module_sgemm_bf16x6_sm90, "sgemm_bf16x6_sm90", TB_SPLIT_BF16_ROW_BYTES)};
static tb_entry entries_fp16_sm90[] = {
    TB_SPLIT_ENTRIES(module_sgemm_fp16x3_sm90, "sgemm_fp16x3_sm90", TB_SPLIT_FP16_ROW_BYTES),
    [TB_SPLIT_FIND_LARGEST] = {&module_sgemm_fp16x3_sm90, "sgemm_fp16x3_sm90_largest", 0, NULL, 0, true}};

static tb_module module_sgemm_bf16x6_sm80 = {.name = "sgemm_bf16x6_sm80"};
static tb_entry entries_sgemm_bf16x6_sm80[] = {
    [TB_SPLIT_BEGIN] = {&module_sgemm_bf16x6_sm80, "sgemm_bf16x6_sm80_begin", 0, NULL, 0, false},
    [TB_SPLIT_SPLIT] = {&module_sgemm_bf16x6_sm80, "sgemm_bf16x6_sm80_split", 0, NULL, 0, false},
    [TB_SPLIT_SM80_MULTIPLY] = {&module_sgemm_bf16x6_sm80, "sgemm_bf16x6_sm80_128x128",
                                TB_SPLIT_SM80_RING_BYTES, NULL, 0, false},
};

/* FP64 on tensor cores: unaligned and aligned, four transpositions each. */
#define TB_DGEMM_ENTRIES_OF(stem, suffix, shared)                                                            \
    {&module_##stem, #stem "_nn" suffix, shared, NULL, 0, true},                                             \
        {&module_##stem, #stem "_nt" suffix, shared, NULL, 0, true},                                         \
        {&module_##stem, #stem "_tn" suffix, shared, NULL, 0, true},                                         \
        {&module_##stem, #stem "_tt" suffix, shared, NULL, 0, true},
#define TB_DGEMM_ENTRIES(stem, shared)                                                                       \
    static tb_module module_##stem = {.name = #stem};                                                        \
    static tb_entry entries_##stem[] = {TB_DGEMM_ENTRIES_OF(stem, "", shared)                                \
                                            TB_DGEMM_ENTRIES_OF(stem, "_vector", shared)};
#define TB_DGEMM_SHAPE(name, tile_m, tile_n, tile_k, warps_m, warps_n, slices, copying, stages, ...)         \
    TB_DGEMM_ENTRIES(dgemm_mma_##name, stages *TB_DGEMM_STAGE_BYTES(tile_m, tile_n, tile_k, copying) +       \
                                           TB_DGEMM_BYTES_BEHIND(copying))
#include "kernels/fp64/shapes.def"
#undef TB_DGEMM_SHAPE

/* Of complex numbers that are read where they lie: four transpositions. */
#define TB_ZGEMM_SHAPE(name_, tile_m, tile_n, tile_k, warps_m, warps_n, slices, stages, ...)                 \
    static tb_module module_zgemm_mma_##name_ = {.name = "zgemm_mma_" #name_};                               \
    static tb_entry entries_zgemm_mma_##name_[] = {                                                          \
        TB_DGEMM_ENTRIES_OF(zgemm_mma_##name_, "", TB_ZGEMM_SHARED_BYTES(tile_m, tile_n, tile_k, stages))};
#define TB_ZGEMM_SHARED_BYTES(tile_m, tile_n, tile_k, stages)                                                \
    ((stages)*TB_ZGEMM_STAGE_BYTES(tile_m, tile_n, tile_k) + TB_DGEMM_WORK_BYTES)
#include "kernels/fp64/shapes_complex.def"
#undef TB_ZGEMM_SHAPE

static tb_module module_dgemm_mma_reduce = {.name = "dgemm_mma_reduce"};
tb_entry tb_entry_dgemm_mma_reduce = {&module_dgemm_mma_reduce, "dgemm_mma_reduce", 0, NULL, 0, true};

/* FP64 from INT8. */
#define TB_CRT_FILE(stem, ring_bytes, early)                                                                 \
    static tb_module module_##stem = {.name = #stem};                                                        \
    static tb_entry entries_##stem[] = {                                                                     \
        [TB_CRT_SURVEY] = {&module_##stem, #stem "_survey", 0, NULL, 0, early},                              \
        [TB_CRT_GATHER] = {&module_##stem, #stem "_gather", 0, NULL, 0, early},                              \
        [TB_CRT_DECIDE] = {&module_##stem, #stem "_decide", 0, NULL, 0, early},                              \
        [TB_CRT_RESIDUES] = {&module_##stem, #stem "_residues", 0, NULL, 0, early},                          \
        [TB_CRT_MULTIPLY] = {&module_##stem, #stem "_multiply", ring_bytes, NULL, 0, early},                 \
        [TB_CRT_JOIN] = {&module_##stem, #stem "_join", 0, NULL, 0, early},                                  \
        [TB_CRT_RESIDUES_OF_PAIRS] = {&module_##stem, #stem "_residues_of_pairs", 0, NULL, 0, early},        \
        [TB_CRT_MULTIPLY_PAIRS] = {&module_##stem, #stem "_multiply_pairs", ring_bytes, NULL, 0, early},     \
    };
TB_CRT_FILE(dgemm_crt_sm90, TB_CRT_SM90_RING_BYTES, true)
TB_CRT_FILE(dgemm_crt_sm80, TB_CRT_SM80_RING_BYTES, TB_EARLY)
TB_CRT_FILE(dgemm_crt_sm75, TB_CRT_SM75_RING_BYTES, false)

#define TB_CRT_ROW(row, words, first, end, chosen_end_, tile_n_, threads_, ring_bytes, efficiency_, blocks_) \
    {                                                                                                        \
        .name = "dgemm_crt_" #row,                                                                           \
        .summary = words " by the Chinese remainder theorem, FP64 where numbers differ too much",            \
        .architecture = first,                                                                               \
        .architecture_end = end,                                                                             \
        .chosen_end = chosen_end_,                                                                           \
        .tile_m = TB_CRT_TILE_M,                                                                             \
        .tile_n = tile_n_,                                                                                   \
        .tile_k = TB_CRT_STAGE_K,                                                                            \
        .threads = threads_,                                                                                 \
        .shared_bytes = ring_bytes,                                                                          \
        .element = TB_FP64,                                                                                  \
        .efficiency = efficiency_,                                                                           \
        .blocks = blocks_,                                                                                   \
        .alignment = 1,                                                                                      \
        .masks = true,                                                                                       \
        .k_limit = TB_CRT_K_MOST,                                                                            \
        .accuracy = TB_ACCURACY_FP32,                                                                        \
        .least_extent = 1024,                                                                                \
        .entries = entries_dgemm_crt_##row,                                                                  \
        .prepare = tb_crt_##row##_prepare,                                                                   \
        .launch = tb_launch_crt_##row,                                                                       \
    },

/* Multiprocessors of 8.x other than 8.0 do FP64 at a 32nd of its rate. */
#define TB_DGEMM_FIELDS(name_, letter, m, n, k, warps_m, warps_n, slices_, copying, ring_bytes, blocks_,     \
                        totals, first, efficiency_)                                                          \
    .name = #letter "gemm_mma_" #name_, .architecture = first, .architecture_end = 100, .major_only = true,  \
    .tile_m = m, .tile_n = n, .tile_k = k, .threads = TB_DGEMM_THREADS(warps_m, warps_n, slices_, copying),  \
    .shares_tiles = TB_DGEMM_SHARES_TILES(m, n, copying, ring_bytes), .chains_in_c = !(totals),              \
    .chain_roots = TB_DGEMM_CHAIN_ROOTS(slices_, copying, totals),                                           \
    .shared_bytes = (ring_bytes) + TB_DGEMM_BYTES_BEHIND(copying), .efficiency = efficiency_,                \
    .blocks = blocks_, .masks = true, .batches = true, .entries = entries_##letter##gemm_mma_##name_,        \
    .prepare = tb_##letter##gemm_mma_prepare, .launch = tb_launch_##letter##gemm_mma
#define TB_DGEMM_ROW(name_, m, n, k, warps_m, warps_n, slices_, copying, stages_, blocks_, through_l1,       \
                     totals, first, efficiency_)                                                             \
    {                                                                                                        \
        .summary = "FP64 tensor cores, " #name_ " tiles, k in stages of " #k ", " #stages_ " stages",        \
        .element = TB_FP64,                                                                                  \
        .alignment = 1,                                                                                      \
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
        .structured = true,                                                                                  \
        .numbers = true,                                                                                     \
        TB_DGEMM_FIELDS(name_, z, m, n, k, warps_m, warps_n, slices_, 0,                                     \
                        stages_ * TB_ZGEMM_STAGE_BYTES(m, n, k), blocks_, totals, first, efficiency_),       \
    },

#define TB_SPLIT_ROW(family, words, entries_, row_bytes, accuracy_, efficiency_, forced_only_)               \
    {                                                                                                        \
        .name = "sgemm_" #family "_sm90", .summary = words, .architecture = 90, .architecture_end = 100,     \
        .tile_m = TB_SPLIT_TILE_M, .tile_n = TB_SPLIT_WIDE, .tile_k = TB_SPLIT_STAGE_K,                      \
        .threads = TB_SPLIT_THREADS, .shared_bytes = TB_SPLIT_RING_BYTES(row_bytes, TB_SPLIT_WIDE),          \
        .efficiency = efficiency_, .blocks = 1, .alignment = 1, .masks = true, .accuracy = accuracy_,        \
        .least_extent = 128, .forced_only = forced_only_, .entries = entries_,                               \
        .prepare = tb_##family##_prepare, .launch = tb_launch_##family,                                      \
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
        .masks = true,
        .entries = entries_naive,
        .launch = tb_launch_tiles,
    },
    {
        .name = "dgemm_naive",
        .summary = "FP64, one thread per element of C",
        .element = TB_FP64,
        .architecture = 75,
        .tile_m = 32,
        .tile_n = 8,
        .tile_k = 1,
        .threads = 256,
        .efficiency = 0.02, /* as naive's: twice the bytes for half the arithmetic; not measured */
        .blocks = 8,
        .alignment = 1,
        .masks = true,
        .entries = entries_dgemm_naive,
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
#define TB_SIMT_SHAPE(...) TB_SIMT_STAMP(TB_SIMT_ROW, __VA_ARGS__)
#include "kernels/simt/shapes.def"
#undef TB_SIMT_SHAPE
    TB_SKINNY_ROW(sgemm_skinny, TB_FP32, 4, 16),
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
        .masks = true,
        .least_extent = 256,
        .entries = entries_sgemm_bf16x6_sm80,
        .prepare = tb_split_sm80_prepare,
        .launch = tb_launch_split_sm80,
    },
#define TB_DGEMM_SHAPE TB_DGEMM_ROW
#include "kernels/fp64/shapes.def"
#undef TB_DGEMM_SHAPE
    TB_SKINNY_ROW(dgemm_skinny, TB_FP64, 8, 8),
    TB_CRT_ROW(sm75, "INT8 tensor cores of Turing", 75, 0, 80, TB_CRT_MMA_TILE_N, TB_CRT_CONSUMERS,
               TB_CRT_SM75_RING_BYTES, 1, TB_CRT_MMA_BLOCKS)
        TB_CRT_ROW(sm80, "INT8 tensor cores of sm_80", 80, 0, 0, TB_CRT_MMA_TILE_N, TB_CRT_CONSUMERS,
                   TB_CRT_SM80_RING_BYTES, 1, TB_CRT_MMA_BLOCKS)
            TB_CRT_ROW(sm90, "INT8 tensor cores of Hopper", 90, 100, 0, TB_CRT_SM90_TILE_N,
                       TB_CRT_SM90_THREADS, TB_CRT_SM90_RING_BYTES, 1.4, 1)
                TB_SPLIT_ROW(fp16x3, "FP16 tensor cores, each FP32 scaled and split in two, three products",
                             entries_fp16_sm90, TB_SPLIT_FP16_ROW_BYTES, TB_ACCURACY_FAST, 4, false),
    TB_SPLIT_ROW(bf16x9, "BF16 tensor cores, each FP32 split in three, all nine products", entries_bf16_sm90,
                 TB_SPLIT_BF16_ROW_BYTES, TB_ACCURACY_FP32, 1.55, true),
    TB_SPLIT_ROW(bf16x6, "BF16 tensor cores, each FP32 split in three, six products", entries_bf16_sm90,
                 TB_SPLIT_BF16_ROW_BYTES, TB_ACCURACY_FP32, 2.3, false),
    TB_SPLIT_ROW(split, "FP16 and FP8 tensor cores where the operands' range allows, else sgemm_bf16x6_sm90",
                 entries_split_sm90, TB_SPLIT_MIXED_ROW_BYTES, TB_ACCURACY_FP32, 2.7, false),
    TB_STRUCTURED_ROW(sgemm_structured, TB_FP32, "FP32"),
    TB_STRUCTURED_ROW(dgemm_structured, TB_FP64, "FP64"),
    TB_STRUCTURED_ROW(cgemm_structured, TB_COMPLEX_FP32, "complex FP32"),
    TB_STRUCTURED_ROW(zgemm_structured, TB_COMPLEX_FP64, "complex FP64"),
#define TB_ZGEMM_SHAPE TB_ZGEMM_ROW
#include "kernels/fp64/shapes_complex.def"
#undef TB_ZGEMM_SHAPE
    TB_TRIANGULAR_ROWS_OF(s, TB_FP32, 4),
    TB_TENSOR_TRIANGULAR_ROWS_OF(s, TB_FP32, 4),
    TB_TRIANGULAR_ROWS_OF(d, TB_FP64, 8),
    TB_TRIANGULAR_ROWS_OF(c, TB_COMPLEX_FP32, 8),
    TB_TENSOR_TRIANGULAR_ROWS_OF(c, TB_COMPLEX_FP32, 8),
    TB_TRIANGULAR_ROWS_OF(z, TB_COMPLEX_FP64, 16)};

const size_t tb_catalog_size = sizeof tb_catalog / sizeof tb_catalog[0];

const tb_kernel *tb_find_kernel(const char *name)
{
    for (size_t row = 0; row < tb_catalog_size; row++)
        if (strcmp(tb_catalog[row].name, name) == 0)
            return &tb_catalog[row];
    return NULL;
}
