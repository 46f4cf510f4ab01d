#include "lib/streaming/not_finite.h"

#include <stdbool.h>
#include <string.h>

/* A vector of the instruction sets that every machine has. */
typedef uint32_t words __attribute__((vector_size(16)));
enum { BLOCK = 4 * sizeof(words) };

const tb_exponents tb_exponents_of[TB_REAL_ELEMENTS] = {
    [TB_FP32] = {{0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff}, {1U << 23, 1U << 23, 1U << 23, 1U << 23}},
    [TB_FP64] = {{0, 0x7fffffff, 0, 0x7fffffff}, {0, 1U << 20, 0, 1U << 20}},
};

static words load(const void *numbers)
{
    words vector;
    memcpy(&vector, numbers, sizeof vector);
    return vector;
}

static bool has_not_finite(const char *numbers, size_t bytes, tb_element element)
{
    const words mask = load(tb_exponents_of[element].mask), step = load(tb_exponents_of[element].step);
    words found = {0};
    size_t at = 0;
    for (; at + BLOCK <= bytes; at += BLOCK)
        for (size_t i = 0; i < BLOCK; i += sizeof(words))
            found |= (load(numbers + at + i) & mask) + step;
    char last[BLOCK] = {0};
    memcpy(last, numbers + at, bytes - at);
    for (size_t i = 0; i < BLOCK; i += sizeof(words))
        found |= (load(last + i) & mask) + step;
    return (found[0] | found[1] | found[2] | found[3]) >> 31 != 0;
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
    if (!has_not_finite(number, bytes, element))
        return 0;
    for (size_t at = 0; at < bytes && found != TB_SEEN_BOTH; at += tb_bytes_of(element))
        found |= old ? class_beside(number + at, old + at, element) : class_of(number + at, element);
    return found;
}
