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

/* Floats in front of C and behind it. */
#define CANARY 64
/* What C holds where it is not to be read, and around it: a quiet NaN that no arithmetic makes. */
#define NEVER_READ 0x7fc0dead

static const char *group_name;
static int case_number;

/* ---- The library ---------------------------------------------------------------------------------------------- */

static int (*set_option)(const char *name, const char *value);
static int (*set_precision)(const char *name);
static size_t (*last_plan)(char *text, size_t size);
static void (*fortran_sgemm)(const char *, const char *, const int *, const int *, const int *, const float *,
                             const float *, const int *, const float *, const int *, const float *, float *,
                             const int *, size_t, size_t);
static void (*cblas_sgemm)(int, int, int, int, int, int, float, const float *, int, const float *, int, float,
                           float *, int);

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

void record_begin(const char *group, void *library)
{
    group_name = group;
    find(library, "tileblas_set_option", &set_option);
    find(library, "tileblas_set_precision", &set_precision);
    find(library, "tileblas_last_plan", &last_plan);
    find(library, "sgemm_", &fortran_sgemm);
    find(library, "cblas_sgemm", &cblas_sgemm);
}

/* ---- Operands ---------------------------------------------------------------------------------------------- */

/* Rows and columns are those of the memory: a column is what lies together. */
typedef struct operand {
    char place;
    int rows, columns, ld;
    size_t first, floats; /* of the block; the element that the call is given */
    float *block;         /* in its place */
    float *image;         /* in ordinary memory; the block itself where it lies there */
} operand;

static operand make_operand(const record_case *now, int which, int rows, int columns)
{
    const bool row_major = now->spelling == 'r';
    operand made = {.place = now->places[which],
                    .rows = row_major ? columns : rows,
                    .columns = row_major ? rows : columns};
    made.ld = (made.rows > 0 ? made.rows : 1) + now->pad;
    made.first = (size_t)(CANARY + now->skew);
    made.floats = made.first + (size_t)made.ld * (size_t)made.columns + CANARY;
    made.block = place_allocate(made.place, made.floats * sizeof(float));
    made.image = made.place == 'H' ? made.block : place_allocate('H', made.floats * sizeof(float));
    return made;
}

static void free_operand(operand *operand)
{
    if (operand->image != operand->block)
        place_release('H', operand->image);
    place_release(operand->place, operand->block);
}

static void copy_block(float *target, const float *source, const operand *operand)
{
    if (target != source)
        place_copy(target, source, operand->floats * sizeof(float));
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
    uint32_t *words = (uint32_t *)(void *)operand->image;
    for (size_t i = 0; i < operand->floats; i++)
        words[i] = NEVER_READ;
    for (int j = 0; readable && j < operand->columns; j++) {
        float *column = operand->image + operand->first + (size_t)j * (size_t)operand->ld;
        for (int i = 0; i < operand->rows; i++)
            column[i] = (float)(int32_t)(next_random(&seed) >> 32) * 0x1p-31f;
    }
    copy_block(operand->block, operand->image, operand);
}

static uint64_t hash_block(operand *operand)
{
    uint64_t hash = 0x6a09e667f3bcc908u;
    copy_block(operand->image, operand->block, operand);
    const uint32_t *words = (const uint32_t *)(const void *)operand->image;
    for (size_t i = 0; i < operand->floats; i++) {
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
    const float *first_a = a->block + a->first, *first_b = b->block + b->first;
    float *first_c = c->block + c->first;
    if (now->spelling == 'f') {
        fortran_sgemm(now->transposes, now->transposes + 1, &now->m, &now->n, &now->k, &now->alpha, first_a,
                      &a->ld, first_b, &b->ld, &now->beta, first_c, &c->ld, 1, 1);
        return;
    }
    cblas_sgemm(now->spelling == 'r' ? 101 : 102, is_transposed(now, 0) ? 112 : 111,
                is_transposed(now, 1) ? 112 : 111, now->m, now->n, now->k, now->alpha, first_a, a->ld,
                first_b, b->ld, now->beta, first_c, c->ld);
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
    static const char *const spellings[] = {"sgemm_", "cblas", "cblas row-major"};
    printf("%s.%03d.%d | %s %s m=%d n=%d k=%d ld+%d at+%d alpha=%g beta=%g in %s route=%s kernel=%s%s%s",
           group_name, case_number, repetition,
           spellings[now->spelling == 'f'   ? 0
                     : now->spelling == 'c' ? 1
                                            : 2],
           now->transposes, now->m, now->n, now->k, now->pad, now->skew, (double)now->alpha,
           (double)now->beta, now->places, or_auto(now->route), or_auto(now->kernel),
           now->precision ? " precision=" : "", now->precision ? now->precision : "");
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
