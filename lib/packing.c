#include "lib/packing.h"

#include "lib/integers.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { BLOCK = TB_PACKED_FLOATS, HALF = BLOCK / 2, WHOLE_BYTES = BLOCK * (int)sizeof(float) };

/* Where a block's parts go. */
typedef struct parts {
    unsigned char *low, *high, *steps;
    uint16_t *head;
} parts;

bool tb_packs_fast(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

int64_t tb_packing_columns(int64_t rows, size_t bytes)
{
    return (int64_t)bytes / (tb_packed_blocks(rows) * WHOLE_BYTES);
}

void tb_packing_begin(tb_packing *packing, void *memory, size_t bytes, int64_t rows, int64_t columns)
{
    const int64_t room = ((int64_t)bytes - tb_packed_wholes(rows, columns)) / WHOLE_BYTES;
    packing->memory = memory;
    packing->rows = rows;
    packing->columns = columns;
    packing->wholes_most = tb_smaller(room, TB_PACKED_WHOLE);
    atomic_init(&packing->wholes, 0);
}

size_t tb_packing_end(tb_packing *packing)
{
    const int64_t wholes = atomic_load(&packing->wholes);
    return wholes > packing->wholes_most
               ? 0
               : (size_t)(tb_packed_wholes(packing->rows, packing->columns) + wholes * WHOLE_BYTES);
}

static void keep_whole(tb_packing *packing, const float *block, uint16_t *head)
{
    const int64_t index = atomic_fetch_add_explicit(&packing->wholes, 1, memory_order_relaxed);
    if (index >= packing->wholes_most)
        return;
    memcpy(packing->memory + tb_packed_wholes(packing->rows, packing->columns) + index * WHOLE_BYTES, block,
           WHOLE_BYTES);
    *head = (uint16_t)(TB_PACKED_WHOLE | index);
}

/* The highest exponent, or -1 when the block has to travel as it is. */
static int pack_slowly(const float *block, const parts *parts)
{
    uint32_t bits[BLOCK], highest = 0;
    unsigned char steps[BLOCK];
    memcpy(bits, block, sizeof bits);
    for (int i = 0; i < BLOCK; i++) {
        const uint32_t exponent = bits[i] >> 23 & 0xff;
        highest = exponent > highest ? exponent : highest;
    }
    for (int i = 0; i < BLOCK; i++) {
        const uint32_t step = highest - (bits[i] >> 23 & 0xff);
        const uint16_t low = (uint16_t)bits[i];
        if (step >= TB_PACKED_ZERO && bits[i] << 1 != 0)
            return -1;
        steps[i] = step < TB_PACKED_ZERO ? (unsigned char)step : TB_PACKED_ZERO;
        memcpy(parts->low + 2 * i, &low, sizeof low);
        parts->high[i] = (unsigned char)((bits[i] >> 24 & 0x80) | (bits[i] >> 16 & 0x7f));
    }
    for (int i = 0; i < HALF; i++)
        parts->steps[i] = (unsigned char)(steps[i] | steps[HALF + i] << 4);
    return (int)highest;
}

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))

/* Packing takes elements from each half of its operands in turn. */
AVX2 static inline __m256i in_order(__m256i packed)
{
    return _mm256_permute4x64_epi64(packed, 0xd8);
}

/* 32 floats: their lower halves are written, the rest is answered. */
AVX2 static inline __m256i take_parts(const float *floats, unsigned char *low, __m256i *high)
{
    const __m256i halves = _mm256_set1_epi32(0xffff), fraction = _mm256_set1_epi16(0x7f);
    const __m256i sign = _mm256_set1_epi16(0x80), byte = _mm256_set1_epi16(0xff);
    __m256i upper[2];
    for (int i = 0; i < 2; i++) {
        const __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)(floats + 16 * i));
        const __m256i y = _mm256_loadu_si256((const __m256i *)(const void *)(floats + 16 * i + 8));
        _mm256_stream_si256(
            (__m256i *)(void *)(low + 32 * i),
            in_order(_mm256_packus_epi32(_mm256_and_si256(x, halves), _mm256_and_si256(y, halves))));
        upper[i] = in_order(_mm256_packus_epi32(_mm256_srli_epi32(x, 16), _mm256_srli_epi32(y, 16)));
    }
    __m256i signed_fraction[2], exponent[2];
    for (int i = 0; i < 2; i++) {
        signed_fraction[i] = _mm256_or_si256(_mm256_and_si256(upper[i], fraction),
                                             _mm256_and_si256(_mm256_srli_epi16(upper[i], 8), sign));
        exponent[i] = _mm256_and_si256(_mm256_srli_epi16(upper[i], 7), byte);
    }
    *high = in_order(_mm256_packus_epi16(signed_fraction[0], signed_fraction[1]));
    return in_order(_mm256_packus_epi16(exponent[0], exponent[1]));
}

