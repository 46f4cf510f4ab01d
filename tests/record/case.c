/* A case: its operands, its call, and its line of the record. */
#include "record.h"

#include "kernels/catalog.h"
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

/* Elements in front of C and behind it. */
#define CANARY 64
/* What C holds where it is not to be read, and around it: quiet NaNs that no arithmetic makes, of either
 * real element. */
static const uint32_t never_read = 0x7fc0dead;
static const uint64_t never_read_double = 0x7ff8dead7fc0dead;

/* Of a batch. */
enum { MEMBERS = 3 };
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

/* ---- What the routine reads and writes ------------------------------------------------------------------------ */

typedef enum role { A, B, C, ROLES } role;

typedef struct extents {
    int rows, columns;
} extents;

static const tb_routine_row *row_of(const record_case *now)
{
    return &tb_routine_rows[now->routine];
}

static bool is_transposed(const record_case *now, int which)
{
    return now->transposes[which] != 'N';
}

static extents as_read(bool transposed, int rows, int columns)
{
    return transposed ? (extents){columns, rows} : (extents){rows, columns};
}

/* Of the matrix in memory, as Fortran has it; B of routines that have none is a single element. */
static extents extents_of(const record_case *now, role role)
{
    const bool ta = is_transposed(now, 0), tb = now->transposes[1] && is_transposed(now, 1);
    const int order = now->side == 'R' ? now->n : now->m;
    const extents none = {1, 1}, square = {now->n, now->n}, triangle = {order, order},
                  whole = {now->m, now->n};
    switch (row_of(now)->class) {
    case TB_CLASS_GEMM:
    case TB_CLASS_GEMM_BATCH:
    case TB_CLASS_GEMM_BATCH_STRIDED:
        return role == A ? as_read(ta, now->m, now->k) : role == B ? as_read(tb, now->k, now->n) : whole;
    case TB_CLASS_TRIANGLE:
        return role == A ? as_read(ta, now->n, now->k) : role == B ? as_read(tb, now->k, now->n) : square;
    case TB_CLASS_RANK_K:
    case TB_CLASS_HERK:
        return role == A ? as_read(ta, now->n, now->k) : role == B ? none : square;
    case TB_CLASS_RANK_2K:
    case TB_CLASS_HER2K:
        return role == C ? square : as_read(ta, now->n, now->k);
    case TB_CLASS_SYMM:
    case TB_CLASS_HEMM:
        return role == A ? triangle : whole;
    case TB_CLASS_TRMM:
    case TB_CLASS_TRSM:
        return role == A ? triangle : role == B ? none : whole;
    case TB_CLASSES:
        break;
    }
    abort();
}

/* C is read whatever beta is: it is the right-hand side. */
static bool works_in_place(const record_case *now)
{
    return row_of(now)->class == TB_CLASS_TRMM || row_of(now)->class == TB_CLASS_TRSM;
}

static int members_of(const record_case *now)
{
    return tb_is_batch_class(row_of(now)->class) ? MEMBERS : 1;
}

/* ---- Operands ---------------------------------------------------------------------------------------------- */

/* Rows and columns are those of the memory: a column is what lies together. Matrices of a batch lie one behind the other. */
typedef struct operand {
    char place;
    tb_element element;
    int rows, columns, ld;
    int members;
    size_t first, stride, bytes; /* of the block; the element that the call is given; between members */
    void *block;                 /* in its place */
    void *image;                 /* in ordinary memory; the block itself where it lies there */
} operand;

static void *member(const operand *operand, int number)
{
    const size_t element = operand->first + (size_t)number * operand->stride;
    return (char *)operand->block + element * tb_bytes_of(operand->element);
}

