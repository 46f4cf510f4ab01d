/* A case: its operands, its call, and its line of the record. */
#include "record.h"

#include "kernels/catalog.h"
#include "operands.h"
#include "place.h"
#include "tests/conformance/batch_calls.h"
#include "tests/conformance/spellings.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLAN_BYTES 512

tb_element record_element;

static const char *group_name;
static int case_number;
static bool *rows_seen, routines_seen[TB_ROUTINES];

bool record_has_row(size_t row)
{
    return rows_seen[row];
}

bool record_has_routine(tb_routine routine)
{
    return routines_seen[routine];
}

static _Noreturn void give_up(const char *why, const char *of)
{
    fprintf(stderr, "record: %s%s\n", why, of);
    exit(EXIT_FAILURE);
}

/* ---- The library ---------------------------------------------------------------------------------------------- */

static int (*set_option)(const char *name, const char *value);
static int (*set_precision)(const char *name);
static size_t (*last_plan)(char *text, size_t size);

/* An address goes into a pointer to a function. */
static void find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    if (!address)
        give_up("the library has no ", name);
}

void record_begin(const char *name, tb_element element, void *library)
{
    group_name = name;
    record_element = element;
    spelling_library = batch_library = library;
    find(library, "tileblas_set_option", &set_option);
    find(library, "tileblas_set_precision", &set_precision);
    find(library, "tileblas_last_plan", &last_plan);
    rows_seen = calloc(tb_catalog_size, sizeof *rows_seen);
    if (!rows_seen)
        give_up("no memory", "");
}

/* ---- A call ------------------------------------------------------------------------------------------------ */

/* The transposition as the spelling has it: a letter, or the number of CBLAS. */
static int transpose(const record_case *now, char letter)
{
    return now->spelling == 'f' ? letter : letter == 'N' ? 111 : letter == 'T' ? 112 : 113;
}

static int triangle(const record_case *now)
{
    const bool upper = now->triangle == 'U';
    return now->spelling == 'f' ? (upper ? 'U' : 'L') : upper ? 121 : 122;
}

static int side(const record_case *now)
{
    const bool right = now->side == 'R';
    return now->spelling == 'f' ? (right ? 'R' : 'L') : right ? 142 : 141;
}

static int diagonal(const record_case *now)
{
    const bool unit = now->diagonal == 'U';
    return now->spelling == 'f' ? (unit ? 'U' : 'N') : unit ? 132 : 131;
}

static void name_call(const record_case *now, char *name, size_t size)
{
    snprintf(name, size, now->spelling == 'f' ? "%s_" : "cblas_%s", record_row_of(now)->name);
}

static void call_single(const record_case *now, const char *name, const record_operand operands[RECORD_ROLES])
{
    const call_arguments arguments = {
        .row_major = now->spelling == 'r',
        .side = side(now),
        .triangle = triangle(now),
        .transpose_a = transpose(now, now->transposes[0]),
        .transpose_b = transpose(now, now->transposes[1] ? now->transposes[1] : 'N'),
        .diagonal = diagonal(now),
        .m = now->m,
        .n = now->n,
        .k = now->k,
        .lda = operands[RECORD_A].ld,
        .ldb = operands[RECORD_B].ld,
        .ldc = operands[RECORD_C].ld,
        .alpha = now->alpha,
        .beta = now->beta,
        .alpha_im = now->alpha_im,
        .beta_im = now->beta_im,
        .a = record_member(&operands[RECORD_A], 0),
        .b = record_member(&operands[RECORD_B], 0),
        .c = record_member(&operands[RECORD_C], 0),
    };
    const spelling *spelling = spelling_named(name);
    if (!spelling || !call_routine(spelling, &arguments))
        give_up("the library has no ", name);
}

/* A group of all members. */
static void call_batch(const record_case *now, const char *name, const record_operand operands[RECORD_ROLES])
{
    const bool strided = tb_class_of(now->routine)->is_strided;
    const batch_group group = {
        .transpose_a = now->transposes[0],
        .transpose_b = now->transposes[1],
        .m = now->m,
        .n = now->n,
        .k = now->k,
        .lda = operands[RECORD_A].ld,
        .ldb = operands[RECORD_B].ld,
        .ldc = operands[RECORD_C].ld,
        .alpha = {now->alpha, now->alpha_im},
        .beta = {now->beta, now->beta_im},
        .strides = {(int64_t)operands[RECORD_A].stride, (int64_t)operands[RECORD_B].stride,
                    (int64_t)operands[RECORD_C].stride},
        .size = RECORD_MEMBERS,
    };
    void *members[RECORD_ROLES][RECORD_MEMBERS];
    for (record_role role = RECORD_A; role < RECORD_ROLES; role++)
        for (int number = 0; number < RECORD_MEMBERS; number++)
            members[role][number] = record_member(&operands[role], strided ? 0 : number);
    const batch_spelling *spelling = batch_spelling_named(name);
    if (!spelling ||
        !batch_call(spelling, now->spelling == 'r', &group, 1, (const void *const *)members[RECORD_A],
                    (const void *const *)members[RECORD_B], members[RECORD_C]))
        give_up("the library has no ", name);
}

