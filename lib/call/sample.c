/* The numbers that are looked at lie evenly over an operand, but each somewhere in its share of the indices: at equal
 * distances all might be of a kind.
 *
 * Words: an outer index is a row of op(A) or a column of op(B). Parts of complex numbers are numbers of the sample, as of the
 * product that is computed instead (words/lowered.h).
 */
#include "lib/call/sample.h"

#include "dispatch/mix.h"
#include "kernels/launch.h"
#include "lib/process/leaving.h"
#include "words/members.h"
#include "words/lowered.h"

/* Where a range's equal shares are looked at: the same places at every call. */
static int64_t place_in(tb_range range, int share, int shares, uint64_t seed)
{
    const int64_t first = range.count * share / shares, own = range.count * (share + 1) / shares - first;
    return range.first + first + (own > 0 ? (int64_t)(tb_mix(seed, (uint64_t)share) % (uint64_t)own) : 0);
}

/* The number of an outer index at a step of k, in as many parts as it has. What is not stored is read where its mirror image
 * is. */
static void read_number(const tb_product *product, tb_role role, int64_t outer, int64_t step, double *parts)
{
    const tb_operand *operand = &product->operands[role];
    const bool outer_is_row = (role == TB_A) != operand->transposed;
    const int64_t row = outer_is_row ? outer : step, column = outer_is_row ? step : outer;
    const bool is_mirrored =
        operand->structure != TB_GENERAL && (operand->stored == TB_LOWER ? row < column : row > column);
    const double *number =
        is_mirrored ? tb_at(&operand->matrix, column, row) : tb_at(&operand->matrix, row, column);
    const bool is_real = operand->structure == TB_HERMITIAN && row == column;
    parts[0] = number[0];
    if (tb_is_complex(operand->element))
        parts[1] = is_real ? 0 : number[1];
}

static void take_sample(const tb_product *product, tb_role role, tb_sample *sample)
{
    const int terms = tb_terms_of(product), parts = tb_is_complex(tb_element_of(product)) ? 2 : 1,
              shares = TB_SAMPLE_STEPS / parts;
    const tb_product term[] = {tb_term_of(product, 0), tb_term_of(product, terms - 1)};
    const tb_range outer_indices = {0, role == TB_A ? product->m : product->n},
                   steps = {0, terms * product->k};
    for (int row = 0; row < TB_SAMPLE_ROWS; row++) {
        const int64_t outer = place_in(outer_indices, row, TB_SAMPLE_ROWS, role);
        for (int share = 0; share < shares; share++) {
            const int64_t step = place_in(steps, share, shares, (uint64_t)outer);
            read_number(&term[step / product->k], role, outer, step % product->k,
                        &sample->numbers[row][share * parts]);
        }
    }
}

static bool is_read_fast(const tb_place *place)
{
    return place->memory == TB_MEMORY_HOST || (place->memory == TB_MEMORY_PINNED && !place->write_combined);
}

bool tb_has_like_magnitudes(const tb_product *product, const tb_place places[TB_ROLES])
{
    const tb_product one = tb_member_of(product, 0);
    const int parts = tb_is_complex(tb_element_of(&one)) ? 2 : 1;
    if (tb_real_of(tb_element_of(&one)) != TB_FP64 || one.in_place != TB_OUT_OF_PLACE ||
        !is_read_fast(&places[TB_A]) || !is_read_fast(&places[TB_B]) || one.m == 0 || one.n == 0 ||
        one.k == 0 || tb_is_zero(one.alpha))
        return false;
    tb_sample *samples = tb_make(2 * sizeof *samples);
    if (!samples)
        return false;
    take_sample(&one, TB_A, &samples[TB_A]);
    take_sample(&one, TB_B, &samples[TB_B]);
    const bool suits = tb_crt_suits(&samples[TB_A], &samples[TB_B], parts * tb_terms_of(&one) * one.k);
    tb_unmake(samples);
    return suits;
}
