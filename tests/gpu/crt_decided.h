/* What dgemm_crt decides (kernels/crt/decide.cuh) of two operands of reals, computed on the host, and so what error it may have.
 * Numbers are taken not to be zero, nor of few bits: those that are take no more room. Where single precision on the device
 * might decide otherwise, the weaker promise is what is held to.
 */
#ifndef TB_CRT_DECIDED_H
#define TB_CRT_DECIDED_H

#include "tests/gpu/crt_lines.h"

/* Promises differ by the share of u d that roundings get; or FP64 units multiply. */
typedef enum promise { FINE, COARSE, NATIVE } promise;
#define FINE_SHARE   (1.0 / 64)
#define COARSE_SHARE 0.17

/* What is kept of A for the next launch; bits that are negative: nothing. */
typedef struct kept {
    double spread_of_b, bits_of_a;
    bool is_fine;
} kept;

/* What the survey finds in a line; logarithms to base 2, as upper bits count them, and their mean distance from the largest. */
typedef struct record {
    double norm, largest, deficit;
} record;

/* By how many bits the host's figures and the device's differ at most. */
#define SLACK 0.05

static inline record *survey_lines(const lines *x)
{
    record *records = must_allocate((size_t)x->count * sizeof *records);
    for (int64_t line = 0; line < x->count; line++) {
        const double *own = x->reals + line * x->k;
        double largest = -HUGE_VAL, squares = 0, logarithms = 0;
        for (int64_t l = 0; l < x->k; l++) {
            int exponent;
            const double part = 2 * fabs(frexp(own[l], &exponent)),
                         logarithm = exponent - 1 - x->exponents[line] + (part - 1),
                         scaled = ldexp(own[l], -x->exponents[line]);
            largest = fmax(largest, logarithm);
            logarithms += logarithm;
            squares += scaled * scaled;
        }
        records[line] = (record){0.5 * log2(squares), largest, largest - logarithms / (double)x->k + 0.0861};
    }
    return records;
}

static inline double spread_of(const lines *x, const record *records)
{
    double most = 0;
    for (int64_t line = 0; line < x->count; line++)
        most = fmax(most, records[line].deficit + records[line].norm - records[line].largest);
    return most;
}

/* The bits of integers with quanta for an error of 2^error beside the other operand's lines. */
static inline double bits_of(const lines *x, const record *records, double error)
{
    double most = 0;
    for (int64_t line = 0; line < x->count; line++) {
        const record *own = &records[line];
        const double exponent = floor(own->largest),
                     quantum = exponent + nearbyint(error + own->largest - exponent - own->deficit - SLACK);
        most = fmax(most, own->norm - quantum);
    }
    return most;
}

static inline bool has_room(double bits_a, double bits_b)
{
    static const int moduli[] = {256, 255, 253, 251, 247, 241, 239, 233, 229,
                                 227, 223, 217, 211, 199, 197, 193, 191};
    _Static_assert(sizeof moduli / sizeof *moduli == TB_CRT_MODULI, "the moduli");
    double most = log2(0.47);
    for (int i = 0; i < TB_CRT_MODULI; i++)
        most += log2(moduli[i]);
    return fmax(bits_a, bits_b) < 63 && bits_a + bits_b < most;
}

/* keeps: A is that of the launch before. same: B is A, too. */
static inline promise decide(const lines *a, const lines *b, bool keeps, bool same, kept *kept)
{
    record *records_a = survey_lines(a), *records_b = survey_lines(b);
    const double spread_a = spread_of(a, records_a), spread_b = spread_of(b, records_b),
                 terms_of_d = log2((double)a->k) - 53, spare = same ? 0 : 0.25;
    keeps = keeps && kept->bits_of_a >= 0 && spread_b <= kept->spread_of_b + SLACK;
    const bool only_maybe = keeps && spread_b > kept->spread_of_b - SLACK, kept_is_fine = kept->is_fine;
    const double kept_bits = kept->bits_of_a;
    promise result = NATIVE;
    for (promise share = FINE; share <= COARSE && result == NATIVE; share++) {
        const double error = log2(share == FINE ? FINE_SHARE : COARSE_SHARE) + terms_of_d;
        const bool keeps_now = keeps && share == FINE;
        double bits_a = bits_of(a, records_a, error - spread_b - spare);
        const double bits_b = same ? bits_a : bits_of(b, records_b, error - spread_a);
        if (keeps_now)
            bits_a = only_maybe ? fmax(bits_a, kept_bits) : kept_bits;
        else
            kept->spread_of_b = spread_b + spare;
        kept->bits_of_a = bits_a;
        kept->is_fine = share == FINE && (!keeps_now || kept_is_fine);
        if (has_room(bits_a + SLACK, bits_b + SLACK))
            result = kept->is_fine ? FINE : COARSE;
        else if (share == FINE && has_room(bits_a - 1, bits_b - 1)) {
            kept->is_fine = false; /* these quanta, or those of the other share */
            result = COARSE;
        } else if (share == COARSE && !has_room(bits_a - 1, bits_b - 1))
            kept->bits_of_a = -1; /* for certain */
    }
    free(records_a);
    free(records_b);
    return result;
}

#endif