/* ---- A line ------------------------------------------------------------------------------------------------ */

/* The plan reads "resident with sgemm_simt_128x64 on device 0: ...". */
static void note_what_computed(const record_case *now, const char *plan)
{
    const char *with = strstr(plan, " with ");
    if (!with || strncmp(plan, "host", 4) == 0)
        return;
    routines_seen[now->routine] = true;
    with += strlen(" with ");
    const size_t length = strcspn(with, " :,");
    for (size_t row = 0; row < tb_catalog_size; row++)
        if (strlen(tb_catalog[row].name) == length && strncmp(tb_catalog[row].name, with, length) == 0)
            rows_seen[row] = true;
}

static void print_plan(const record_case *now)
{
    char plan[PLAN_BYTES] = "";
    last_plan(plan, sizeof plan);
    note_what_computed(now, plan);
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

static void print_scalar(const char *name, double real, double imaginary)
{
    printf(imaginary != 0 ? " %s=%g%+gi" : " %s=%g", name, real, imaginary);
}

static void print_case(const record_case *now, const char *name, int repetition)
{
    char letters[8] = "";
    snprintf(letters, sizeof letters, "%.1s%.1s%.1s", &now->side, &now->triangle, &now->diagonal);
    printf("%s.%04d.%d | %s%s %s%s%s m=%d n=%d k=%d ld+%d at+%d", group_name, case_number, repetition, name,
           now->spelling == 'r' ? " row-major" : "", letters, letters[0] ? " " : "", now->transposes, now->m,
           now->n, now->k, now->pad, now->skew);
    print_scalar("alpha", now->alpha, now->alpha_im);
    print_scalar("beta", now->beta, now->beta_im);
    printf(" in %s route=%s kernel=%s%s%s", now->places, or_auto(now->route), or_auto(now->kernel),
           now->precision ? " precision=" : "", now->precision ? now->precision : "");
}

static uint64_t seed_of(const record_case *now)
{
    uint64_t state = ((uint64_t)now->m << 42) ^ ((uint64_t)now->n << 21) ^ (uint64_t)now->k;
    return record_random(&state);
}

static void run_once(const record_case *now, const char *name, record_operand operands[RECORD_ROLES],
                     int repetition)
{
    place_copies before;
    place_take_copies(&before);
    (tb_class_rows[record_row_of(now)->class].is_batch ? call_batch : call_single)(now, name, operands);
    print_case(now, name, repetition);
    print_plan(now);
    print_copies();
    printf(" | C %016" PRIx64, record_hash_block(&operands[RECORD_C]));
    print_what_was_said();
    printf("\n");
    fflush(stdout);
}

const char *record_server(void)
{
    const char *option = getenv("RECORD_SERVER");
    return option && option[0] ? option : NULL;
}

void record_run(const record_case *now)
{
    if (record_server() && strcmp(now->places, "HHH") != 0)
        return;
    record_operand operands[RECORD_ROLES];
    char name[40];
    for (record_role role = RECORD_A; role < RECORD_ROLES; role++)
        operands[role] = record_make_operand(now, role);
    const uint64_t seed = seed_of(now);
    const bool reads_c = now->beta != 0 || record_works_in_place(now);
    case_number++;
    name_call(now, name, sizeof name);
    set_option("ROUTE", or_auto(now->route));
    set_option("KERNEL", or_auto(now->kernel));
    set_precision(now->precision);
    record_fill_a(now, &operands[RECORD_A], seed);
    record_fill(&operands[RECORD_B], seed + 1, now->alpha != 0);
    for (int i = 1; i <= (now->calls > 0 ? now->calls : 1); i++) {
        if (i == 4)
            record_fill_a(now, &operands[RECORD_A], seed + 3);
        record_fill(&operands[RECORD_C], seed + 2, reads_c);
        run_once(now, name, operands, i);
    }
    for (record_role role = RECORD_A; role < RECORD_ROLES; role++)
        record_free_operand(&operands[role]);
}
