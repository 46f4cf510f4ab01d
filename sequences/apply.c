/* Products with Q of reflectors, H1 H2 ..., or with its adjoint, block of reflectors after block:
 *
 *     V, T               of a block, as Q has them (generate.c)
 *     B -= V op(T) V' B  of its first column's row on:    Q' B, the first block first; Q B, the last one first
 *     B -= B V op(T) V'  of its first column on:          B Q, the first block first; B Q', the last one first
 *
 * Where there are columns behind those that a block is made for, it is kept: V with its ones and zeros in A's place, and T in its diagonal's.
 */
#include "sequences/apply.h"

#include "words/integers.h"

static const tb_range none = {0, 0};

/* ---- Blocks ------------------------------------------------------------------------------------------------ */

/* Of rows all columns are finished at the end. */
static tb_range finished_by(const tb_factor *factor, bool is_last, tb_range some)
{
    const tb_range all = {0, factor->b.columns};
    return !is_last                                    ? none
           : !factor->on_the_right                     ? some
           : some.first + some.count == factor->b.rows ? all
                                                       : none;
}

static tb_status reflect(const tb_factor *factor, tb_range block, tb_range some, tb_range finished,
                         tb_visitor *visitor)
{
    const tb_range reflectors = {0, block.count};
    const int64_t behind = factor->m - block.first;
    const bool adjoint = factor->transposed;
    if (factor->on_the_right) {
        const tb_matrix b = tb_rectangle(&factor->b, some.first, block.first, some.count, behind);
        return tb_give_reflected_rows(factor, reflectors, adjoint, &b, finished, visitor);
    }
    const tb_matrix b = tb_rectangle(&factor->b, block.first, some.first, behind, some.count);
    return tb_give_reflected(factor, reflectors, adjoint, &b, finished, visitor);
}

/* ---- Walks ------------------------------------------------------------------------------------------------- */

static bool is_first_block_first(const tb_factor *factor)
{
    return factor->transposed != factor->on_the_right;
}

/* The last one that is applied. */
static bool ends(const tb_factor *factor, tb_range block)
{
    return is_first_block_first(factor) ? block.first + block.count == tb_factor_order(factor)
                                        : block.first == 0;
}

tb_status tb_walk_applied_block(const tb_factor *factor, tb_range block, tb_range some, tb_visitor *visitor)
{
    const tb_factor kept = tb_with_kept(factor, block);
    return reflect(&kept, block, some, finished_by(factor, ends(factor, block), some), visitor);
}

static tb_status make_and_apply(const tb_factor *factor, tb_range block, tb_range some, tb_visitor *visitor)
{
    const bool is_kept = some.count < tb_applied_count(factor);
    TB_TRY(tb_make_reflectors(factor, block, visitor));
    if (is_kept)
        TB_TRY(tb_keep_reflectors(factor, block, visitor));
    return reflect(factor, block, some, finished_by(factor, ends(factor, block), some), visitor);
}

static tb_status walk_some(const tb_factor *factor, tb_range some, tb_visitor *visitor)
{
    const int64_t order = tb_factor_order(factor), blocks = tb_ceil_div(order, TB_QR_BLOCK);
    for (int64_t i = 0; i < blocks; i++) {
        const int64_t first = (is_first_block_first(factor) ? i : blocks - 1 - i) * TB_QR_BLOCK;
        const tb_range block = {first, tb_smaller(TB_QR_BLOCK, order - first)};
        TB_TRY((some.first == 0 ? make_and_apply : tb_walk_applied_block)(factor, block, some, visitor));
    }
    return TB_OK;
}

tb_status tb_walk_applied(const tb_factor *factor, tb_visitor *visitor)
{
    const int64_t all = tb_applied_count(factor);
    for (int64_t first = 0; first < all; first += TB_QR_BEHIND)
        TB_TRY(walk_some(factor, (tb_range){first, tb_smaller(TB_QR_BEHIND, all - first)}, visitor));
    return TB_OK;
}
