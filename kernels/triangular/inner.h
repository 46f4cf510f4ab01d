/* What triangular products and solves share that are made of plain products: those, which are called inner ones, computed by the
 * catalog's other rows. Operands that an inner product has written out first lie in the workspace.
 */
#ifndef TB_INNER_H
#define TB_INNER_H

#include "kernels/forwarder.h"
#include "kernels/launch.h"

typedef struct tb_inner {
    const tb_kernel *kernel;
    tb_product product; /* of numbers that the kernel knows */
    tb_schedule schedule;
    size_t own; /* where the kernel's own workspace begins, behind the operands */
} tb_inner;

static inline size_t tb_inner_workspace(const tb_inner *inner)
{
    return inner->own + inner->schedule.workspace;
}

/* ---- The triangle, seen as the factor on the left --------------------------------------------------------- */

/* Whether it is read as its transpose. */
static inline bool tb_is_read_transposed(const tb_product *product)
{
    return tb_triangle_of(product)->transposed == tb_is_triangle_left(product);
}

static inline bool tb_is_lower(const tb_product *product)
{
    return (tb_triangle_of(product)->stored == TB_LOWER) != tb_is_read_transposed(product);
}

/* ---- Inner products --------------------------------------------------------------------------------------- */

/* Gives an operand its place in the workspace. */
void tb_place_operand(tb_inner *inner, tb_role role, void *workspace);

/* What a product of general matrices becomes, whichever row computes it. */
tb_inner tb_lower_step(const tb_product *step, void *workspace);

/* The row that is forecast to take least; NULL: none will do. */
const tb_kernel *tb_choose_inner(const tb_product *product, tb_accuracy accuracy, tb_target target);

/* The one that every device runs, however small. */
const tb_kernel *tb_any_row(tb_element element);

/* By this row; NULL: by the one that every device runs. */
void tb_complete_inner(tb_inner *inner, const tb_kernel *kernel, tb_target target);

/* Clocks of a launch that writes an operand out, with so many bytes read and written. */
double tb_writing_clocks(double bytes, tb_target target);

/* Clocks of the product, with what is written out for it. */
double tb_inner_clocks(const tb_inner *inner, tb_target target);

tb_status tb_launch_inner(const tb_launcher *launcher, const tb_product *step, const tb_inner *inner,
                          void *workspace);

/* C := 0; the triangle is not read. */
tb_status tb_launch_zeros(const tb_launcher *launcher, const tb_product *product);

#endif
