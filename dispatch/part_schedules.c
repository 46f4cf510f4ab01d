#include "dispatch/part_schedules.h"

#include "dispatch/mix.h"
#include "dispatch/plan.h"
#include "words/integers.h"

/* Addresses that operands are taken to have on the device: how a part is computed depends on how it is aligned. */
static void *nominal_address(tb_role role)
{
    return (void *)((uintptr_t)(role + 1) << 40);
}

uint64_t tb_hash_of_cut(const tb_product *product, const tb_budget *budget)
{
    const tb_target target = tb_target_of(budget->chip);
    const bool is_one = tb_has_one_operand(product);
    tb_product there = *product;
    uint64_t hash = (uint64_t)target.architecture << 32 | (uint64_t)target.multiprocessors;
    hash = tb_mix(tb_mix(hash, (uintptr_t)target.clusters), (uintptr_t)budget->kernel);
    hash = tb_mix_real(tb_mix_real(hash, target.memory_bytes_a_clock), budget->copy_rate);
    hash = tb_mix(hash, (uint64_t)budget->slot_bytes);
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        const bool stays = role != TB_C && budget->stays[role];
        hash = tb_mix(hash, (uint64_t)budget->passages[role] << 2 | (uint64_t)is_one << 1 | (uint64_t)stays);
        hash = tb_mix_real(hash, product->expanded[role].from);
        if (!stays) { /* it comes to where the tiling says, wherever it is from */
            there.operands[role].data = nominal_address(role);
            there.operands[role].ld = 0;
        }
    }
    return tb_hash_product(hash, &there);
}

/* A walk over the parts of a product. */
typedef struct walk {
    const tb_product *product; /* or its rows that are computed as one of their own */
    const tb_tiling *tiling;
    const tb_budget *budget;
    tb_target target;
    tb_schedule *made; /* NULL: only the workspace is wanted that a tiling is chosen by */
    size_t workspace;
    int count;
    uint64_t parts[TB_PARTS_KEPT];
} walk;

/* Where a step's product finds the operand. */
static void place(const walk *walk, tb_role role, const tb_step *step, tb_product *part)
{
    const tb_product *product = walk->product;
    const tb_tiling *tiling = walk->tiling;
    tb_operand *operand = &part->operands[role];
    tb_range rows, columns;
    if (role != TB_C && (walk->budget->stays[role] || tb_is_in_place_of(product, role))) {
        if (tb_is_in_place_of(product, role))
            operand->data = part->c.data;
        return;
    }
    void *there = nominal_address(role == TB_B && tb_shares_operand(product, tiling) ? TB_A : role);
    if (role != TB_C && product->in_place != TB_OUT_OF_PLACE) { /* the triangle, all of it */
        *operand = product->operands[role];
        operand->data = there;
        operand->ld = tb_pitched(operand->rows, operand->element);
        return;
    }
    tb_stored_ranges(product, role, step->rows, step->columns, step->k, &rows, &columns);
    if (role == TB_C && !tiling->whole && walk->budget->passages[TB_C] != TB_NO_PASSAGE)
        columns.first %= 2 * tiling->block_n;
    tb_place_there(product, tiling, role, there, rows.first, columns.first, &operand->matrix);
}

static bool is_known(const uint64_t *parts, int count, uint64_t part, int *index)
{
    for (*index = 0; *index < count; ++*index)
        if (parts[*index] == part)
            return true;
    return false;
}

const tb_schedule *tb_schedule_of_part(tb_part_schedules *schedules, const tb_product *part)
{
    int index;
    if (!is_known(schedules->parts, schedules->count, tb_hash_product(0, part), &index)) {
        index = TB_PARTS_KEPT;
        schedules->made[index] = tb_make_schedule(schedules->kernel, part, schedules->target);
    }
    return &schedules->made[index];
}

static void note(walk *walk, const tb_product *part)
{
    const uint64_t hash = tb_hash_product(0, part);
    int index;
    if (is_known(walk->parts, walk->count, hash, &index))
        return;
    const tb_schedule schedule = tb_make_schedule(walk->budget->kernel, part, walk->target);
    walk->workspace = schedule.workspace > walk->workspace ? schedule.workspace : walk->workspace;
    if (index == TB_PARTS_KEPT)
        return;
    walk->parts[walk->count++] = hash;
    if (walk->made)
        walk->made[index] = schedule;
}

