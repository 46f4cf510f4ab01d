/* ORGQR and UNGQR on a device, in every kind of memory. There is no LAPACK but ours. */
#include "tests/known_q.h"

typedef struct size {
    int64_t m, n, k;
} size;

static const size sizes[] = {{1, 1, 1},        {33, 32, 20},    {257, 257, 257},   {300, 200, 140},
                             {1300, 1100, 40}, {700, 700, 700}, {20000, 150, 150}, {2300, 2300, 2300}};
static const tb_memory memories[] = {TB_MEMORY_HOST, TB_MEMORY_PINNED, TB_MEMORY_MANAGED, TB_MEMORY_DEVICE};

static const tb_spelling spellings[] = {TB_SPELLING_sorgqr_, TB_SPELLING_dorgqr_, TB_SPELLING_cungqr_,
                                        TB_SPELLING_zungqr_};

static void was_on_device(const trial *t)
{
    char plan[200];
    tileblas_last_plan(plan, sizeof plan);
    CHECK(strncmp(plan, "streamed", 8) == 0 || strncmp(plan, "resident", 8) == 0, "%d x %d: %s", (int)t->m,
          (int)t->n, plan);
}

/* Large ones in one kind of memory each. */
static void of_every_size(tb_spelling spelling)
{
    enum { LARGE = 300 * 300 };
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t memory = 0; memory < COUNT(memories); memory++) {
            const size *size = &sizes[i];
            const trial t = {
                .spelling = spelling, .memory = memories[memory], .m = size->m, .n = size->n, .k = size->k};
            if (t.m * t.n > LARGE && memory != (i + (size_t)spelling) % COUNT(memories))
                continue;
            try(&t);
            was_on_device(&t);
        }
}

int main(void)
{
    if (!arena_has_device())
        SKIP("no device");
    seed = check_seed();
    force_device();
    for (size_t i = 0; i < COUNT(spellings); i++)
        of_every_size(spellings[i]);
    return check_result();
}
