#include "lib/streaming/copy_rows.h"

#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if defined(__SSE2__)
enum { LINE = 64 };

/* Whole lines are written without being read before, so that fewer threads fill the link. */
static void copy_past_caches(char *target, const char *source, size_t bytes)
{
    size_t head = -(uintptr_t)target % LINE;
    if (bytes < LINE + head) {
        memcpy(target, source, bytes);
        return;
    }
    memcpy(target, source, head);
    size_t end = head + (bytes - head) / LINE * LINE;
    for (size_t at = head; at < end; at += LINE) {
        const __m128i *from = (const __m128i *)(const void *)(source + at);
        __m128i *to = (__m128i *)(void *)(target + at);
        const __m128i line[] = {_mm_loadu_si128(from), _mm_loadu_si128(from + 1), _mm_loadu_si128(from + 2),
                                _mm_loadu_si128(from + 3)};
        for (int i = 0; i < 4; i++)
            _mm_stream_si128(to + i, line[i]);
    }
    memcpy(target + end, source + end, bytes - end);
}

/* No lock orders such writes. */
static void finish_writing(void)
{
    _mm_sfence();
}
#else
static void copy_past_caches(char *target, const char *source, size_t bytes)
{
    memcpy(target, source, bytes);
}

static void finish_writing(void)
{
}
#endif

static void copy_unseen(const tb_host_copy *copy, char *target, const char *source, size_t bytes)
{
    if (copy->past_caches)
        copy_past_caches(target, source, bytes);
    else
        memcpy(target, source, bytes);
}

static __attribute__((noinline)) void look_at(const tb_host_copy *copy, const char *target,
                                              const char *source, size_t bytes)
{
    const uint32_t seen = tb_find_not_finite(source, bytes, copy->element, copy->has_older ? target : NULL)
                          << copy->seen_shift;
    if (seen & ~atomic_load_explicit(copy->seen, memory_order_relaxed))
        atomic_fetch_or_explicit(copy->seen, seen, memory_order_relaxed);
}

/* Whole numbers, before older ones are overwritten; so many bytes at a time, which are in the core's first cache when they are
 * copied. */
#define LOOK_BYTES ((size_t)4 << 10)

static void look_and_copy(const tb_host_copy *copy, char *target, const char *source, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += LOOK_BYTES) {
        const size_t count = bytes - at < LOOK_BYTES ? bytes - at : LOOK_BYTES;
        look_at(copy, target + at, source + at, count);
        copy_unseen(copy, target + at, source + at, count);
    }
}

#if defined(__SSE2__)
/* Two lines are looked at while they are in registers, which takes no longer than copying them does: one line at a time, or the
 * shorter registers of SSE2, take a twentieth or a tenth longer, and looking first and then copying a third (one and two
 * threads of an EPYC, from a slot into a large matrix). */
enum { PAIR = 2 * LINE };

__attribute__((target("avx2"), always_inline)) static inline void
copy_seen_lines(const tb_host_copy *copy, char *target, const char *source, size_t bytes, bool past_caches)
{
    const __m256i mask = _mm256_broadcastsi128_si256(
                      _mm_loadu_si128((const void *)tb_exponents_of[copy->element].mask)),
                  step = _mm256_broadcastsi128_si256(
                      _mm_loadu_si128((const void *)tb_exponents_of[copy->element].step));
    for (size_t at = 0; at < bytes; at += PAIR) {
        __m256i *to = (__m256i *)(void *)(target + at), found = _mm256_setzero_si256();
        __m256i pair[PAIR / sizeof(__m256i)];
        for (int i = 0; i < 4; i++) {
            pair[i] = _mm256_loadu_si256((const __m256i *)(const void *)(source + at) + i);
            found = _mm256_or_si256(found, _mm256_add_epi32(_mm256_and_si256(pair[i], mask), step));
        }
        if (__builtin_expect(_mm256_movemask_ps(_mm256_castsi256_ps(found)), 0))
            look_at(copy, target + at, source + at, PAIR);
        for (int i = 0; i < 4; i++)
            if (past_caches)
                _mm256_stream_si256(to + i, pair[i]);
            else
                _mm256_store_si256(to + i, pair[i]);
    }
}

__attribute__((target("avx2"))) static void copy_lines(const tb_host_copy *copy, char *target,
                                                       const char *source, size_t bytes)
{
    if (copy->past_caches)
        copy_seen_lines(copy, target, source, bytes, true);
    else
        copy_seen_lines(copy, target, source, bytes, false);
}