static operand make_operand(const record_case *now, role role)
{
    const extents extents = extents_of(now, role);
    const bool row_major = now->spelling == 'r';
    operand made = {.place = now->places[role],
                    .element = row_of(now)->element,
                    .rows = row_major ? extents.columns : extents.rows,
                    .columns = row_major ? extents.rows : extents.columns,
                    .members = members_of(now)};
    made.ld = (made.rows > 0 ? made.rows : 1) + now->pad;
    made.first = (size_t)(CANARY + now->skew);
    made.stride = (size_t)made.ld * (size_t)made.columns;
    made.bytes = (made.first + (size_t)made.members * made.stride + CANARY) * tb_bytes_of(made.element);
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

/* In [-1, 1). */
static void set_real(const operand *operand, size_t index, uint64_t random)
{
    if (tb_real_of(operand->element) == TB_FP64)
        ((double *)operand->image)[index] = (double)((int64_t)random >> 11) * 0x1p-52;
    else
        ((float *)operand->image)[index] = (float)(int32_t)(random >> 32) * 0x1p-31f;
}

static void fill_member(const operand *operand, size_t first, uint64_t *seed)
{
    const size_t parts = tb_is_complex(operand->element) ? 2 : 1;
    for (int j = 0; j < operand->columns; j++)
        for (size_t i = 0; i < parts * (size_t)operand->rows; i++)
            set_real(operand, parts * (first + (size_t)j * (size_t)operand->ld) + i, next_random(seed));
}

/* Elements in [-1, 1), or the value that is not to be read, which is also around them. */
static void fill(operand *operand, uint64_t seed, bool readable)
{
    const bool of_doubles = tb_real_of(operand->element) == TB_FP64;
    const void *filler = of_doubles ? (const void *)&never_read_double : &never_read;
    const size_t real = tb_bytes_of(tb_real_of(operand->element));
    for (size_t at = 0; at < operand->bytes; at += real)
        memcpy((char *)operand->image + at, filler, real);
    for (int number = 0; readable && number < operand->members; number++)
        fill_member(operand, operand->first + (size_t)number * operand->stride, &seed);
    copy_block(operand->block, operand->image, operand);
}

/* The diagonal outweighs what stands beside it, so that solutions stay of the size of right-hand sides. */
static void weigh_diagonal(operand *operand)
{
    const size_t parts = tb_is_complex(operand->element) ? 2 : 1;
    for (int i = 0; i < operand->columns; i++) {
        const size_t index = parts * (operand->first + (size_t)i * (size_t)operand->ld + (size_t)i);
        if (tb_real_of(operand->element) == TB_FP64)
            ((double *)operand->image)[index] += operand->columns;
        else
            ((float *)operand->image)[index] += (float)operand->columns;
    }
    copy_block(operand->block, operand->image, operand);
}

static void fill_a(const record_case *now, operand *a, uint64_t seed)
{
    fill(a, seed, now->alpha != 0);
    if (row_of(now)->class == TB_CLASS_TRSM && now->alpha != 0)
        weigh_diagonal(a);
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

/* As the spelling has it: a letter, or the number of CBLAS. */
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
    snprintf(name, size, now->spelling == 'f' ? "%s_" : "cblas_%s", row_of(now)->name);
}

static void call_single(const record_case *now, const char *name, const operand operands[ROLES])
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
        .lda = operands[A].ld,
        .ldb = operands[B].ld,
        .ldc = operands[C].ld,
        .alpha = now->alpha,
        .beta = now->beta,
        .alpha_im = now->alpha_im,
        .beta_im = now->beta_im,
        .a = member(&operands[A], 0),
        .b = member(&operands[B], 0),
        .c = member(&operands[C], 0),
    };
    const spelling *spelling = spelling_named(name);
    if (!spelling || !call_routine(spelling, &arguments))
        give_up("the library has no ", name);
}

/* A group of all members. */
static void call_batch(const record_case *now, const char *name, const operand operands[ROLES])
{
    const bool strided = row_of(now)->class == TB_CLASS_GEMM_BATCH_STRIDED;
    const batch_group group = {
        .transpose_a = now->transposes[0],
        .transpose_b = now->transposes[1],
        .m = now->m,
        .n = now->n,
        .k = now->k,
        .lda = operands[A].ld,
        .ldb = operands[B].ld,
        .ldc = operands[C].ld,
        .alpha = {now->alpha, now->alpha_im},
        .beta = {now->beta, now->beta_im},
        .strides = {(int64_t)operands[A].stride, (int64_t)operands[B].stride, (int64_t)operands[C].stride},
        .size = MEMBERS,
    };
    void *members[ROLES][MEMBERS];
    for (role role = A; role < ROLES; role++)
        for (int number = 0; number < MEMBERS; number++)
            members[role][number] = member(&operands[role], strided ? 0 : number);
    const batch_spelling *spelling = batch_spelling_named(name);
    if (!spelling || !batch_call(spelling, now->spelling == 'r', &group, 1, (const void *const *)members[A],
                                 (const void *const *)members[B], members[C]))
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
    return next_random(&state);
}

static void run_once(const record_case *now, const char *name, operand operands[ROLES], int repetition)
{
    place_copies before;
    place_take_copies(&before);
    (tb_is_batch_class(row_of(now)->class) ? call_batch : call_single)(now, name, operands);
    print_case(now, name, repetition);
    print_plan(now);
    print_copies();
    printf(" | C %016" PRIx64, hash_block(&operands[C]));
    print_what_was_said();
    printf("\n");
    fflush(stdout);
}

void record_run(const record_case *now)
{
    operand operands[ROLES];
    char name[40];
    for (role role = A; role < ROLES; role++)
        operands[role] = make_operand(now, role);
    const uint64_t seed = seed_of(now);
    const bool reads_c = now->beta != 0 || works_in_place(now);
    case_number++;
    name_call(now, name, sizeof name);
    set_option("ROUTE", or_auto(now->route));
    set_option("KERNEL", or_auto(now->kernel));
    set_precision(now->precision);
    fill_a(now, &operands[A], seed);
    fill(&operands[B], seed + 1, now->alpha != 0);
    for (int i = 1; i <= (now->calls > 0 ? now->calls : 1); i++) {
        if (i == 4)
            fill_a(now, &operands[A], seed + 3);
        fill(&operands[C], seed + 2, reads_c);
        run_once(now, name, operands, i);
    }
    for (role role = A; role < ROLES; role++)
        free_operand(&operands[role]);
}
