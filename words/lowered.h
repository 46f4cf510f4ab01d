/* Lowering: what kernels multiply instead of complex numbers and symmetric matrices, which they do not know: a real product of
 * general matrices.
 *
 * A complex matrix in memory is a real one of twice as many rows, real and imaginary parts taking turns. B and C are read and
 * written as such. A is embedded: written out with a block of four for each number, and with alpha where that is complex.
 *
 *       a, complex           A, embedded                  A (2m x 2k)  B (2k x n)  =  C (2m x n)
 *
 *                          | re  -im |
 *       re + i im    ->    | im   re |       so that a complex product takes the multiply-adds that it has, and no other pass
 *
 * A is always written out where numbers are complex; B where it is transposed or conjugated; a symmetric or Hermitian operand
 * always, from its stored triangle; and both where a second term is added (rank-2k), side by side: [A B] times [op(B); op(A)].
 * Writing out is called expanding.
 */
#ifndef TB_LOWERED_H
#define TB_LOWERED_H

#include "words/product.h"

#include <math.h>

/* An operand to be written out, on the device. */
typedef struct tb_expansion {
    tb_operand source; /* as the program has it */
    tb_matrix target;  /* real: op(source), times the factor */
    tb_scalar factor;
    bool embedded;  /* a block of four for each complex number; else two in a column */
    tb_batch batch; /* of matrices to be written out: the sources are A's, the targets C's */
} tb_expansion;

/* Whether kernels multiply the product as it is. */
static inline bool tb_is_plain(const tb_product *product)
{
    return !tb_is_complex(tb_element_of(product)) && product->a.structure == TB_GENERAL &&
           product->b.structure == TB_GENERAL && product->terms < 2 && product->in_place == TB_OUT_OF_PLACE;
}

static inline int tb_terms_of(const tb_product *product)
{
    return product->terms == 2 ? 2 : 1;
}

/* One of its terms by itself; the second one is added to C. */
static inline tb_product tb_term_of(const tb_product *product, int term)
{
    const bool hermitian = product->c.structure == TB_HERMITIAN;
    tb_product one = *product;
    one.terms = 1;
    if (term == 0)
        return one;
    one.beta = (tb_scalar){1, 0};
    one.a = product->b;
    one.b = product->a;
    one.batch.members[TB_A] = product->batch.members[TB_B];
    one.batch.members[TB_B] = product->batch.members[TB_A];
    one.a.transposed = !one.a.transposed;
    one.b.transposed = !one.b.transposed;
    if (hermitian) {
        one.alpha.im = -one.alpha.im;
        one.a.conjugated = !one.a.conjugated;
        one.b.conjugated = !one.b.conjugated;
    }
    return one;
}

/* Whether there is a real product for it: a complex beta has none, nor has what happens in C's place. */
static inline bool tb_can_be_lowered(const tb_product *product)
{
    return product->beta.im == 0 && product->in_place == TB_OUT_OF_PLACE;
}

static inline bool tb_is_expanded(const tb_product *product, tb_role role)
{
    const tb_operand *operand = &product->operands[role];
    if (role == TB_C)
        return false;
    return operand->structure != TB_GENERAL || product->terms == 2 ||
           (tb_is_complex(operand->element) && (role == TB_A || operand->transposed || operand->conjugated));
}

/* A complex matrix that is read as it lies. */
static inline tb_matrix tb_real_view(const tb_matrix *complex)
{
    tb_matrix view = *complex;
    view.element = tb_real_of(complex->element);
    view.rows *= 2;
    view.ld *= 2;
    return view;
}

/* How many matrices of an operand are written out: one where all members of a batch have the same. */
static inline int64_t tb_expanded_count(const tb_product *product, tb_role role)
{
    const tb_members *sources = &product->batch.members[role];
    return sources->uneven || sources->stride != 0 ? tb_members_of(product) : 1;
}

/* The distance between two of them that lie one behind the other, ld apart. */
static inline int64_t tb_expanded_stride(const tb_product *product, tb_role role, const tb_matrix *expanded)
{
    return tb_expanded_count(product, role) > 1 ? expanded->ld * expanded->columns : 0;
}

