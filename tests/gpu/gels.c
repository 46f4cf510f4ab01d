/* GELS on a device, of matrices in host memory. There is no LAPACK but ours. */
#include "tests/known_gels.h"

typedef struct size {
    int64_t m, n, nrhs;
} size;

static const size sizes[] = {{1, 1, 1},     {33, 20, 3},      {300, 257, 40},   {500, 300, 1},
                             {700, 500, 7}, {400, 300, 2300}, {20000, 150, 20}, {1500, 1500, 10}};
static const tb_memory memories[] = {TB_MEMORY_HOST, TB_MEMORY_PINNED, TB_MEMORY_MANAGED};

static const tb_spelling spellings[] = {TB_SPELLING_sgels_, TB_SPELLING_dgels_, TB_SPELLING_cgels_,
                                        TB_SPELLING_zgels_};

static void was_on_device(const trial *t)
{
    char plan[200], text[240];
    describe(t, text);
    tileblas_last_plan(plan, sizeof plan);
    CHECK(strncmp(plan, "streamed", 8) == 0, "%s: %s", text, plan);
}

int main(void)
{
    if (!arena_has_device())
        SKIP("no device");
    seed = check_seed();
    force_device();
    for (size_t i = 0; i < COUNT(spellings); i++)
        for (size_t k = 0; k < COUNT(sizes); k++)
            for (int singular = 0; singular < 2; singular++) {
                const tb_memory memory = memories[(i + k) % COUNT(memories)];
                const trial t = {.spelling = spellings[i],
                                 .of_a = memory,
                                 .of_b = memory,
                                 .m = sizes[k].m,
                                 .n = sizes[k].n,
                                 .nrhs = sizes[k].nrhs,
                                 .zeros = singular ? sizes[k].n / 2 + 1 : 0};
                if (singular && t.n == 1) /* it would be zeros, which are the host's */
                    continue;
                try(&t);
                was_on_device(&t);
            }
    return check_result();
}
