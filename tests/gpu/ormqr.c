/* ORMQR and UNMQR on a device, from either side, in every kind of memory. There is no LAPACK but ours. */
#include "tests/known_ormqr.h"

/* Q's order, how many of C's columns or rows it is applied to, and reflectors. */
typedef struct size {
    int64_t order, others, k;
} size;

static const size sizes[] = {{1, 1, 1},        {33, 32, 20},      {257, 257, 257},  {300, 200, 140},
                             {300, 1, 300},    {1300, 1100, 40},  {700, 2300, 700}, {20000, 150, 150},
                             {500, 5000, 129}, {2300, 2300, 2300}};

typedef struct places {
    tb_memory a, c;
} places;

static const places everywhere[] = {
    {TB_MEMORY_HOST, TB_MEMORY_HOST},       {TB_MEMORY_PINNED, TB_MEMORY_PINNED},
    {TB_MEMORY_MANAGED, TB_MEMORY_MANAGED}, {TB_MEMORY_DEVICE, TB_MEMORY_DEVICE},
    {TB_MEMORY_DEVICE, TB_MEMORY_HOST},     {TB_MEMORY_HOST, TB_MEMORY_DEVICE}};

static const tb_spelling spellings[] = {TB_SPELLING_sormqr_, TB_SPELLING_dormqr_, TB_SPELLING_cunmqr_,
                                        TB_SPELLING_zunmqr_};

static void was_on_device(const trial *t)
{
    char plan[200], text[200];
    describe(t, text);
    tileblas_last_plan(plan, sizeof plan);
    CHECK(strncmp(plan, "streamed", 8) == 0 || strncmp(plan, "resident", 8) == 0, "%s: %s", text, plan);
}

/* Large ones in one kind of memory and one way each. */
static void of_every_size(tb_spelling spelling)
{
    enum { LARGE = 300 * 300, WAYS = 4 };
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t place = 0; place < COUNT(everywhere); place++)
            for (int way = 0; way < WAYS; way++) {
                const size *size = &sizes[i];
                const bool right = way % 2;
                const trial t = {.spelling = spelling,
                                 .of_a = everywhere[place].a,
                                 .of_c = everywhere[place].c,
                                 .right = right,
                                 .transposed = way / 2,
                                 .m = right ? size->others : size->order,
                                 .n = right ? size->order : size->others,
                                 .k = size->k};
                const size_t only = i + (size_t)spelling;
                if (t.m * t.n > LARGE &&
                    (place != only % COUNT(everywhere) || way != (int)((only / 2 + i) % WAYS)))
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
