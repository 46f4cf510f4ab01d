#include "lib/streaming/not_finite.h"

#include <stdbool.h>
#include <string.h>

/* A vector of the instruction sets that every machine has. */
typedef uint32_t words __attribute__((vector_size(16)));
enum { VECTORS = 4, BLOCK = VECTORS * sizeof(words) };

/* Where a word's exponent is, and what it is where the number is not finite. The lower half of a double is never that. */
typedef struct pattern {
    words mask, all_ones;
} pattern;

static const pattern patterns[TB_REAL_ELEMENTS] = {
    [TB_FP32] = {{0x7f800000, 0x7f800000, 0x7f800000, 0x7f800000},
                 {0x7f800000, 0x7f800000, 0x7f800000, 0x7f800000}},
    [TB_FP64] = {{0, 0x7ff00000, 0, 0x7ff00000}, {1, 0x7ff00000, 1, 0x7ff00000}},
};

static inline words hits_in(const char *numbers, const pattern *pattern)
{
    words vector;
    memcpy(&vector, numbers, sizeof vector);
    return (words)((vector & pattern->mask) == pattern->all_ones);
}

static bool is_any(words hits)
{
    return (hits[0] | hits[1] | hits[2] | hits[3]) != 0;
}

static bool has_not_finite(const char *numbers, size_t bytes, const pattern *pattern)
{
    words hits = {0};
    size_t at = 0;
    for (; at + BLOCK <= bytes; at += BLOCK)
        for (int i = 0; i < VECTORS; i++)
            hits |= hits_in(numbers + at + (size_t)i * sizeof hits, pattern);
    char last[BLOCK] = {0};
    memcpy(last, numbers + at, bytes - at);
    for (int i = 0; i < VECTORS; i++)
        hits |= hits_in(last + (size_t)i * sizeof hits, pattern);
    return is_any(hits);
}

static uint32_t class_of(const char *number, tb_element element)
{
    uint64_t magnitude = 0, infinity;
    if (element == TB_FP32) {
        uint32_t single;
        memcpy(&single, number, sizeof single);
        magnitude = single & 0x7fffffff;
        infinity = 0x7f800000;
    } else {
        memcpy(&magnitude, number, sizeof magnitude);
        magnitude &= UINT64_C(0x7fffffffffffffff);
        infinity = UINT64_C(0x7ff0000000000000);
    }
    return magnitude < infinity ? 0 : magnitude == infinity ? TB_SEEN_INFINITY : TB_SEEN_NAN;
}

/* A NaN comes of an infinity only by an invalid operation. */
static uint32_t class_beside(const char *number, const char *older, tb_element element)
{
    const uint32_t now = class_of(number, element), before = class_of(older, element);
    return before == TB_SEEN_NAN || before == now ? 0 : now;
}

uint32_t tb_find_not_finite(const void *numbers, size_t bytes, tb_element element, const void *older)
{
    const char *number = numbers, *old = older;
    uint32_t found = 0;
    if (!has_not_finite(number, bytes, &patterns[element]))
        return 0;
    for (size_t at = 0; at < bytes && found != TB_SEEN_BOTH; at += tb_bytes_of(element))
        found |= old ? class_beside(number + at, old + at, element) : class_of(number + at, element);
    return found;
}