static void copy_seen(const tb_host_copy *copy, char *target, const char *source, size_t bytes)
{
    const size_t head = -(uintptr_t)target % LINE;
    /* Doubles may be aligned as ints are. */
    if (bytes < PAIR + head || head % tb_bytes_of(copy->element) != 0 || !__builtin_cpu_supports("avx2")) {
        look_and_copy(copy, target, source, bytes);
        return;
    }
    const size_t end = head + (bytes - head) / PAIR * PAIR;
    look_and_copy(copy, target, source, head);
    copy_lines(copy, target + head, source + head, end - head);
    look_and_copy(copy, target + end, source + end, bytes - end);
}
#else
#define copy_seen look_and_copy
#endif

/* Whether there may be something to see. */
static bool looks(const tb_host_copy *copy)
{
    const uint32_t all = (uint32_t)TB_SEEN_BOTH << copy->seen_shift;
    return copy->seen && (atomic_load_explicit(copy->seen, memory_order_relaxed) & all) != all;
}

static void copy_bytes(const tb_host_copy *copy, char *target, const char *source, size_t bytes)
{
    (looks(copy) ? copy_seen : copy_unseen)(copy, target, source, bytes);
}

static void copy_stairs(const tb_host_copy *copy, size_t first, size_t rows)
{
    for (size_t row = first; row < first + rows; row++) {
        const tb_row_part part = tb_part_of_row(&copy->stairs, copy->row_bytes, row);
        if (part.begin < part.end)
            copy_bytes(copy, copy->target + row * copy->target_pitch + part.begin,
                       copy->source + row * copy->source_pitch + part.begin, part.end - part.begin);
    }
}

static void copy_unprinted(const tb_host_copy *copy, size_t first, size_t rows)
{
    if (copy->stairs.step_bytes > 0) {
        copy_stairs(copy, first, rows);
        return;
    }
    char *target = copy->target + first * copy->target_pitch;
    const char *source = copy->source + first * copy->source_pitch;
    size_t row_bytes = copy->row_bytes;
    if (copy->target_pitch == row_bytes && copy->source_pitch == row_bytes) {
        row_bytes *= rows;
        rows = 1;
    }
    for (size_t row = 0; row < rows; row++, target += copy->target_pitch, source += copy->source_pitch)
        copy_bytes(copy, target, source, row_bytes);
}

static void look_at_rows(const tb_host_copy *copy, size_t first, size_t rows)
{
    for (size_t row = first; row < first + rows && looks(copy); row++) {
        const tb_row_part part = tb_part_of_row(&copy->stairs, copy->row_bytes, row);
        look_at(copy, NULL, copy->source + row * copy->source_pitch + part.begin, part.end - part.begin);
    }
}

static size_t print_bytes(const tb_host_copy *copy, size_t at)
{
    const size_t left = copy->row_bytes - at;
    return left < TB_FINGERPRINT_BYTES ? left : TB_FINGERPRINT_BYTES;
}

/* Prints are of what has been copied, and not of what lies there a moment before or after. */
static void copy_and_print_row(const tb_host_copy *copy, size_t row)
{
    char *target = copy->target + row * copy->target_pitch;
    const char *source = copy->source + row * copy->source_pitch;
    tb_fingerprint *print = copy->prints + row * tb_prints_of(copy->row_bytes);
    for (size_t at = 0; at < copy->row_bytes; at += TB_FINGERPRINT_BYTES) {
        *print++ =
            tb_copy_with_fingerprint(target + at, source + at, print_bytes(copy, at), copy->past_caches);
    }
}

static bool row_is_same(const tb_host_copy *copy, size_t row)
{
    const char *source = copy->source + row * copy->source_pitch;
    const tb_fingerprint *print = copy->prints + row * tb_prints_of(copy->row_bytes);
    for (size_t at = 0; at < copy->row_bytes; at += TB_FINGERPRINT_BYTES)
        if (!tb_is_same_fingerprint(*print++, tb_fingerprint_of(source + at, print_bytes(copy, at))))
            return false;
    return true;
}

void tb_copy_rows(const tb_host_copy *copy, size_t first, size_t rows)
{
    if (!copy->target)
        look_at_rows(copy, first, rows);
    else if (!copy->prints)
        copy_unprinted(copy, first, rows);
    for (size_t row = first; copy->prints && row < first + rows; row++)
        copy_and_print_row(copy, row);
    if (copy->past_caches)
        finish_writing();
}

bool tb_rows_are_same(const tb_host_copy *copy, size_t first, size_t rows)
{
    for (size_t row = first; row < first + rows; row++)
        if (!row_is_same(copy, row))
            return false;
    return true;
}