/* The real product. Operands that are to be expanded lie nowhere yet. */
static inline tb_product tb_lowered(const tb_product *product)
{
    const bool is_complex = tb_is_complex(tb_element_of(product));
    const tb_element real = tb_real_of(tb_element_of(product));
    const int64_t parts = is_complex ? 2 : 1;
    tb_product lowered = *product;
    if (tb_is_plain(product) || product->in_place != TB_OUT_OF_PLACE)
        return lowered;
    lowered.routine = tb_gemm_routine(real);
    lowered.m *= parts;
    lowered.k *= parts * tb_terms_of(product);
    lowered.terms = 1;
    lowered.mask_pairs = is_complex && product->mask != TB_FULL;
    if (product->alpha.im != 0)
        lowered.alpha = (tb_scalar){1, 0};
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        if (tb_is_expanded(product, role)) {
            const int64_t rows = role == TB_A ? lowered.m : lowered.k;
            const int64_t columns = role == TB_A ? lowered.k : lowered.n;
            tb_operand *expanded = &lowered.operands[role];
            *expanded = (tb_operand){.rows = rows, .columns = columns, .ld = rows, .element = real};
            lowered.batch.members[role] =
                (tb_members){.stride = tb_expanded_stride(product, role, &expanded->matrix)};
            const double read = product->terms == 2
                                    ? tb_bytes_read(product, TB_A) + tb_bytes_read(product, TB_B)
                                    : tb_bytes_read(product, role);
            /* Above zero also where there is nothing to read. */
            lowered.expanded[role] =
                (tb_expanded){.from = fmax(1, read) / fmax(1, (double)tb_matrix_bytes(&expanded->matrix)),
                              .embedded = is_complex && role == TB_A};
        } else if (is_complex) {
            lowered.operands[role].matrix = tb_real_view(&product->operands[role].matrix);
            lowered.batch.members[role].stride *= 2;
        }
    return lowered;
}

/* How what a term has of the operand is written out: its steps of k in the lowered product's operand are where. */
static inline tb_expansion tb_expansion_of(const tb_product *product, const tb_product *lowered, tb_role role,
                                           int term)
{
    const bool is_complex = tb_is_complex(tb_element_of(product));
    const tb_product one = tb_term_of(product, term);
    const bool scales = role == TB_A && one.alpha.im != 0;
    const tb_matrix *all = &lowered->operands[role].matrix;
    const int64_t k = lowered->k / tb_terms_of(product), first = term * k;
    return (tb_expansion){
        .source = one.operands[role],
        .target = role == TB_A ? tb_rectangle(all, 0, first, all->rows, k)
                               : tb_rectangle(all, first, 0, k, all->columns),
        .factor = scales ? one.alpha : (tb_scalar){1, 0},
        .embedded = is_complex && role == TB_A,
        .batch = {.count = tb_expanded_count(&one, role),
                  .members = {[TB_A] = one.batch.members[role], [TB_C] = lowered->batch.members[role]}}};
}

/* For those rows and columns of op(source), as the target has it: what has to be written out of the source for them. Where
 * numbers are complex, rows, and columns of what is embedded, are in pairs. */
static inline tb_expansion tb_expansion_part(const tb_expansion *expansion, tb_range rows, tb_range columns)
{
    const bool is_complex = tb_is_complex(expansion->source.element);
    const int64_t of_row = is_complex ? 2 : 1, of_column = expansion->embedded ? 2 : 1;
    const tb_range r = {rows.first / of_row, rows.count / of_row},
                   c = {columns.first / of_column, columns.count / of_column};
    const bool transposed = expansion->source.transposed;
    tb_expansion part = *expansion;
    part.source =
        tb_operand_part(&expansion->source, transposed ? c.first : r.first, transposed ? r.first : c.first,
                        transposed ? c.count : r.count, transposed ? r.count : c.count);
    part.target = tb_rectangle(&expansion->target, rows.first, columns.first, rows.count, columns.count);
    return part;
}

/* Columns of a general source that lie by themselves: the caller says where. */
static inline tb_expansion tb_expansion_of_columns(const tb_expansion *expansion, tb_range columns)
{
    const bool is_complex = tb_is_complex(expansion->source.element),
               transposed = expansion->source.transposed;
    const int64_t each = is_complex && (transposed || expansion->embedded) ? 2 : 1;
    const tb_range there = {each * columns.first, each * columns.count};
    const tb_matrix *target = &expansion->target;
    tb_expansion part = *expansion;
    part.source.columns = columns.count;
    part.target = transposed ? tb_rectangle(target, there.first, 0, there.count, target->columns)
                             : tb_rectangle(target, 0, there.first, target->rows, there.count);
    return part;
}

#endif
