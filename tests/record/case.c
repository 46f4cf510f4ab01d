/* A case: its operands, its call, and its line of the record. */
#include "record.h"

#include "place.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Elements in front of C and behind it. */
#define CANARY 64
/* What C holds where it is not to be read, and around it: quiet NaNs that no arithmetic makes, of either
 * element. */
static const uint32_t never_read = 0x7fc0dead;
static const uint64_t never_read_double = 0x7ff8dead7fc0dead;

bool record_of_doubles;

static const char *group_name;
static int case_number;

/* ---- The library ---------------------------------------------------------------------------------------------- */

static int (*set_option)(const char *name, const char *value);
static int (*set_precision)(const char *name);
static size_t (*last_plan)(char *text, size_t size);
/* Of the group's element; a pointer to its scalars is of its own type. */
static void (*fortran_gemm)(const char *, const char *, const int *, const int *, const int *, const void *,
                            const void *, const int *, const void *, const int *, const void *, void *,
                            const int *, size_t, size_t);
static void (*cblas_sgemm)(int, int, int, int, int, int, float, const void *, int, const void *, int, float,
                           void *, int);
static void (*cblas_dgemm)(int, int, int, int, int, int, double, const void *, int, const void *, int, double,
                           void *, int);

/* An address goes into a pointer to a function. */
static void find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    if (!address) {
        fprintf(stderr, "record: the library has no %s\n", name);
        exit(EXIT_FAILURE);
    }
}

void record_begin(const char *name, bool of_doubles, void *library)
{
    group_name = name;
    record_of_doubles = of_doubles;
    find(library, "tileblas_set_option", &set_option);
    find(library, "tileblas_set_precision", &set_precision);
    find(library, "tileblas_last_plan", &last_plan);
    find(library, of_doubles ? "dgemm_" : "sgemm_", &fortran_gemm);
    find(library, "cblas_sgemm", &cblas_sgemm);
    find(library, "cblas_dgemm", &cblas_dgemm);
}

/* ---- Operands ---------------------------------------------------------------------------------------------- */

/* Rows and columns are those of the memory: a column is what lies together. */
typedef struct operand {
    char place;
    int rows, columns, ld;
    size_t first, bytes; /* of the block; the element that the call is given */
    void *block;         /* in its place */
    void *image;         /* in ordinary memory; the block itself where it lies there */
} operand;

static size_t bytes_of(size_t elements)
{
    return elements * (record_of_doubles ? sizeof(double) : sizeof(float));
}

static void *first_of(const operand *operand)
{
    return (char *)operand->block + bytes_of(operand->first);
}

static operand make_operand(const record_case *now, int which, int rows, int columns)
{
    const bool row_major = now->spelling == 'r';
    operand made = {.place = now->places[which],
                    .rows = row_major ? columns : rows,
                    .columns = row_major ? rows : columns};
    made.ld = (made.rows > 0 ? made.rows : 1) + now->pad;
    made.first = (size_t)(CANARY + now->skew);
    made.bytes = bytes_of(made.first + (size_t)made.ld * (size_t)made.columns + CANARY);
    made.block = place_allocate(made.place, made.bytes);
    made.image = made.place == 'H' ? made.block : place_allocate('H', made.bytes);
    return made;
}

static void free_operand(operand *operand)
{
    if (operand->image != operand->block)
        place_release('H', operand->image);
    place_release(operand->place, operand->block);
}

static void copy_block(void *target, const void *source, const operand *operand)
{
    if (target != source)
        place_copy(target, source, operand->bytes);
}

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Elements in [-1, 1), or the value that is not to be read, which is also around them. */
static void fill(operand *operand, uint64_t seed, bool readable)
{
    const bool of_doubles = record_of_doubles;
    const void *filler = of_doubles ? (const void *)&never_read_double : &never_read;
    for (size_t at = 0; at < operand->bytes; at += bytes_of(1))
        memcpy((char *)operand->image + at, filler, bytes_of(1));
    for (int j = 0; readable && j < operand->columns; j++)
        for (int i = 0; i < operand->rows; i++) {
            const size_t index = operand->first + (size_t)j * (size_t)operand->ld + (size_t)i;
            const uint64_t random = next_random(&seed);
            if (of_doubles)
                ((double *)operand->image)[index] = (double)((int64_t)random >> 11) * 0x1p-52;
            else
                ((float *)operand->image)[index] = (float)(int32_t)(random >> 32) * 0x1p-31f;
        }
    copy_block(operand->block, operand->image, operand);
}

