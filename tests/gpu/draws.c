#include "tests/gpu/draws.h"

#include "tests/check.h"

#include <math.h>

/* The number of figures of one case, at most. */
#define FIGURES_MOST 8

double draws_excess(double figure, double limit)
{
    if (figure <= limit * exp(-1))
        return -1;
    return figure <= DRAWS_GROSS * limit ? log(figure / limit) : INFINITY; /* NaN too */
}

void draws_add(draws *figure, double excess)
{
    const double counted = isnan(excess) ? INFINITY : excess;
    figure->count++;
    figure->sum += counted;
    figure->squares += counted * counted;
}

double draws_mean(const draws *figure)
{
    return figure->sum / figure->count;
}

static double deviation_of(const draws *figure)
{
    const double mean = draws_mean(figure), squares = figure->squares - figure->count * mean * mean;
    return figure->count > 1 ? sqrt(fmax(0, squares) / (figure->count - 1)) : 0;
}

void draws_describe(const draws *figure, char text[DRAWS_TEXT])
{
    snprintf(text, DRAWS_TEXT, "%.3f of the limit in %d draws, deviation %.3f", exp(draws_mean(figure)),
             figure->count, deviation_of(figure));
}

bool draws_are_open(const draws *figure)
{
    if (isinf(figure->sum) || figure->count >= DRAWS_MOST)
        return false;
    if (figure->count == 1)
        return figure->sum > 0;
    const double mean = draws_mean(figure), error = deviation_of(figure) / sqrt(figure->count);
    return figure->count < DRAWS_FEWEST ||
           (mean < DRAWS_CLEAR_ABOVE * error && mean > -DRAWS_CLEAR_BELOW * error);
}

bool draws_hold(const draws *figure)
{
    return figure->count > 0 && figure->sum <= 0;
}

uint64_t draws_seed(uint64_t first, int draw)
{
    check_random scrambler = {.state = first};
    check_random random = {.state = check_next(&scrambler) + (uint64_t)draw};
    return draw == 0 ? first : check_next(&random);
}

void draws_settle(draws *figures, int count, const double *excesses, draws_maker *make, void *what,
                  uint64_t seed)
{
    for (int i = 0; i < count; i++) {
        figures[i] = (draws){0};
        draws_add(&figures[i], excesses[i]);
    }
    for (int draw = 1; draw < DRAWS_MOST; draw++) {
        bool open[FIGURES_MOST], any = false;
        double again[FIGURES_MOST];
        for (int i = 0; i < count; i++)
            any = (open[i] = draws_are_open(&figures[i])) || any;
        if (!any)
            return;
        make(what, draws_seed(seed, draw), again);
        for (int i = 0; i < count; i++)
            if (open[i])
                draws_add(&figures[i], again[i]);
    }
}
