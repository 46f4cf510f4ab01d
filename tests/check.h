/* What every test program here is written with: checks that record a failure and go on, the exit codes that
 * CTest reads, and a random generator whose seed is printed and taken back from TILEBLAS_TEST_SEED.
 *
 * Header only, for the one file of a program that holds main.
 */
#ifndef TB_CHECK_H
#define TB_CHECK_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* CTest's SKIP_RETURN_CODE. */
#define CHECK_SKIPPED 77

static atomic_long check_count, check_failures;

__attribute__((format(printf, 4, 5))) static inline bool check_record(bool holds, const char *file, int line,
                                                                      const char *format, ...)
{
    atomic_fetch_add(&check_count, 1);
    if (holds)
        return true;
    atomic_fetch_add(&check_failures, 1);
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s:%d: %s\n", file, line, text);
    return false;
}

/* CHECK(sum == 3, "the sum is %d", sum): counts, reports a failure, goes on. Its value is the condition's. */
#define CHECK(condition, ...) check_record((condition), __FILE__, __LINE__, __VA_ARGS__)

/* Ends the program as skipped, visibly. */
#define SKIP(...)                                                                                            \
    (printf("skipped: "), printf(__VA_ARGS__), printf("\n"), fflush(stdout), exit(CHECK_SKIPPED))

/* main returns this. */
static inline int check_result(void)
{
    printf("%ld checks, %ld failed\n", atomic_load(&check_count), atomic_load(&check_failures));
    return atomic_load(&check_failures) == 0 && atomic_load(&check_count) > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- random numbers ----------------------------------------------------------------------------------- */

typedef struct check_random {
    uint64_t state;
} check_random;

/* The seed of this run, printed: of the clock unless the environment names one. */
static inline uint64_t check_seed(void)
{
    const char *text = getenv("TILEBLAS_TEST_SEED");
    uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);
    printf("TILEBLAS_TEST_SEED=%" PRIu64 "\n", seed);
    return seed;
}

/* SplitMix64 (Steele, Lea, Flood 2014). */
static inline uint64_t check_next(check_random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* An integer from low to high, both included. */
static inline int64_t check_between(check_random *random, int64_t low, int64_t high)
{
    return low + (int64_t)(check_next(random) % (uint64_t)(high - low + 1));
}

/* A number in [-1, 1). */
static inline float check_uniform(check_random *random)
{
    return (float)(int32_t)(check_next(random) >> 32) * 0x1p-31f;
}

/* One element of an array. */
#define CHECK_PICK(random, array)                                                                            \
    ((array)[check_between(random, 0, (int64_t)(sizeof(array) / sizeof *(array)) - 1)])

#endif
