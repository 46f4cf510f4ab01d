/* GELQF, ORGLQ and UNGLQ on a device, in every kind of memory. There is no LAPACK but ours. */
#include "tests/known_lq.h"

typedef struct size {
    int64_t m, n, k;
} size;

static const size to_be_factored[] = {{.m = 1, .n = 1},      {.m = 33, .n = 33},     {.m = 200, .n = 31},
                                      {.m = 31, .n = 200},   {.m = 257, .n = 257},   {.m = 300, .n = 512},
                                      {.m = 2300, .n = 400}, {.m = 150, .n = 40000}, {.m = 1500, .n = 1500}};
static const size to_be_q[] = {{1, 1, 1},        {32, 33, 20},    {257, 257, 257},   {200, 300, 140},
                               {1100, 1300, 40}, {700, 700, 700}, {150, 20000, 150}, {2300, 2300, 2300}};
static const tb_memory memories[] = {TB_MEMORY_HOST, TB_MEMORY_PINNED, TB_MEMORY_MANAGED, TB_MEMORY_DEVICE};

static const tb_spelling factoring[] = {TB_SPELLING_sgelqf_, TB_SPELLING_dgelqf_, TB_SPELLING_cgelqf_,
                                        TB_SPELLING_zgelqf_},
                         making_q[] = {TB_SPELLING_sorglq_, TB_SPELLING_dorglq_, TB_SPELLING_cunglq_,
                                       TB_SPELLING_zunglq_};

static void was_on_device(const trial *t)
{
    char plan[200];
    tileblas_last_plan(plan, sizeof plan);
    CHECK(strncmp(plan, "streamed", 8) == 0 || strncmp(plan, "resident", 8) == 0, "%d x %d: %s", (int)t->m,
          (int)t->n, plan);
}

/* Large ones in one kind of memory each. */
static void of_every_size(tb_spelling spelling, const size *sizes, size_t count)
{
    enum { LARGE = 300 * 300 };
    for (size_t i = 0; i < count; i++)
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
    for (size_t i = 0; i < COUNT(factoring); i++) {
        of_every_size(factoring[i], to_be_factored, COUNT(to_be_factored));
        of_every_size(making_q[i], to_be_q, COUNT(to_be_q));
    }
    return check_result();
}
