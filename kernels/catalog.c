/* The catalog: for each file of device code its module and its entries, then the rows. What a family's
 * entries and rows are stamped from is a header beside the family: <family>_rows.h, shapes.h, ladder.h.
 */
#include "kernels/catalog.h"

#include "kernels/built_code.h"
#include "kernels/crt/crt_rows.h"
#include "kernels/fp64/dgemm_rows.h"
#include "kernels/launch.h"
#include "kernels/simt/shapes.h"
#include "kernels/simt/skinny_rows.h"
#include "kernels/structured/structured_rows.h"
#include "kernels/tensor/launch_split_sm80.h"
#include "kernels/tensor/split_rows.h"
#include "kernels/triangular/triangular_rows.h"

#ifdef TB_WITH_LADDER
#include "kernels/ladder/ladder.h"
#endif

#include <string.h>

/* A source file's device code and its four functions <stem>_nn, _nt, _tn and _tt. */
#define TB_KERNEL_FILE(stem, shared)                                                                         \
    static tb_module module_##stem = {.name = #stem};                                                        \
    static tb_entry entries_##stem[] = {                                                                     \
        {&module_##stem, #stem "_nn", shared, NULL, 0, false},                                               \
        {&module_##stem, #stem "_nt", shared, NULL, 0, false},                                               \
        {&module_##stem, #stem "_tn", shared, NULL, 0, false},                                               \
        {&module_##stem, #stem "_tt", shared, NULL, 0, false},                                               \
    };

#ifdef TB_WITH_LADDER
TB_LADDER_FILES
#endif
TB_KERNEL_FILE(naive, 0)
TB_KERNEL_FILE(tiled, 0)
TB_KERNEL_FILE(dgemm_naive, 0)

#define TB_SIMT_SHAPE(...) TB_SIMT_STAMP(TB_SIMT_FILE, __VA_ARGS__)
#include "kernels/simt/shapes.def"
#undef TB_SIMT_SHAPE

/* These serve C with a short side: entries as TB_SKINNY_ENTRY orders them. */
static tb_module module_sgemm_skinny = {.name = "sgemm_skinny"};
static tb_module module_dgemm_skinny = {.name = "dgemm_skinny"};
static tb_entry entries_sgemm_skinny[] = {TB_SKINNY_ENTRIES_OF_FLOATS("_outer"),
                                          TB_SKINNY_ENTRIES_OF_FLOATS("_outer_vector"),
                                          TB_SKINNY_ENTRIES_OF_FLOATS("_k")};
static tb_entry entries_dgemm_skinny[] = {TB_SKINNY_ENTRIES(dgemm_skinny, "_outer", 8),
                                          TB_SKINNY_ENTRIES(dgemm_skinny, "_outer_vector", 8),
                                          TB_SKINNY_ENTRIES(dgemm_skinny, "_k", 8)};

/* Triangular solves, and products in one launch: what is theirs alone is the small triangles. */
static tb_module module_triangular_fp32 = {.name = "triangular_fp32"};
static tb_module module_triangular_fp64 = {.name = "triangular_fp64"};
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
TB_MEND_ENTRY(s)
TB_MEND_ENTRY(d)
TB_MEND_ENTRY(c)
TB_MEND_ENTRY(z)

/* These serve products that are not plain. */
static tb_module module_structured = {.name = "structured"};
TB_STRUCTURED_ENTRY(sgemm_structured)
TB_STRUCTURED_ENTRY(dgemm_structured)
TB_STRUCTURED_ENTRY(cgemm_structured)
TB_STRUCTURED_ENTRY(zgemm_structured)

/* The tensor-core families. */
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

#define TB_DGEMM_SHAPE(...) TB_DGEMM_BY_NAMES(TB_DGEMM_FILE, __VA_ARGS__)
#include "kernels/fp64/shapes.def"
#undef TB_DGEMM_SHAPE
#define TB_ZGEMM_SHAPE(...) TB_ZGEMM_BY_NAMES(TB_ZGEMM_FILE, __VA_ARGS__)
#include "kernels/fp64/shapes_complex.def"
#undef TB_ZGEMM_SHAPE

/* FP64 from INT8. */
TB_CRT_FILE(dgemm_crt_sm90, TB_CRT_SM90_RING_BYTES, true)
TB_CRT_FILE(dgemm_crt_sm80, TB_CRT_SM80_RING_BYTES, TB_EARLY)
TB_CRT_FILE(dgemm_crt_sm75, TB_CRT_SM75_RING_BYTES, false)

const tb_kernel tb_catalog[] = {
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
#define TB_DGEMM_SHAPE(...) TB_DGEMM_BY_NAMES(TB_DGEMM_ROW, __VA_ARGS__)
#include "kernels/fp64/shapes.def"
#undef TB_DGEMM_SHAPE
    TB_SKINNY_ROW(dgemm_skinny, TB_FP64, 8, 8),
    TB_CRT_ROW(sm75, "INT8 tensor cores of Turing", 75, 0, 80, TB_CRT_MMA_TILE_N, TB_CRT_CONSUMERS,
               TB_CRT_SM75_RING_BYTES, 1, TB_CRT_MMA_BLOCKS),
    TB_CRT_ROW(sm80, "INT8 tensor cores of sm_80", 80, 0, 0, TB_CRT_MMA_TILE_N, TB_CRT_CONSUMERS,
               TB_CRT_SM80_RING_BYTES, 1, TB_CRT_MMA_BLOCKS),
    TB_CRT_ROW(sm90, "INT8 tensor cores of Hopper", 90, 100, 0, TB_CRT_SM90_TILE_N, TB_CRT_SM90_THREADS,
               TB_CRT_SM90_RING_BYTES, 1.4, 1),
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
#define TB_ZGEMM_SHAPE(...) TB_ZGEMM_BY_NAMES(TB_ZGEMM_ROW, __VA_ARGS__)
#include "kernels/fp64/shapes_complex.def"
#undef TB_ZGEMM_SHAPE
    TB_TRIANGULAR_ROWS_OF(s, TB_FP32, 4),
    TB_TENSOR_TRIANGULAR_ROWS_OF(s, TB_FP32, 4),
    TB_TRIANGULAR_ROWS_OF(d, TB_FP64, 8),
    TB_TRIANGULAR_ROWS_OF(c, TB_COMPLEX_FP32, 8),
    TB_TENSOR_TRIANGULAR_ROWS_OF(c, TB_COMPLEX_FP32, 8),
    TB_TRIANGULAR_ROWS_OF(z, TB_COMPLEX_FP64, 16),
#ifdef TB_WITH_LADDER
    TB_LADDER_ROWS,
#endif
    {.name = NULL} /* the end, for tb_kernel.others */
};

const size_t tb_catalog_size = sizeof tb_catalog / sizeof tb_catalog[0] - 1;

const tb_kernel *tb_find_kernel(const char *name)
{
    for (size_t row = 0; row < tb_catalog_size; row++)
        if (strcmp(tb_catalog[row].name, name) == 0)
            return &tb_catalog[row];
    return NULL;
}

const tb_kernel *tb_any_row(tb_element element)
{
    return tb_find_kernel(element == TB_FP64 ? "dgemm_naive" : "naive");
}
