/* The few questions that are asked of a row. */
#include "kernels/kernel.h"
#include "words/lowered.h"

bool tb_kernel_takes(const tb_kernel *kernel, const tb_product *product, tb_role role)
{
    const tb_matrix *operand = &product->operands[role].matrix;
    const tb_members *members = &product->batch.members[role];
    /* Complex numbers may begin wherever a real one may. */
    const size_t bytes = tb_bytes_of(tb_real_of(operand->element));
    const int64_t parts = tb_is_complex(operand->element) ? 2 : 1;
    /* Matrices that lie unevenly have a stride that all distances are multiples of, or 0 where that is less than an element. */
    const bool apart = !tb_is_batch(product) || (!members->uneven && members->stride == 0) ||
                       (members->stride != 0 && parts * members->stride % kernel->alignment == 0);
    return (uintptr_t)operand->data % ((size_t)kernel->alignment * bytes) == 0 &&
           parts * operand->ld % kernel->alignment == 0 && (apart || kernel->alignment == 1);
}

static bool reads_operands(const tb_kernel *kernel, const tb_product *product)
{
    switch (kernel->reads) {
    case TB_READS_PLAIN:
        return tb_is_plain(product);
    case TB_READS_STRUCTURED:
        return true;
    case TB_READS_COMPLEX:
        return product->a.structure == TB_GENERAL && product->b.structure == TB_GENERAL &&
               product->terms < 2 && (product->k == 0 || product->alpha.im == 0) && product->beta.im == 0;
    }
    return false;
}

bool tb_kernel_computes(const tb_kernel *kernel, const tb_product *product)
{
    return kernel->element == tb_element_of(product) && kernel->in_place == product->in_place &&
           (kernel->masks || product->mask == TB_FULL) && (kernel->batches || !tb_is_batch(product)) &&
           (kernel->k_limit == 0 || product->k <= kernel->k_limit) &&
           (reads_operands(kernel, product) || tb_kernel_joins(kernel, product));
}

bool tb_kernel_runs_on(const tb_kernel *kernel, int architecture)
{
    return architecture >= kernel->architecture &&
           (kernel->architecture_end == 0 || architecture < kernel->architecture_end) &&
           (!kernel->major_only || architecture % 10 == 0);
}

bool tb_kernel_is_free_on(const tb_kernel *kernel, int architecture)
{
    return !kernel->forced_only && (kernel->chosen_end == 0 || architecture < kernel->chosen_end);
}

/* With more steps sums would have to be cut into chains. A smaller C stays in the cache from one term to the next (H200:
 * joined, a ZHER2K of 1024 x 1024 takes a tenth longer). */
enum { JOINED_STEPS_MOST = 512, JOINED_BYTES_LEAST = 24 << 20 };

bool tb_kernel_joins(const tb_kernel *kernel, const tb_product *product)
{
    const tb_operand *a = &product->a, *b = &product->b;
    const int64_t steps = product->k * (tb_is_complex(a->element) ? 2 : 1);
    return kernel->joins && kernel->element == a->element && product->terms == 2 && !tb_is_batch(product) &&
           a->structure == TB_GENERAL && b->structure == TB_GENERAL && a->ld == b->ld &&
           product->alpha.im == 0 && product->beta.im == 0 && steps > 0 && steps % kernel->tile_k == 0 &&
           2 * steps <= JOINED_STEPS_MOST;
}

bool tb_kernel_suits(const tb_kernel *kernel, const tb_product *product)
{
    const int64_t m = product->m, n = product->n, shorter = m < n ? m : n, longer = m < n ? n : m;
    if (tb_kernel_joins(kernel, product) && tb_matrix_bytes(&product->c.matrix) < JOINED_BYTES_LEAST)
        return false;
    return shorter >= kernel->least_extent && product->k >= kernel->least_extent &&
           (kernel->short_side == 0 || shorter <= kernel->short_side) &&
           (double)longer * (double)product->k >= (double)kernel->least_elements;
}

tb_schedule tb_prepare(const tb_kernel *kernel, const tb_product *product, tb_target target)
{
    tb_schedule schedule = {.clocks = 0};
    if (kernel->prepare)
        kernel->prepare(kernel, product, target, &schedule);
    return schedule;
}

int tb_transposition(const tb_product *product)
{
    return 2 * product->a.transposed + product->b.transposed;
}
