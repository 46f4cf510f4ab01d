#include "lib/streaming/fingerprint.h"

#include "lib/process/threads.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>

#if defined(__x86_64__)
#include <immintrin.h>
static bool has_avx2;
#endif

/* A step of the sums, in bytes and in pairs of words. */
enum { STEP_BYTES = 64 };

/* A pair of 32-bit words for each pair of the data. The second sum begins with the second pair. */
static uint64_t key[TB_FINGERPRINT_KEY_WORDS];
_Static_assert(TB_FINGERPRINT_KEY_WORDS == TB_FINGERPRINT_BYTES / 8 + 1,
               "a pair for each pair, and one more");
static _Atomic(const uint64_t *) offered; /* in place of one that is drawn; NULL: none was */
static bool is_drawn;
static tb_once once = TB_ONCE;

static void draw_key(void)
{
    char *next = (char *)key;
    size_t left = sizeof key;
#if defined(__x86_64__)
    has_avx2 = __builtin_cpu_supports("avx2");
#endif
    const uint64_t *const given = atomic_load(&offered);
    if (given) {
        memcpy(key, given, sizeof key);
        is_drawn = true;
        return;
    }
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
    tb_do_once(&once, draw_key);
    return is_drawn;
}

bool tb_fingerprints_ready_by(const uint64_t *given)
{
    const uint64_t *none = NULL;
    atomic_compare_exchange_strong(&offered, &none, given);
    return tb_fingerprints_ready();
}

bool tb_fingerprints_are_by(const uint64_t *given)
{
    return tb_fingerprints_ready() && memcmp(key, given, sizeof key) == 0;
}

static uint64_t product(uint64_t pair, uint64_t of_key)
{
    const uint32_t low = (uint32_t)pair + (uint32_t)of_key,
                   high = (uint32_t)(pair >> 32) + (uint32_t)(of_key >> 32);
    return (uint64_t)low * high;
}

/* The sum of whole steps, which the key's pairs from first on are for. */
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
/* How far ahead memory is asked for. By themselves cores fetch no further than the end of a page, and twelve
 * of them read 76 GB/s instead of 129 (an H200's host, 16 virtual cores; a throwaway program). */
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

/* What becomes of the bytes besides. */
typedef enum copying { NOT_COPIED, COPIED, COPIED_PAST_CACHES } copying;

/* As add_steps. The compiler may not load the pairs once for the sums and once more for the copy. */
__attribute__((target("avx2"), always_inline)) static inline void
go_through_steps(const char *bytes, size_t count, char *target, copying copying, uint64_t sums[2])
{
    __m256i first[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()}, second[2] = {first[0], first[0]};
    for (size_t at = 0; at < count; at += STEP_BYTES) {
        _mm_prefetch(bytes + at + AHEAD_BYTES, _MM_HINT_T1);
        for (size_t half = 0; half < 2; half++) {
            const size_t from = at + half * STEP_BYTES / 2;
            __m256i pairs = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + from));
            __asm__("" : "+x"(pairs));
            if (copying == COPIED)
                _mm256_storeu_si256((__m256i *)(void *)(target + from), pairs);
            else if (copying == COPIED_PAST_CACHES)
                _mm256_stream_si256((__m256i *)(void *)(target + from), pairs);
            const uint64_t *of_key = key + from / 8;
            first[half] = _mm256_add_epi64(first[half], products_avx2(pairs, of_key));
            second[half] = _mm256_add_epi64(second[half], products_avx2(pairs, of_key + 1));
        }
    }
    sums[0] += add_up_avx2(first[0], first[1]);
    sums[1] += add_up_avx2(second[0], second[1]);
}

/* Whole steps, which are copied to target, unless that is NULL. */
__attribute__((target("avx2"))) static void take_steps_avx2(char *target, const char *bytes, size_t count,
                                                            bool past_caches, uint64_t sums[2])
{
    if (!target)
        go_through_steps(bytes, count, NULL, NOT_COPIED, sums);
    else if (past_caches && (uintptr_t)target % sizeof(__m256i) == 0)
        go_through_steps(bytes, count, target, COPIED_PAST_CACHES, sums);
    else
        go_through_steps(bytes, count, target, COPIED, sums);
}
#else
enum { has_avx2 = false };
static void take_steps_avx2(char *target, const char *bytes, size_t count, bool past_caches, uint64_t sums[2])
{
    (void)target, (void)bytes, (void)count, (void)past_caches, (void)sums; /* never called */
}
#endif

static size_t whole_steps(size_t count)
{
    return count / STEP_BYTES * STEP_BYTES;
}

/* From memory that others may be writing into: the compiler reads the copy from now on, and not the source again. */
static void read_once(char *copy, const char *source, size_t count)
{
    memcpy(copy, source, count);
    __asm__ volatile("" : : "r"(copy) : "memory");
}

/* What is left behind whole steps, filled up with zeros; copied to target, unless that is NULL. */
static void add_rest(char *target, const char *bytes, size_t count, uint64_t sums[2])
{
    const size_t whole = whole_steps(count);
    if (whole == count)
        return;
    char last[STEP_BYTES] = {0};
    read_once(last, bytes + whole, count - whole);
    add_steps(last, STEP_BYTES, whole / 8, sums);
    if (target)
        memcpy(target + whole, last, count - whole);
}

tb_fingerprint tb_portable_fingerprint_of(const void *bytes, size_t count)
{
    tb_fingerprint print = {{0, 0}};
    add_steps(bytes, whole_steps(count), 0, print.sums);
    add_rest(NULL, bytes, count, print.sums);
    return print;
}

tb_fingerprint tb_portable_copy_with_fingerprint(void *target, const void *source, size_t count)
{
    char copy[TB_FINGERPRINT_BYTES];
    read_once(copy, source, count);
    memcpy(target, copy, count);
    return tb_portable_fingerprint_of(copy, count);
}

static tb_fingerprint take_avx2(char *target, const char *bytes, size_t count, bool past_caches)
{
    tb_fingerprint print = {{0, 0}};
    take_steps_avx2(target, bytes, whole_steps(count), past_caches, print.sums);
    add_rest(target, bytes, count, print.sums);
    return print;
}

tb_fingerprint tb_fingerprint_of(const void *bytes, size_t count)
{
    return has_avx2 ? take_avx2(NULL, bytes, count, false) : tb_portable_fingerprint_of(bytes, count);
}

tb_fingerprint tb_copy_with_fingerprint(void *target, const void *source, size_t count, bool past_caches)
{
    return has_avx2 ? take_avx2(target, source, count, past_caches)
                    : tb_portable_copy_with_fingerprint(target, source, count);
}
