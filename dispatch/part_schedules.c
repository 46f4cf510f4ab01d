#include "dispatch/part_schedules.h"

#include "dispatch/mix.h"
#include "dispatch/plan.h"
#include "words/integers.h"

#include <string.h>

/* Addresses that operands are taken to have on the device, where buffers begin at multiples of so many bytes: how a part is computed
 * depends on how it is aligned. */
static void *nominal_address(tb_role role)
{
    return (void *)((uintptr_t)(role + 1) << 40); // NOLINT(performance-no-int-to-ptr)
}

/* A walk over the parts of a product. */
typedef struct walk {
    const tb_product *product; /* or its rows that are computed as one of their own */
    const tb_tiling *tiling;
    const tb_budget *budget;
    tb_part_schedules *schedules; /* NULL: only the workspace is wanted that a tiling is chosen by */
    size_t workspace;
    int count; /* of parts that were seen; their traits' hashes */
    uint64_t seen[TB_PARTS_KEPT];
} walk;

/* Where a step's product finds the operand. */
static void place(const walk *walk, tb_role role, const tb_step *step, tb_product *part)
{
    const tb_product *product = walk->product;
    tb_operand *operand = &part->operands[role];
    tb_range rows, columns;
    if (tb_is_in_place_of(product, role)) {
        operand->data = part->c.data;
        return;
    }
    if (role != TB_C && walk->budget->stays[role])
        return;
    char *there = nominal_address(role == TB_B && tb_shares_operand(product, walk->tiling) ? TB_A : role);
    if (role != TB_C && product->in_place != TB_OUT_OF_PLACE) { /* the triangle, all of it */
        *operand = product->operands[role];
        operand->ld = tb_pitched(operand->rows, operand->element);
    } else if (walk->tiling->whole || role == TB_C) {
        tb_stored_ranges(product, role, step->rows, step->columns, step->k, &rows, &columns);
        operand->ld = tb_ld_there(product, walk->tiling, role);
        if (role == TB_C && !walk->tiling->whole && walk->budget->passages[TB_C] != TB_NO_PASSAGE)
            columns.first %= 2 * walk->tiling->block_n;
        there += tb_offset_there(product, walk->tiling, role, rows.first, columns.first) *
                 (int64_t)tb_bytes_of(operand->element);
    } else {
        operand->ld = tb_pitched(operand->rows, operand->element);
    }
    operand->data = there;
}

static bool is_known(const tb_part_schedules *schedules, const tb_traits *traits, int *index)
{
    for (*index = 0; *index < schedules->count; ++*index)
        if (tb_are_traits_alike(&schedules->parts[*index], traits))
            return true;
    return false;
}

const tb_schedule *tb_schedule_of_part(tb_part_schedules *schedules, const tb_product *part)
{
    const tb_traits traits = tb_traits_of(part);
    int index;
    if (!is_known(schedules, &traits, &index)) {
        index = TB_PARTS_KEPT;
        schedules->made[index] = tb_make_schedule(schedules->kernel, part, schedules->target);
    }
    return &schedules->made[index];
}

static void keep(tb_part_schedules *schedules, const tb_product *part)
{
    const tb_traits traits = tb_traits_of(part);
    int index;
    if (is_known(schedules, &traits, &index))
        return;
    schedules->made[index] = tb_make_schedule(schedules->kernel, part, schedules->target);
    if (schedules->made[index].workspace > schedules->workspace)
        schedules->workspace = schedules->made[index].workspace;
    if (index < TB_PARTS_KEPT)
        schedules->parts[schedules->count++] = traits;
}

/* Whether kernels compute parts of one size in other ways according to where in C they lie: parts of a triangle may have fewer tiles,
 * and so share out more of k. */
static bool depends_on_place(const walk *walk)
{
    return (walk->product->mask != TB_FULL && walk->tiling->whole) ||
           walk->product->in_place != TB_OUT_OF_PLACE;
}

/* How a product is cut is to depend on its sizes alone, where it can, and not on how its operands are aligned. */
static void count(walk *walk, const tb_product *part)
{
    tb_product nominal = *part;
    if (!depends_on_place(walk)) {
        nominal = tb_nominal_subproduct(walk->product, part->m, part->n, part->k);
        nominal.beta = part->beta;
    }
    const tb_traits traits = tb_traits_of(&nominal);
    uint64_t hash = 0;
    for (int i = 0; i < TB_TRAITS; i++)
        hash = tb_mix(hash, traits.words[i]);
    for (int i = 0; i < walk->count; i++)
        if (walk->seen[i] == hash)
            return;
    if (walk->count < TB_PARTS_KEPT)
        walk->seen[walk->count++] = hash;
    const size_t bytes =
        tb_make_schedule(walk->budget->kernel, &nominal, tb_target_of(walk->budget->chip)).workspace;
    walk->workspace = bytes > walk->workspace ? bytes : walk->workspace;
}

