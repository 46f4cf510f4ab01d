/* The terms of which forecasts of streamed products are sums: what each of those takes that work at the same time. The floor
 * and the forecast of a call (cost_model.c), of the parts of a product in C's place (cut_in_place.c), and of a cut's steps,
 * one by one (tiling_seconds.c). And what the machine does in a second, of which those of factorizations are made, too
 * (factor_seconds.c).
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

/* What a streamed call costs before its first byte moves and after its last; more where the host's threads
 * copy, as they have to be woken. */
#define TB_STREAMED_CALL_SECONDS 45e-6
#define TB_COPIED_CALL_SECONDS   60e-6

/* What has been learned, where something has. */
static inline double tb_known_ratio(double ratio)
{
    return ratio > 0 ? ratio : 1;
}

/* Flops of the host's products of real or complex numbers, all of its cores together. */
double tb_host_flops(tb_element element, const tb_machine *machine);

/* Bytes a second that the host's threads copy between ordinary and pinned memory, for so many devices. */
double tb_copy_rate(const tb_machine *machine, int devices);

/* The machine's first device; while none is up nobody knows what it is, and it is taken for a middling one. */
const tb_chip *tb_first_chip(const tb_machine *machine);

/* Seconds that the middling one takes for products. */
double tb_presumed_seconds(tb_element element, double flop);

#endif
