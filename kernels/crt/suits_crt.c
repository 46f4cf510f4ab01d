/* What a sample of A and B says of all of them: whether scaled integers would serve. The conclusions are those of
 * decide.cuh, whose words are used here, from what survey.cuh finds in all numbers; what a sample finds is taken to
 * hold for all steps of k.
 */
#include "kernels/crt/schedule_crt.h"
#include "kernels/launch.h"

#include <math.h>
#include <stdlib.h>

/* There is one more than forecasts count with, for what a sample has missed. */
#define MODULI TB_CRT_USUAL_MODULI

/* These are decide.cuh's: the larger share of u d, and what A's quanta are finer. */
#define SHARE_OF_ERROR  0.17
#define SPARE_BITS      0.25
#define SIGNIFICANT     53
#define BITS_OF_INTEGER 63

/* The logarithm, to base 2, of the largest integer that the moduli determine, 0.47 of their product (moduli.cuh). */
static double bits_of_moduli(void)
{
    static const int moduli[MODULI] = {256, 255, 253, 251, 247, 241, 239, 233,
                                       229, 227, 223, 217, 211, 199, 197, 193};
    double bits = log2(0.47);
    for (int i = 0; i < MODULI; i++)
        bits += log2(moduli[i]);
    return bits;
}

/* Says what a tb_crt_record does, by logarithms that are not rounded. */
typedef struct record {
    bool is_zero, is_strange;
    bool is_of_few_bits; /* so that the last of them is the last of others that have not been seen */
    double norm, largest, deficit, zeros, lowest;
} record;

/* The exponent of a number's last bit that is not 0. */
static double lowest_bit(double number)
{
    int exponent;
    int64_t digits = (int64_t)ldexp(frexp(number, &exponent), SIGNIFICANT);
    return exponent - SIGNIFICANT + __builtin_ctzll((uint64_t)digits);
}

static bool is_strange(double number)
{
    return !isfinite(number) || (number != 0 && abs(ilogb(number)) > TB_CRT_EXPONENT_MOST);
}

static record record_of(const double *numbers, int count, double k)
{
    const double each = k / count; /* steps that a number stands for */
    double most = 0;
    record record = {.is_of_few_bits = true, .lowest = HUGE_VAL};
    for (int i = 0; i < count; i++) {
        record.is_strange = record.is_strange || is_strange(numbers[i]);
        most = fmax(most, fabs(numbers[i]));
    }
    record.is_zero = most == 0;
    if (record.is_zero || record.is_strange)
        return record;
    const double exponent = ilogb(most);
    double squares = 0;
    for (int i = 0; i < count; i++) {
        squares += (numbers[i] / most) * (numbers[i] / most);
        if (numbers[i] == 0) {
            record.zeros += each;
            continue;
        }
        record.deficit += each * log2(most / fabs(numbers[i]));
        record.lowest = fmin(record.lowest, lowest_bit(numbers[i]) - exponent);
        record.is_of_few_bits =
            record.is_of_few_bits && lowest_bit(numbers[i]) > ilogb(numbers[i]) + 1 - SIGNIFICANT;
    }
    record.largest = log2(most) - exponent;
    record.norm = record.largest + 0.5 * log2(each * squares);
    return record;
}

/* What is found out about an operand's sample. */
typedef struct records {
    int count;
    bool are_of_few_bits;
    record of[TB_SAMPLE_ROWS];
} records;

/* False where a number is strange; and where most of the rows have nothing but zeros, so that nothing is known. */
static bool take(const tb_sample *sample, double k, records *records)
{
    *records = (struct records){.are_of_few_bits = true};
    for (int row = 0; row < TB_SAMPLE_ROWS; row++) {
        const record record = record_of(sample->numbers[row], TB_SAMPLE_STEPS, k);
        if (record.is_strange)
            return false;
        records->are_of_few_bits = records->are_of_few_bits && record.is_of_few_bits;
        if (!record.is_zero)
            records->of[records->count++] = record;
    }
    return 2 * records->count >= TB_SAMPLE_ROWS;
}

static double most_zeros(const records *records)
{
    double most = 0;
    for (int i = 0; i < records->count; i++)
        most = fmax(most, records->of[i].zeros);
    return most;
}

static double most_spread(const records *records, double terms)
{
    double most = 0;
    for (int i = 0; i < records->count; i++) {
        const record *record = &records->of[i];
        most = fmax(most, record->deficit / terms + record->norm - record->largest);
    }
    return most;
}

/* The most bits that a row's integers have, with quanta no finer than that. */
static double most_bits(const records *records, double terms, double finest)
{
    double most = 0;
    for (int i = 0; i < records->count; i++) {
        const record *record = &records->of[i];
        const double fine = rint(finest + record->largest - record->deficit / terms),
                     quantum = records->are_of_few_bits ? fmax(fine, record->lowest) : fine;
        most = fmax(most, record->norm - quantum);
    }
    return most;
}

bool tb_crt_suits(const tb_sample *a, const tb_sample *b, int64_t k)
{
    records of_a, of_b;
    if (!take(a, (double)k, &of_a) || !take(b, (double)k, &of_b))
        return false;
    const double terms = fmax(1, (double)k - most_zeros(&of_a) - most_zeros(&of_b)),
                 error = log2(SHARE_OF_ERROR * terms) - SIGNIFICANT,
                 bits_a = most_bits(&of_a, terms, error - most_spread(&of_b, terms) - SPARE_BITS),
                 bits_b = most_bits(&of_b, terms, error - most_spread(&of_a, terms));
    return fmax(bits_a, bits_b) < BITS_OF_INTEGER && bits_a + bits_b <= bits_of_moduli();
}
