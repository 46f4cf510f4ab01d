#include "lib/call/portable_panel.h"

#include <math.h>

/* L's element, of U the transpose's. */
static double *at(const tb_factor *panel, int64_t row, int64_t column)
{
    return panel->stored == TB_LOWER ? tb_at(&panel->a, row, column) : tb_at(&panel->a, column, row);
}

/* Cholesky's, in double precision, which alone is taken over. */
int64_t tb_factor_by_loops(const tb_factor *panel)
{
    for (int64_t j = 0; j < panel->n; j++)
        for (int64_t i = j; i < panel->n; i++) {
            double sum = *at(panel, i, j);
            for (int64_t l = 0; l < j; l++)
                sum -= *at(panel, i, l) * *at(panel, j, l);
            if (i == j && !(sum > 0))
                return j + 1;
            *at(panel, i, j) = i == j ? sqrt(sum) : sum / *at(panel, j, j);
        }
    return 0;
}
