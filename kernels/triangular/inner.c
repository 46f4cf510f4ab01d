#include "kernels/triangular/inner.h"

#include "kernels/catalog.h"
#include "kernels/forecast.h"
#include "words/integers.h"

enum { WORKSPACE_ALIGNMENT = 256, LINE_BYTES = 128 };

void tb_place_operand(tb_inner *inner, tb_role role, void *workspace)
{
    tb_matrix *operand = &inner->product.operands[role].matrix;
    operand->ld = tb_round_up(operand->rows, LINE_BYTES / (int64_t)tb_bytes_of(operand->element));
    operand->data = workspace ? (char *)workspace + inner->own : NULL;
    inner->own += (tb_pitch(operand) * (size_t)operand->columns + WORKSPACE_ALIGNMENT - 1) /
                  WORKSPACE_ALIGNMENT * WORKSPACE_ALIGNMENT;
}

tb_inner tb_lower_step(const tb_product *step, void *workspace)
{
    tb_inner inner = {.product = tb_lowered(step)};
    for (tb_role role = TB_A; role <= TB_B; role++)
        if (inner.product.expanded[role].from > 0)
            tb_place_operand(&inner, role, workspace);
    return inner;
}

/* Rows without a forecast of their own are not asked: they are slow, or ask for an alignment. */
static bool may_compute(const tb_kernel *kernel, const tb_product *product, tb_accuracy accuracy,
                        int architecture)
{
    return kernel->prepare && kernel->reads == TB_READS_PLAIN && kernel->element == tb_element_of(product) &&
           kernel->accuracy <= accuracy && kernel->alignment == 1 &&
           tb_kernel_runs_on(kernel, architecture) && tb_kernel_is_free_on(kernel, architecture) &&
           tb_kernel_suits(kernel, product) && (kernel->k_limit == 0 || product->k <= kernel->k_limit);
}

const tb_kernel *tb_choose_inner(const tb_product *product, tb_accuracy accuracy, tb_target target)
{
    const tb_kernel *best = NULL;
    double least = 0;
    for (size_t row = 0; row < tb_catalog_size; row++) {
        const tb_kernel *kernel = &tb_catalog[row];
        if (!may_compute(kernel, product, accuracy, target.architecture))
            continue;
        const double clocks = tb_prepare(kernel, product, target).clocks;
        if (!best || clocks <= least) {
            best = kernel;
            least = clocks;
        }
    }
    return best;
}

const tb_kernel *tb_any_row(tb_element element)
{
    return tb_find_kernel(element == TB_FP64 ? "dgemm_naive" : "naive");
}

void tb_complete_inner(tb_inner *inner, const tb_kernel *kernel, tb_target target)
{
    inner->kernel = kernel ? kernel : tb_any_row(tb_element_of(&inner->product));
    inner->schedule = tb_prepare(inner->kernel, &inner->product, target);
}

double tb_writing_clocks(double bytes, tb_target target)
{
    return TB_SECOND_LAUNCH_CLOCKS +
           bytes / (TB_BYTES_A_CLOCK * tb_memory_ratio(target)) / target.multiprocessors;
}

double tb_inner_clocks(const tb_inner *inner, tb_target target)
{
    const tb_kernel *kernel = inner->kernel;
    double clocks =
        TB_SECOND_LAUNCH_CLOCKS +
        (kernel->prepare ? inner->schedule.clocks : tb_row_clocks(kernel, &inner->product, target));
    for (tb_role role = TB_A; role <= TB_B; role++) {
        const tb_matrix *operand = &inner->product.operands[role].matrix;
        const double from = inner->product.expanded[role].from;
        if (from > 0)
            clocks += tb_writing_clocks((1 + from) * (double)tb_matrix_bytes(operand), target);
    }
    return clocks;
}

tb_status tb_launch_inner(const tb_launcher *launcher, const tb_product *step, const tb_inner *inner,
                          void *workspace)
{
    for (tb_role role = TB_A; role <= TB_B; role++)
        if (inner->product.expanded[role].from > 0) {
            const tb_expansion expansion = tb_expansion_of(step, &inner->product, role, 0);
            TB_TRY(tb_launch_expand(launcher, &expansion));
        }
    return inner->kernel->launch(launcher, inner->kernel, &inner->product, &inner->schedule,
                                 workspace ? (char *)workspace + inner->own : NULL);
}

tb_status tb_launch_zeros(const tb_launcher *launcher, const tb_product *product)
{
    const bool is_complex = tb_is_complex(tb_element_of(product));
    const tb_matrix c = is_complex ? tb_real_view(&product->c.matrix) : product->c.matrix;
    const tb_kernel *kernel = tb_any_row(c.element);
    const tb_product zeros = tb_gemm(tb_gemm_routine(c.element), false, false, c.rows, c.columns, 0, 0, NULL,
                                     c.rows, NULL, 1, 0, c.data, c.ld);
    const tb_schedule schedule = {.clocks = 0};
    return kernel->launch(launcher, kernel, &zeros, &schedule, NULL);
}
