/* The terms of which forecasts of streamed products are sums: what each of those takes that work at the same time. The floor
 * and the forecast of a call (cost_model.c), of the parts of a product in C's place (cut_in_place.c), and of a cut's steps,
 * one by one (tiling_seconds.c).
 */
#ifndef TB_COST_MODEL_H
#define TB_COST_MODEL_H

#include "dispatch/plan.h"

#include <math.h>

/* In seconds. */
typedef struct tb_terms {
    double in, out; /* the link's two ways */
    double copies;  /* the host's threads, into pinned memory and out of it */
    double kernel;
} tb_terms;

/* Bytes to the device, and from there. A way of the link is slower while the other one is used, too. */
static inline double tb_link_seconds(double bytes, double rate, bool both_ways)
{
    const double share_of_both_ways = 0.9;
    return bytes / (both_ways ? share_of_both_ways * rate : rate);
}

/* What all of them take together where nothing waits. */
static inline double tb_longest_term(const tb_terms *terms)
{
    return fmax(fmax(terms->in, terms->out), fmax(terms->kernel, terms->copies));
}

/* What the calling thread takes to start a product; on the device, between two of them. */
#define TB_LAUNCH_THREAD_SECONDS 28e-6
#define TB_GAP_SECONDS           14e-6

#endif