static void take_step(walk *walk, const tb_step *step)
{
    tb_product part = tb_subproduct(walk->product, step->rows, step->columns, step->k);
    place(walk, TB_C, step, &part);
    place(walk, TB_B, step, &part);
    place(walk, TB_A, step, &part);
    for (int64_t column = 0; column < part.n; column += step->swath_n) {
        const tb_product swath = tb_swath_of(&part, walk->tiling, column, step->swath_n);
        if (tb_is_masked_out(&swath))
            continue;
        if (walk->schedules)
            keep(walk->schedules, &swath);
        else
            count(walk, &swath);
    }
}

/* Whether parts of one size are computed in one way: slabs in rings lie in the same way wherever they are from. */
static bool are_alike(const walk *walk)
{
    const bool *stays = walk->budget->stays, in_rings = !walk->tiling->whole;
    const bool lie_alike = walk->product->mask == TB_FULL && !stays[TB_A] && !stays[TB_B];
    return in_rings && walk->product->in_place == TB_OUT_OF_PLACE && (lie_alike || !walk->schedules);
}

/* Of alike ones the first block and the last, and of their slabs the first two and the last, have all sizes. */
static bool has_other_size(const walk *walk, int64_t index)
{
    const tb_tiling *tiling = walk->tiling;
    const int64_t block = index / tiling->slabs, slab = index % tiling->slabs;
    return (block == 0 || block + 1 == tb_ceil_div(walk->product->n, tiling->block_n)) &&
           (slab <= 1 || slab + 1 == tiling->slabs);
}

static void take_rows(walk *walk)
{
    const int64_t steps = tb_step_count(walk->product, walk->tiling);
    const bool alike = are_alike(walk);
    for (int64_t i = 0; i < steps; i++) {
        if (alike && !has_other_size(walk, i))
            continue;
        const tb_step step = tb_step_at(walk->product, walk->tiling, i);
        take_step(walk, &step);
    }
}

/* Block of rows by block of rows. */
static void take_all(walk *walk, const tb_product *product, const tb_tiling *tiling)
{
    const int64_t blocks = tb_ceil_div(product->m, tiling->block_m);
    walk->product = product;
    walk->tiling = tiling;
    const bool alike = are_alike(walk);
    for (int64_t block = 0; block < blocks && walk->budget->kernel->prepare; block++) {
        tb_tiling own;
        const tb_product rows = tb_rows_of_tiling(product, tiling, block * tiling->block_m, &own);
        walk->product = &rows;
        walk->tiling = &own;
        take_rows(walk);
        if (alike && block + 2 < blocks)
            block = blocks - 2; /* the last one is next */
    }
}

double tb_nominal_workspace(const tb_product *product, const tb_tiling *tiling, const tb_budget *budget)
{
    walk walk = {.budget = budget};
    take_all(&walk, product, tiling);
    return (double)walk.workspace;
}

/* Operands that come to the device lie there as the tiling says, wherever they are from. */
static tb_traits traits_there(const tb_product *product, const tb_budget *budget)
{
    tb_product there = *product;
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        if (role == TB_C || !budget->stays[role]) {
            there.operands[role].data = nominal_address(role);
            there.operands[role].ld = 0;
        }
    tb_traits traits = tb_traits_of(&there);
    traits.words[TB_TRAITS - 1] ^= (uint64_t)tb_has_one_operand(product) << 63;
    return traits;
}

static bool are_of(const tb_part_schedules *schedules, const tb_traits *traits, const tb_tiling *tiling,
                   const tb_budget *budget)
{
    const tb_target target = tb_target_of(budget->chip), *before = &schedules->target;
    return schedules->kernel == budget->kernel && tb_are_traits_alike(&schedules->of, traits) &&
           memcmp(&schedules->tiling, tiling, sizeof *tiling) == 0 &&
           before->architecture == target.architecture && before->multiprocessors == target.multiprocessors &&
           before->clusters == target.clusters && before->memory_bytes_a_clock == target.memory_bytes_a_clock;
}

void tb_schedule_parts(const tb_product *product, const tb_tiling *tiling, const tb_budget *budget,
                       tb_part_schedules *schedules)
{
    const tb_traits traits = traits_there(product, budget);
    if (are_of(schedules, &traits, tiling, budget))
        return;
    schedules->kernel = budget->kernel;
    schedules->target = tb_target_of(budget->chip);
    schedules->of = traits;
    schedules->tiling = *tiling;
    schedules->workspace = 0;
    schedules->count = 0;
    walk walk = {.budget = budget, .schedules = schedules};
    take_all(&walk, product, tiling);
}