AVX2 static inline int highest_of(__m256i x, __m256i y)
{
    const __m256i larger = _mm256_max_epu8(x, y);
    __m128i most = _mm_max_epu8(_mm256_castsi256_si128(larger), _mm256_extracti128_si256(larger, 1));
    most = _mm_max_epu8(most, _mm_srli_si128(most, 8));
    most = _mm_max_epu8(most, _mm_srli_si128(most, 4));
    most = _mm_max_epu8(most, _mm_srli_si128(most, 2));
    most = _mm_max_epu8(most, _mm_srli_si128(most, 1));
    return _mm_extract_epi8(most, 0);
}

/* Which of 32 floats are zero, one bit each. */
AVX2 static inline unsigned zeros_among(const float *floats)
{
    unsigned zeros = 0;
    for (int i = 0; i < 4; i++) {
        const __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)(floats + 8 * i));
        const __m256i is_zero = _mm256_cmpeq_epi32(_mm256_slli_epi32(x, 1), _mm256_setzero_si256());
        zeros |= (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(is_zero)) << 8 * i;
    }
    return zeros;
}

/* As pack_slowly. */
AVX2 static int pack_fast(const float *block, const parts *parts)
{
    const __m256i most = _mm256_set1_epi8((char)TB_PACKED_ZERO);
    __m256i high[2], exponents[2], steps[2];
    for (int i = 0; i < 2; i++)
        exponents[i] = take_parts(block + HALF * i, parts->low + 2 * HALF * i, &high[i]);
    const int highest = highest_of(exponents[0], exponents[1]);
    const __m256i top = _mm256_set1_epi8((char)highest);
    for (int i = 0; i < 2; i++) {
        _mm256_stream_si256((__m256i *)(void *)(parts->high + HALF * i), high[i]);
        steps[i] = _mm256_min_epu8(_mm256_sub_epi8(top, exponents[i]), most);
        const unsigned far = (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(steps[i], most));
        if (far != 0 && (far & ~zeros_among(block + HALF * i)) != 0)
            return -1;
    }
    _mm256_stream_si256((__m256i *)(void *)parts->steps,
                        _mm256_or_si256(steps[0], _mm256_slli_epi16(steps[1], 4)));
    return highest;
}
#endif

static int pack(const float *block, const parts *parts)
{
#if defined(__x86_64__)
    if (tb_packs_fast())
        return pack_fast(block, parts);
#endif
    return pack_slowly(block, parts);
}

void tb_pack_column(tb_packing *packing, int64_t column, const float *data)
{
    const int64_t rows = packing->rows, blocks = tb_packed_blocks(rows);
    unsigned char *memory = packing->memory + column * blocks * TB_PACKED_BYTES;
    uint16_t *heads =
        (uint16_t *)(void *)(packing->memory + tb_packed_heads(rows, packing->columns)) + column * blocks;
    for (int64_t i = 0; i < blocks; i++) {
        const parts parts = {.low = memory + 2 * BLOCK * i,
                             .high = memory + 2 * BLOCK * blocks + BLOCK * i,
                             .steps = memory + 3 * BLOCK * blocks + HALF * i,
                             .head = heads + i};
        const int64_t count = tb_smaller(rows - BLOCK * i, BLOCK);
        const float *block = data + BLOCK * i;
        float filled_up[BLOCK] = {0};
        if (count < BLOCK)
            block = memcpy(filled_up, block, (size_t)count * sizeof(float));
        const int highest = count < BLOCK ? pack_slowly(block, &parts) : pack(block, &parts);
        if (highest < 0)
            keep_whole(packing, block, parts.head);
        else
            *parts.head = (uint16_t)highest;
    }
#if defined(__x86_64__)
    _mm_sfence();
#endif
}