/* How a product is cut is to depend on its sizes alone, and not on how its operands are aligned, unless kernels compute parts of
 * one size in other ways according to where in C they lie: parts of a triangle may have fewer tiles, and so share out more of k.
 * Those are taken as they lie in the program's memory, since what has been cut so is to be cut so again: a change of this
 * changes bits. */
static bool depends_on_place(const walk *walk)
{
    return walk->made || (walk->product->mask != TB_FULL && walk->tiling->whole) ||
           walk->product->in_place != TB_OUT_OF_PLACE;
}

static void take_step(walk *walk, const tb_step *step)
{
    tb_product part = tb_subproduct(walk->product, step->rows, step->columns, step->k);
    for (int i = 0; i < TB_ROLES && walk->made; i++)
        place(walk, tb_bringing_order[i], step, &part);
    for (int64_t column = 0; column < part.n; column += step->swath_n) {
        tb_product swath = tb_swath_of(&part, walk->tiling, column, step->swath_n);
        if (!depends_on_place(walk)) {
            swath = tb_nominal_subproduct(walk->product, swath.m, swath.n, swath.k);
            swath.beta = part.beta;
        }
        if (!tb_is_masked_out(&swath))
            note(walk, &swath);
    }
}

/* Slabs in rings lie in the same way wherever they are from: the first two and the last have all sizes, and so have the first
 * block and the last. */
static bool is_like_others(const walk *walk, int64_t block, int64_t blocks, int64_t slab)
{
    const bool *stays = walk->budget->stays;
    const bool lie_alike = walk->product->mask == TB_FULL && !stays[TB_A] && !stays[TB_B];
    return !walk->tiling->whole && walk->product->in_place == TB_OUT_OF_PLACE && (lie_alike || !walk->made) &&
           ((block > 0 && block + 1 < blocks) || (slab > 1 && slab + 1 < walk->tiling->slabs));
}

static void take_rows(walk *walk, const tb_product *rows, const tb_tiling *tiling)
{
    const int64_t steps = tb_step_count(rows, tiling), slabs = tb_larger(tiling->slabs, 1);
    walk->product = rows;
    walk->tiling = tiling;
    for (int64_t i = 0; i < steps; i++) {
        if (is_like_others(walk, i / slabs, tb_ceil_div(steps, slabs), i % slabs))
            continue;
        const tb_step step = tb_step_at(rows, tiling, i);
        take_step(walk, &step);
    }
}

static void take_all(walk *walk, const tb_product *product, const tb_tiling *tiling)
{
    const int64_t blocks = tb_ceil_div(product->m, tiling->block_m);
    walk->target = tb_target_of(walk->budget->chip);
    if (!walk->made && product->in_place != TB_OUT_OF_PLACE) {
        take_rows(walk, product, tiling);
        return;
    }
    for (int64_t block = 0; block < blocks; block++) {
        tb_tiling own;
        const tb_product rows = tb_rows_of_tiling(product, tiling, block * tiling->block_m, &own);
        if (block == 0 || !is_like_others(walk, block, blocks, 0))
            take_rows(walk, &rows, &own);
    }
}

double tb_nominal_workspace(const tb_product *product, const tb_tiling *tiling, const tb_budget *budget)
{
    walk walk = {.budget = budget};
    take_all(&walk, product, tiling);
    return (double)walk.workspace;
}

void tb_schedule_parts(const tb_product *product, const tb_tiling *tiling, const tb_budget *budget,
                       tb_part_schedules *schedules)
{
    walk walk = {.budget = budget, .made = schedules->made};
    take_all(&walk, product, tiling);
    schedules->kernel = budget->kernel;
    schedules->target = walk.target;
    schedules->workspace = walk.workspace;
    schedules->count = walk.count;
    memcpy(schedules->parts, walk.parts, sizeof walk.parts);
}
