#include "lib/fingerprint.h"

#include <pthread.h>
#include <string.h>
#include <sys/random.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* A step of the sums, in bytes and in pairs of words. */
enum { STEP_BYTES = 64, STEP = STEP_BYTES / 8, PAIRS = TB_FINGERPRINT_BYTES / 8 };

/* By pairs of words; the second sum's begins one pair later. */
static uint64_t key[PAIRS + 1];
static bool is_drawn, has_avx2;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void draw_key(void)
{
    char *next = (char *)key;
    size_t left = sizeof key;
#if defined(__x86_64__)
    has_avx2 = __builtin_cpu_supports("avx2");
#endif
    while (left > 0) {
        const ssize_t drawn = getrandom(next, left, GRND_NONBLOCK);
        if (drawn <= 0)
            return;
        next += drawn;
        left -= (size_t)drawn;
    }
    is_drawn = true;
}

bool tb_fingerprints_ready(void)
{
    pthread_once(&once, draw_key);
    return is_drawn;
}

static uint64_t product(uint64_t pair, uint64_t of_key)
{
    const uint32_t low = (uint32_t)pair + (uint32_t)of_key,
                   high = (uint32_t)(pair >> 32) + (uint32_t)(of_key >> 32);
    return (uint64_t)low * high;
}

/* Of whole steps, which the key's pairs from first on are for. */
static void add_steps(const char *bytes, size_t count, size_t first, uint64_t sums[2])
{
    for (size_t at = 0; at < count / 8; at++) {
        uint64_t pair;
        memcpy(&pair, bytes + 8 * at, sizeof pair);
        sums[0] += product(pair, key[first + at]);
        sums[1] += product(pair, key[first + at + 1]);
    }
}

#if defined(__x86_64__)
/* How far ahead memory is asked for. By themselves cores fetch no further than the end of a page, and twelve of them read 76
 * GB/s instead of 129 (an H200's host, 16 virtual cores; a throwaway program). */
#define AHEAD_BYTES 8192

__attribute__((target("avx2"))) static __m256i products_avx2(__m256i pairs, const uint64_t *of_key)
{
    const __m256i sum = _mm256_add_epi32(pairs, _mm256_loadu_si256((const __m256i *)(const void *)of_key));
    return _mm256_mul_epu32(sum, _mm256_srli_epi64(sum, 32));
}

__attribute__((target("avx2"))) static uint64_t add_up_avx2(__m256i first, __m256i second)
{
    uint64_t parts[4];
    _mm256_storeu_si256((__m256i *)(void *)parts, _mm256_add_epi64(first, second));
    return parts[0] + parts[1] + parts[2] + parts[3];
}

__attribute__((target("avx2"))) static void add_steps_avx2(const char *bytes, size_t count, uint64_t sums[2])
{
    __m256i first[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()}, second[2] = {first[0], first[0]};
    for (size_t at = 0; at < count; at += STEP_BYTES) {
        _mm_prefetch(bytes + at + AHEAD_BYTES, _MM_HINT_T1);
        for (size_t half = 0; half < 2; half++) {
            const __m256i pairs =
                _mm256_loadu_si256((const __m256i *)(const void *)(bytes + at + half * STEP_BYTES / 2));
            const uint64_t *of_key = key + at / 8 + half * STEP / 2;
            first[half] = _mm256_add_epi64(first[half], products_avx2(pairs, of_key));
            second[half] = _mm256_add_epi64(second[half], products_avx2(pairs, of_key + 1));
        }
    }
    sums[0] += add_up_avx2(first[0], first[1]);
    sums[1] += add_up_avx2(second[0], second[1]);
}
#else
static void add_steps_avx2(const char *bytes, size_t count, uint64_t sums[2])
{
    add_steps(bytes, count, 0, sums);
}
#endif

static tb_fingerprint fingerprint(const char *bytes, size_t count, bool by_avx2)
{
    tb_fingerprint print = {{0, 0}};
    const size_t whole = count / STEP_BYTES * STEP_BYTES;
    if (by_avx2)
        add_steps_avx2(bytes, whole, print.sums);
    else
        add_steps(bytes, whole, 0, print.sums);
    if (whole < count) {
        char last[STEP_BYTES] = {0};
        memcpy(last, bytes + whole, count - whole);
        add_steps(last, STEP_BYTES, whole / 8, print.sums);
    }
    return print;
}

tb_fingerprint tb_fingerprint_of(const void *bytes, size_t count)
{
    return fingerprint(bytes, count, has_avx2);
}

tb_fingerprint tb_portable_fingerprint_of(const void *bytes, size_t count)
{
    return fingerprint(bytes, count, false);
}
