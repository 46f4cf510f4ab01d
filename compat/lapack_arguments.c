#include "compat/lapack_arguments.h"

#include "lib/call/residency.h"

#include <string.h>

int tb_read_potrf(tb_routine routine, char letter, int64_t n, void *a, int64_t lda, tb_factor *factor)
{
    const bool lower = letter == 'L' || letter == 'l';
    if (!lower && letter != 'U' && letter != 'u')
        return 1;
    *factor = tb_potrf(routine, lower ? TB_LOWER : TB_UPPER, n, a, lda, NULL);
    if (n < 0)
        return 2;
    return lda < (n > 1 ? n : 1) ? 4 : 0;
}

int tb_read_getrf(tb_routine routine, int64_t m, int64_t n, void *a, int64_t lda, tb_pivots pivots,
                  tb_factor *factor)
{
    *factor = tb_getrf(routine, m, n, a, lda, pivots, NULL);
    if (m < 0)
        return 1;
    if (n < 0)
        return 2;
    return lda < (m > 1 ? m : 1) ? 4 : 0;
}

/* By their bits: a comparison could raise an exception of the caller's. */
static bool is_nan_at(const char *number, tb_element real)
{
    uint64_t wide;
    uint32_t narrow;
    if (real == TB_FP64) {
        memcpy(&wide, number, sizeof wide);
        return (wide & INT64_MAX) > UINT64_C(0x7ff) << 52;
    }
    memcpy(&narrow, number, sizeof narrow);
    return (narrow & INT32_MAX) > UINT32_C(0xff) << 23;
}

bool tb_has_nan(const tb_factor *factor)
{
    tb_facts facts = {.scattered = false};
    tb_locate_matrices(tb_task_of_factor(factor), &facts);
    if (facts.places[0].memory == TB_MEMORY_DEVICE)
        return false;
    const tb_element element = factor->a.element, real = tb_real_of(element);
    const size_t step = tb_bytes_of(real);
    for (int64_t column = 0; column < factor->n; column++) {
        const int64_t first = factor->stored == TB_LOWER ? column : 0,
                      end = factor->stored == TB_UPPER ? column + 1 : factor->m;
        const char *number = tb_at(&factor->a, first, column),
                   *last = number + (size_t)(end - first) * tb_bytes_of(element);
        for (; number < last; number += step)
            if (is_nan_at(number, real))
                return true;
    }
    return false;
}

void tb_store_info(void *info, int64_t value, int bits)
{
    const int32_t narrow = (int32_t)value;
    if (bits == 64)
        memcpy(info, &value, sizeof value);
    else
        memcpy(info, &narrow, sizeof narrow);
}
