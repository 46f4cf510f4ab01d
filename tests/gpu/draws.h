/* Figures of merit that are drawn at random, held to their limits soundly.
 *
 * The largest of a sample's errors, over a comparator's, is a matter of luck: where few large products rule a sum its logarithm
 * has a standard deviation of 0.35, that of the rms error 0.04 (contiguous halves of k against interleaved ones, 1024 steps,
 * summed on the host). Of thousands of figures whose true ratio is 1 some exceed a limit of 1.25, or 1.03, in every run; and a
 * wider limit would let true excesses pass. So a figure that is over its limit is drawn again, with other numbers and nothing
 * else changed, until chance cannot decide: what is held to the limit is the mean of all draws' excesses, which are logarithms,
 * so that it is the geometric mean of ratios. A mean of ratios would follow its few largest.
 *
 * - The first draw counts with the others. It was chosen for being large, which makes the mean of nine too large by a ninth of
 * it:
 *   that is on the strict side, and fades as draws are added.
 * - A draw that is DRAWS_GROSS times over its limit, infinite or NaN is no chance: no other draw makes up for it.
 * - Less than 1/e of a limit counts as 1/e of it, so that a result that happens to be exact does not make up for several bad
 * ones.
 * - Of a family whose numbers do not depend on the seed all draws are alike, and the first decides.
 */
#ifndef TB_DRAWS_H
#define TB_DRAWS_H

#include <stdbool.h>
#include <stdint.h>

/* Draws of a figure whose first is over its limit: at least, and at most, where the mean is close to the limit. */
#define DRAWS_FEWEST 9
#define DRAWS_MOST   65

/* So many standard errors below, or above, its limit a mean is not there by chance. The error is estimated from nine draws at
 * first, and too small an estimate happens; failing is rare, so that the draws which make sure of it cost little. */
#define DRAWS_CLEAR_BELOW 3
#define DRAWS_CLEAR_ABOVE 6

/* Chance makes a ratio of 2; with the noise above, and a logistic variable's tails, it makes 40 once in 10^8 draws. */
#define DRAWS_GROSS 32

/* One figure's excesses. */
typedef struct draws {
    int count;
    double sum, squares;
} draws;

/* The logarithm of a figure, which is not negative, over its limit. Of a figure that is a logarithm already, such as a slope, the
 * excess is the difference. */
double draws_excess(double figure, double limit);

void draws_add(draws *figure, double excess);

/* Whether chance may still decide. */
bool draws_are_open(const draws *figure);

/* Whether the figure keeps its limit. */
bool draws_hold(const draws *figure);

double draws_mean(const draws *figure);

/* The mean excess as a factor of the limit, and the standard deviation of a draw's excess. */
#define DRAWS_TEXT 128
void draws_describe(const draws *figure, char text[DRAWS_TEXT]);

/* The seed of a draw; of draw 0 it is the first one. The others lie far from it and from each other, so that numbers drawn of a
 * seed and its neighbours are not those of another draw. */
uint64_t draws_seed(uint64_t first, int draw);

/* One draw of all of a case's figures: an excess for each. */
typedef void draws_maker(void *what, uint64_t seed, double *excesses);

/* Draws a case again while one of its figures is open, and leaves those alone that are not. excesses: those of the first draw. */
void draws_settle(draws *figures, int count, const double *excesses, draws_maker *make, void *what,
                  uint64_t seed);

#endif
