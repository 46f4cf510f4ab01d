/* Operands of a case: of which extents, where they lie, what they are filled with, and a hash of all their bytes. */
#include "operands.h"

#include "place.h"

#include <stdlib.h>
#include <string.h>

/* Elements in front of C and behind it. */
#define CANARY 64
/* What C holds where it is not to be read, and around it: quiet NaNs that no arithmetic makes, of either
 * real element. */
static const uint32_t never_read = 0x7fc0dead;
static const uint64_t never_read_double = 0x7ff8dead7fc0dead;

/* ---- What the routine reads and writes ------------------------------------------------------------------------ */

typedef struct extents {
    int rows, columns;
} extents;

const tb_routine_row *record_row_of(const record_case *now)
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

/* The extents of the matrix in memory, as Fortran has it; B of routines that have none is a single element. */
static extents extents_of(const record_case *now, record_role role)
{
    const bool ta = is_transposed(now, 0), tb = now->transposes[1] && is_transposed(now, 1);
    const int order = now->side == 'R' ? now->n : now->m;
    const extents none = {1, 1}, square = {now->n, now->n}, triangle = {order, order},
                  whole = {now->m, now->n};
    const tb_class_row *class = tb_class_of(now->routine);
    const bool in_place = class->in_place != TB_OUT_OF_PLACE;
    if (class->is_symmetric || in_place)
        return role == RECORD_A ? triangle : role == RECORD_B && in_place ? none : whole;
    if (class->updates && role == RECORD_C)
        return square;
    if (class->turns_b)
        return role == RECORD_B && class->has_one_operand ? none : as_read(ta, now->n, now->k);
    return role == RECORD_A   ? as_read(ta, class->updates ? now->n : now->m, now->k)
           : role == RECORD_C ? whole
                              : as_read(tb, now->k, now->n);
}

/* C is read whatever beta is: it is the right-hand side. */
bool record_works_in_place(const record_case *now)
{
    return tb_class_of(now->routine)->in_place != TB_OUT_OF_PLACE;
}

static int members_of(const record_case *now)
{
    return tb_class_of(now->routine)->is_batch ? RECORD_MEMBERS : 1;
}

/* ---- Operands ---------------------------------------------------------------------------------------------- */

void *record_member(const record_operand *operand, int number)
{
    const size_t element = operand->first + (size_t)number * operand->stride;
    return (char *)operand->block + element * tb_bytes_of(operand->element);
}

record_operand record_make_operand(const record_case *now, record_role role)
{
    const extents extents = extents_of(now, role);
    const bool row_major = now->spelling == 'r';
    record_operand made = {.place = now->places[role],
                           .element = record_row_of(now)->element,
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

void record_free_operand(record_operand *operand)
{
    if (operand->image != operand->block)
        place_release('H', operand->image);
    place_release(operand->place, operand->block);
}

static void copy_block(void *target, const void *source, const record_operand *operand)
{
    if (target != source)
        place_copy(target, source, operand->bytes);
}

/* SplitMix64 (Steele, Lea, Flood 2014). */
uint64_t record_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Numbers are in [-1, 1). */
static void set_real(const record_operand *operand, size_t index, uint64_t random)
{
    if (tb_real_of(operand->element) == TB_FP64)
        ((double *)operand->image)[index] = (double)((int64_t)random >> 11) * 0x1p-52;
    else
        ((float *)operand->image)[index] = (float)(int32_t)(random >> 32) * 0x1p-31f;
}

static void fill_member(const record_operand *operand, size_t first, uint64_t *seed)
{
    const size_t parts = tb_is_complex(operand->element) ? 2 : 1;
    for (int j = 0; j < operand->columns; j++)
        for (size_t i = 0; i < parts * (size_t)operand->rows; i++)
            set_real(operand, parts * (first + (size_t)j * (size_t)operand->ld) + i, record_random(seed));
}

/* Elements in [-1, 1), or the value that is not to be read, which is also around them. */
void record_fill(record_operand *operand, uint64_t seed, bool readable)
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
static void weigh_diagonal(record_operand *operand)
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

void record_fill_a(const record_case *now, record_operand *a, uint64_t seed)
{
    record_fill(a, seed, now->alpha != 0);
    if (tb_class_of(now->routine)->in_place == TB_SOLVES && now->alpha != 0)
        weigh_diagonal(a);
}

uint64_t record_hash_block(record_operand *operand)
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
