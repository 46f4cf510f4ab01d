#include "kernels/built_code.h"
#include "kernels/expand/expand.h"
#include "kernels/launch.h"
#include "words/integers.h"

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

/* apart: of a batch's matrices, in elements. */
static bool is_aligned(const tb_matrix *matrix, int64_t apart, size_t bytes)
{
    const size_t stride = (size_t)apart * tb_bytes_of(matrix->element);
    return (uintptr_t)matrix->data % bytes == 0 && tb_pitch(matrix) % bytes == 0 && stride % bytes == 0;
}

tb_status tb_launch_expand(const tb_launcher *launcher, const tb_expansion *expansion)
{
    return tb_launch_noting_expand(launcher, expansion, false, NULL);
}

tb_status tb_launch_noting_expand(const tb_launcher *launcher, const tb_expansion *expansion, bool notes_rows,
                                  uint32_t *notes)
{
    const tb_operand *source = &expansion->source;
    const tb_matrix *target = &expansion->target;
    const size_t bytes = tb_bytes_of(source->element);
    const int64_t members = tb_count_of(&expansion->batch);
    const tb_batches batches = tb_batches_of(&expansion->batch);
    tb_expand arguments = {
        .source = source->data,
        .target = target->data,
        .rows = source->transposed ? source->columns : source->rows,
        .columns = source->transposed ? source->rows : source->columns,
        .source_ld = source->ld,
        .target_ld = target->ld,
        .diagonal = source->diagonal,
        .re = expansion->factor.re,
        .im = expansion->factor.im,
        .structure = (int32_t)source->structure,
        .stored = (int32_t)source->stored,
        .transposed = source->transposed,
        .conjugated = source->conjugated && tb_is_complex(source->element),
        .unit_diagonal = source->unit_diagonal,
        .embedded = expansion->embedded,
        .scaled = !tb_is_one(expansion->factor),
        .source_whole = is_aligned(&source->matrix, batches.strides[TB_A], bytes),
        .source_vector =
            is_aligned(&source->matrix, batches.strides[TB_A], TB_EXPAND_VECTOR_BYTES) && !source->transposed,
        .target_whole = is_aligned(target, batches.strides[TB_C], bytes),
        .notes_rows = notes_rows,
        .notes = notes,
        .batches = batches,
    };
    const bool vector =
        is_aligned(target, batches.strides[TB_C], TB_EXPAND_VECTOR_BYTES) && TB_EXPAND_VECTOR(bytes) > 1;
    const int64_t tiles_m = tb_ceil_div(arguments.rows, TB_EXPAND_TILE),
                  tiles_n = tb_ceil_div(arguments.columns, TB_EXPAND_TILE);
    if (tiles_m == 0 || tiles_n == 0)
        return TB_OK;
    if (tiles_m > TB_BLOCKS_MAXIMUM / tiles_n / members)
        return TB_UNSUPPORTED;
    if (members > 1 && !tb_is_complex(source->element))
        return TB_UNSUPPORTED;
    arguments.tiles = (int32_t)(tiles_m * tiles_n);
    tb_entry *entry = &(members > 1 ? tb_entries_expand_batch : tb_entries_expand)[source->element][vector];
    return launcher->launch(launcher, entry, tiles_m * tiles_n * members, TB_EXPAND_THREADS, 0, &arguments);
}
