#include "kernels/built_code.h"
#include "kernels/fold/fold.h"
#include "kernels/launch.h"
#include "words/integers.h"

static tb_module module_fold = {.name = "fold"};
tb_entry tb_entries_fold[TB_ELEMENTS] = {
    [TB_FP32] = {&module_fold, "fold_fp32", 0, NULL, 0, TB_EARLY},
    [TB_FP64] = {&module_fold, "fold_fp64", 0, NULL, 0, TB_EARLY},
    [TB_COMPLEX_FP32] = {&module_fold, "fold_fp32_complex", 0, NULL, 0, TB_EARLY},
    [TB_COMPLEX_FP64] = {&module_fold, "fold_fp64_complex", 0, NULL, 0, TB_EARLY},
};

tb_status tb_launch_fold(const tb_launcher *launcher, const tb_folding *folding)
{
    const tb_matrix *sums = &folding->sums;
    const tb_operand *c = &folding->c;
    const tb_fold arguments = {.sums = sums->data,
                               .c = c->data,
                               .n = c->rows,
                               .ld_sums = sums->ld,
                               .ldc = c->ld,
                               .beta_re = folding->beta.re,
                               .beta_im = folding->beta.im,
                               .c_whole = (uintptr_t)c->data % tb_bytes_of(c->element) == 0,
                               .upper = folding->mask == TB_UPPER,
                               .hermitian = c->structure == TB_HERMITIAN};
    const int64_t lines = tb_ceil_div(c->rows, TB_FOLD_TILE);
    if (lines == 0)
        return TB_OK;
    if (lines > TB_BLOCKS_MAXIMUM / (lines + 1))
        return TB_UNSUPPORTED;
    return launcher->launch(launcher, &tb_entries_fold[c->element], lines * (lines + 1) / 2, TB_FOLD_THREADS,
                            0, &arguments);
}
