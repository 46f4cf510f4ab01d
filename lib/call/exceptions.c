#include "lib/call/exceptions.h"

#include "lib/process/callers_state.h"
#include "lib/machine/calls.h"
#include "lib/process/leaving.h"
#include "lib/streaming/copy_threads.h"
#include "lib/streaming/not_finite.h"

static uint32_t seen_in_scalar(tb_scalar scalar)
{
    return tb_find_not_finite(&scalar, sizeof scalar, TB_FP64, NULL);
}

static void leave(void *job)
{
    tb_left_in_the_middle();
    tb_copy_leave(job);
}

/* All of a general matrix; the triangle that is stored of others, without a diagonal of ones. */
static uint32_t seen_in_memory(const tb_operand *operand)
{
    _Atomic(uint32_t) seen = 0;
    const int64_t bytes = (int64_t)tb_bytes_of(operand->element), ones = operand->unit_diagonal;
    const bool lower = operand->stored == TB_LOWER;
    tb_copy_job job = {0};
    tb_host_copy look = {.source = operand->data,
                         .source_pitch = tb_pitch(&operand->matrix),
                         .row_bytes = tb_column_bytes(&operand->matrix),
                         .rows = (size_t)operand->columns,
                         .seen = &seen,
                         .element = tb_real_of(operand->element)};
    if (operand->structure != TB_GENERAL)
        look.stairs =
            (tb_stairs){.step_bytes = bytes, .edge_bytes = (lower ? ones : 1 - ones) * bytes, .ends = !lower};
    tb_leaving leaving;
    tb_when_left(&leaving, leave, &job);
    tb_copy_begin(&job, &look);
    tb_copy_end(&job);
    tb_not_left(&leaving);
    return atomic_load(&seen);
}

static uint32_t seen_in_operand(const tb_product *product, tb_role role, const tb_place *place, uint32_t seen)
{
    const tb_operand *operand = &product->operands[role];
    if (tb_is_in_place_of(product, role))
        return seen >> TB_SEEN_BEFORE_SHIFT & TB_SEEN_BOTH;
    if (operand->rows == 0 || operand->columns == 0)
        return 0;
    return place->memory == TB_MEMORY_DEVICE ? TB_SEEN_BOTH : seen_in_memory(operand);
}

/* As far as it matters for what is seen in C. */
static uint32_t find_explanations(const tb_product *product, const tb_place places[TB_ROLES], uint32_t seen)
{
    const uint32_t wanted = seen & TB_SEEN_BOTH;
    uint32_t found = seen_in_scalar(product->alpha) | seen_in_scalar(product->beta);
    for (tb_role role = TB_A; role <= TB_B && (wanted & ~found); role++)
        found |= seen_in_operand(product, role, &places[role], seen);
    return found;
}

static bool is_zero_at(const tb_matrix *operand, int64_t index)
{
    const void *number = tb_at(operand, index, index);
    const int parts = tb_is_complex(operand->element) ? 2 : 1;
    bool is_zero = true;
    for (int part = 0; part < parts; part++)
        is_zero = is_zero && (tb_real_of(operand->element) == TB_FP32 ? ((const float *)number)[part] == 0
                                                                      : ((const double *)number)[part] == 0);
    return is_zero;
}

static bool divides_by_zero(const tb_product *product)
{
    if (product->in_place != TB_SOLVES)
        return false;
    const tb_operand *triangle = tb_triangle_of(product);
    for (int64_t i = 0; i < triangle->rows && !triangle->unit_diagonal; i++)
        if (is_zero_at(&triangle->matrix, i))
            return true;
    return false;
}

void tb_raise_exceptions(const tb_product *product, const tb_place places[TB_ROLES], uint32_t seen)
{
    const bool has_nan = seen & TB_SEEN_NAN;
    const int possible = FE_OVERFLOW | (has_nan ? FE_INVALID : 0);
    int exceptions = 0;
    if (!(seen & TB_SEEN_BOTH) || tb_raised_in_caller(possible) == possible)
        return;
    /* What makes a NaN where none was may be an infinity, too. */
    const uint32_t found = find_explanations(product, places, has_nan ? seen | TB_SEEN_INFINITY : seen);
    const bool is_invalid = has_nan && !(found & TB_SEEN_NAN);
    if (is_invalid)
        exceptions |= FE_INVALID;
    if (!(found & TB_SEEN_INFINITY) && (is_invalid || seen & TB_SEEN_INFINITY))
        exceptions |= divides_by_zero(product) ? FE_DIVBYZERO : FE_OVERFLOW | FE_INEXACT;
    tb_raise_in_caller(exceptions);
}