static uint64_t hash_block(operand *operand)
{
    uint64_t hash = 0x6a09e667f3bcc908u;
    copy_block(operand->image, operand->block, operand);
    const uint32_t *words = operand->image;
    for (size_t i = 0; i < operand->bytes / sizeof *words; i++) {
        hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    return hash;
}

/* ---- A call ------------------------------------------------------------------------------------------------ */

static bool is_transposed(const record_case *now, int which)
{
    return now->transposes[which] == 'T';
}

static void call(const record_case *now, const operand *a, const operand *b, const operand *c)
{
    const bool of_doubles = record_of_doubles;
    const float alpha = (float)now->alpha, beta = (float)now->beta;
    if (now->spelling == 'f') {
        fortran_gemm(now->transposes, now->transposes + 1, &now->m, &now->n, &now->k,
                     of_doubles ? (const void *)&now->alpha : &alpha, first_of(a), &a->ld, first_of(b),
                     &b->ld, of_doubles ? (const void *)&now->beta : &beta, first_of(c), &c->ld, 1, 1);
        return;
    }
    const int order = now->spelling == 'r' ? 101 : 102, of_a = is_transposed(now, 0) ? 112 : 111,
              of_b = is_transposed(now, 1) ? 112 : 111;
    if (of_doubles)
        cblas_dgemm(order, of_a, of_b, now->m, now->n, now->k, now->alpha, first_of(a), a->ld, first_of(b),
                    b->ld, now->beta, first_of(c), c->ld);
    else
        cblas_sgemm(order, of_a, of_b, now->m, now->n, now->k, alpha, first_of(a), a->ld, first_of(b), b->ld,
                    beta, first_of(c), c->ld);
}

static void print_plan(void)
{
    char plan[512] = "";
    last_plan(plan, sizeof plan);
    char *forecast = strstr(plan, " (");
    if (forecast)
        *forecast = '\0';
    printf(" | %s", plan);
}

static void print_copies(void)
{
    place_copies copies;
    if (place_take_copies(&copies))
        printf(" | copies %" PRIu64 " of %" PRIu64 " bytes, %08x", copies.count, copies.bytes,
               (unsigned)(copies.sum >> 32 ^ copies.sum));
    else
        printf(" | -");
}

/* Standard error is a file; its lines since the last time become one. */
static void print_what_was_said(void)
{
    static off_t read_to;
    char text[512];
    fflush(stderr);
    const char *between = " | said: ";
    for (ssize_t bytes; (bytes = pread(STDERR_FILENO, text, sizeof text, read_to)) > 0; read_to += bytes) {
        for (ssize_t i = 0; i < bytes; i++)
            text[i] = text[i] == '\n' ? ' ' : text[i];
        printf("%s%.*s", between, (int)bytes, text);
        between = "";
    }
}

static const char *or_auto(const char *value)
{
    return value ? value : "auto";
}

static void print_case(const record_case *now, int repetition)
{
    const char *const spellings[] = {record_of_doubles ? "dgemm_" : "sgemm_", "cblas", "cblas row-major"};
    printf("%s.%03d.%d | %s %s m=%d n=%d k=%d ld+%d at+%d alpha=%g beta=%g in %s route=%s kernel=%s%s%s",
           group_name, case_number, repetition,
           spellings[now->spelling == 'f'   ? 0
                     : now->spelling == 'c' ? 1
                                            : 2],
           now->transposes, now->m, now->n, now->k, now->pad, now->skew, now->alpha, now->beta, now->places,
           or_auto(now->route), or_auto(now->kernel), now->precision ? " precision=" : "",
           now->precision ? now->precision : "");
}

static uint64_t seed_of(const record_case *now)
{
    uint64_t state = ((uint64_t)now->m << 42) ^ ((uint64_t)now->n << 21) ^ (uint64_t)now->k;
    return next_random(&state);
}

void record_run(const record_case *now)
{
    const bool ta = is_transposed(now, 0), tb = is_transposed(now, 1);
    operand a = make_operand(now, 0, ta ? now->k : now->m, ta ? now->m : now->k);
    operand b = make_operand(now, 1, tb ? now->n : now->k, tb ? now->k : now->n);
    operand c = make_operand(now, 2, now->m, now->n);
    const uint64_t seed = seed_of(now);
    case_number++;
    set_option("ROUTE", or_auto(now->route));
    set_option("KERNEL", or_auto(now->kernel));
    set_precision(now->precision);
    fill(&a, seed, now->alpha != 0);
    fill(&b, seed + 1, now->alpha != 0);
    for (int i = 1; i <= (now->calls > 0 ? now->calls : 1); i++) {
        if (i == 4)
            fill(&a, seed + 3, true);
        fill(&c, seed + 2, now->beta != 0);
        place_copies before;
        place_take_copies(&before);
        call(now, &a, &b, &c);
        print_case(now, i);
        print_plan();
        print_copies();
        printf(" | C %016" PRIx64, hash_block(&c));
        print_what_was_said();
        printf("\n");
        fflush(stdout);
    }
    free_operand(&a);
    free_operand(&b);
    free_operand(&c);
}
