/* GEQRF on a device, in every kind of memory: R and reflectors whose product is the matrix. There is no LAPACK but ours. */
#include "tests/known_qr.h"

typedef struct size {
    int64_t m, n;
} size;

static const size sizes[] = {{1, 1},      {33, 33},     {64, 64},    {31, 200},  {200, 31},
                             {257, 257},  {512, 300},   {300, 512},  {700, 700}, {5000, 40},
                             {400, 2300}, {40000, 150}, {1500, 1500}};
static const tb_memory memories[] = {TB_MEMORY_HOST, TB_MEMORY_PINNED, TB_MEMORY_MANAGED, TB_MEMORY_DEVICE};

static const tb_spelling spellings[] = {TB_SPELLING_sgeqrf_, TB_SPELLING_dgeqrf_, TB_SPELLING_cgeqrf_,
                                        TB_SPELLING_zgeqrf_};

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
    enum { LARGE = 700 * 700 };
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t memory = 0; memory < COUNT(memories); memory++) {
            const trial t = {
                .spelling = spelling, .memory = memories[memory], .m = sizes[i].m, .n = sizes[i].n};
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
