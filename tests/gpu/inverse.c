/* POTRI, GETRI, TRTRI and LAUUM on a device, in every kind of memory. There is no LAPACK but ours. */
#include "tests/known_inverse.h"

static const int64_t sizes[] = {1, 33, 128, 257, 700, 1100, 2300};
static const tb_memory memories[] = {TB_MEMORY_HOST, TB_MEMORY_PINNED, TB_MEMORY_MANAGED, TB_MEMORY_DEVICE};

static const tb_spelling spellings[] = {
    TB_SPELLING_spotri_, TB_SPELLING_dpotri_, TB_SPELLING_cpotri_, TB_SPELLING_zpotri_,
    TB_SPELLING_sgetri_, TB_SPELLING_dgetri_, TB_SPELLING_cgetri_, TB_SPELLING_zgetri_,
    TB_SPELLING_strtri_, TB_SPELLING_dtrtri_, TB_SPELLING_ctrtri_, TB_SPELLING_ztrtri_,
    TB_SPELLING_slauum_, TB_SPELLING_dlauum_, TB_SPELLING_clauum_, TB_SPELLING_zlauum_};

static void was_on_device(const trial *t)
{
    char plan[200];
    tileblas_last_plan(plan, sizeof plan);
    CHECK(strncmp(plan, "streamed", 8) == 0 || strncmp(plan, "resident", 8) == 0, "%d: %s", (int)t->n, plan);
}

/* Large ones in one kind of memory each. */
static void of_every_size(tb_spelling spelling)
{
    enum { LARGE = 300 };
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t memory = 0; memory < COUNT(memories); memory++) {
            trial t = {
                .spelling = spelling, .memory = memories[memory], .n = sizes[i], .upper = (i + memory) % 2};
            if (t.n > LARGE && memory != (i + (size_t)spelling) % COUNT(memories))
                continue;
            t.unit = class_of(&t) == TB_CLASS_TRTRI && i % 3 == 1;
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
