/* Folding on the host (block.h), by the real launch function: all elements, both triangles, complex and
 * absent betas, a C that is aligned to its parts alone. Numbers are small integers, so that sums are exact. P
 * and C end where memory that may not be touched begins. What is not to be read is NaN: C where beta is 0,
 * imaginary parts of a Hermitian C's diagonal, all outside of the triangle, which has to stay.
 */
#include "kernels/catalog.h"
#include "kernels/launch.h"
#include "tests/check.h"
#include "tests/emulated/block.h"
#include "tests/emulated/guarded.h"

#include <sys/mman.h>

enum { FOLDINGS = 400, LARGEST = 99 };

static tb_status run(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                     int shared_bytes, const void *argument)
{
    (void)launcher;
    emulated_kernel *kernel = emulated_find(entry->symbol);
    if (CHECK(kernel != NULL, "there is no %s", entry->symbol)) {
        emulated_run(kernel, blocks, 1, threads, shared_bytes, argument);
        CHECK(!entry->early || emulated_waits() == blocks * threads,
              "%s does not wait for the launch before it", entry->symbol);
    }
    return TB_OK;
}

typedef struct number {
    double re, im;
} number;

static bool is_double(const tb_matrix *x)
{
    return tb_real_of(x->element) == TB_FP64;
}

static double part_of(const tb_matrix *x, const void *memory, int64_t row, int64_t column, int part)
{
    const int64_t parts = tb_is_complex(x->element) ? 2 : 1, at = parts * (row + column * x->ld) + part;
    if (part >= parts)
        return 0;
    double whole;
    float half;
    memcpy(&whole, (const char *)memory + 8 * at * is_double(x), is_double(x) ? 8 : 0);
    memcpy(&half, (const char *)memory + 4 * at * !is_double(x), is_double(x) ? 0 : 4);
    return is_double(x) ? whole : half;
}

static number number_of(const tb_matrix *x, const void *memory, int64_t row, int64_t column)
{
    return (number){part_of(x, memory, row, column, 0), part_of(x, memory, row, column, 1)};
}

static void set_part(const tb_matrix *x, int64_t row, int64_t column, int part, double value)
{
    const int64_t parts = tb_is_complex(x->element) ? 2 : 1, at = parts * (row + column * x->ld) + part;
    const float half = (float)value;
    if (part < parts && is_double(x))
        memcpy((char *)x->data + 8 * at, &value, 8);
    else if (part < parts)
        memcpy((char *)x->data + 4 * at, &half, 4);
}

static bool is_in(const tb_folding *folding, int64_t row, int64_t column)
{
    return folding->mask == TB_LOWER ? row >= column : row <= column;
}

static number expected(const tb_folding *folding, const void *before, int64_t row, int64_t column)
{
    const bool hermitian = folding->c.structure == TB_HERMITIAN, is_real = hermitian && row == column;
    const number own = number_of(&folding->sums, folding->sums.data, row, column),
                 across = number_of(&folding->sums, folding->sums.data, column, row);
    number sum = {own.re + across.re, hermitian ? own.im - across.im : own.im + across.im};
    if (!tb_is_zero(folding->beta)) {
        number old = number_of(&folding->c.matrix, before, row, column);
        if (is_real)
            old.im = 0;
        sum.re += folding->beta.re * old.re - folding->beta.im * old.im;
        sum.im += folding->beta.re * old.im + folding->beta.im * old.re;
    }
    if (is_real)
        sum.im = 0;
    return sum;
}

/* Room for an operand, all of it NaN. */
static memory store(tb_matrix *x, int64_t shift)
{
    const size_t bytes = (size_t)(x->ld * (x->columns - 1) + x->rows) * tb_bytes_of(x->element);
    memory memory = guarded(bytes + (size_t)shift);
    x->data = memory.start;
    return memory;
}

static tb_folding draw(memory *sums, memory *c, check_random *random)
{
    static const int64_t sides[] = {1, 2, 31, 32, 33, 64, 65, 100, 130};
    static const tb_scalar betas[] = {{0, 0}, {1, 0}, {-2, 0}, {0, 3}, {2, -1}};
    const tb_element element = (tb_element)check_between(random, TB_FP32, TB_COMPLEX_FP64);
    const int64_t n = CHECK_PICK(random, sides);
    const bool hermitian = tb_is_complex(element) && check_between(random, 0, 1);
    tb_folding folding = {.mask = check_between(random, 0, 1) ? TB_LOWER : TB_UPPER,
                          .beta = CHECK_PICK(random, betas)};
    if (!tb_is_complex(element) || hermitian)
        folding.beta.im = 0;
    folding.sums =
        (tb_matrix){.rows = n, .columns = n, .ld = n + check_between(random, 0, 3), .element = element};
    folding.c.matrix = folding.sums;
    folding.c.ld = n + check_between(random, 0, 3);
    folding.c.structure = hermitian ? TB_HERMITIAN : TB_GENERAL;
    folding.c.stored = folding.mask;
    *sums = store(&folding.sums, 0);
    /* Memory ends where it ends: what is put before C moves it by a part of a number. */
    const bool apart = tb_is_complex(element) && check_between(random, 0, 1);
    *c = store(&folding.c.matrix, apart ? (int64_t)tb_bytes_of(tb_real_of(element)) : 0);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++)
            for (int part = 0; part < 2; part++) {
                set_part(&folding.sums, i, j, part, (double)check_between(random, -LARGEST, LARGEST));
                if (is_in(&folding, i, j) && !tb_is_zero(folding.beta) && !(hermitian && i == j && part == 1))
                    set_part(&folding.c.matrix, i, j, part, (double)check_between(random, -LARGEST, LARGEST));
            }
    return folding;
}

static void one_folding(check_random *random)
{
    memory sums, c;
    const tb_folding folding = draw(&sums, &c, random);
    const tb_matrix *x = &folding.c.matrix;
    const size_t bytes = (size_t)(guard_of(&c) - c.pages);
    char what[128], *before = malloc(bytes);
    memcpy(before, c.pages, bytes);
    const void *const c_before = before + ((char *)x->data - c.pages);
    snprintf(what, sizeof what, "element %d, n %lld, beta %g %+g i, %s%s", (int)x->element,
             (long long)x->rows, folding.beta.re, folding.beta.im,
             folding.mask == TB_LOWER ? "lower" : "upper",
             folding.c.structure == TB_HERMITIAN ? ", Hermitian" : "");
    const tb_launcher launcher = {.target = {.architecture = 90, .multiprocessors = 132}, .launch = run};
    CHECK(tb_launch_fold(&launcher, &folding) == TB_OK, "%s", what);
    int bad = 0;
    for (int64_t j = 0; j < x->columns && bad == 0; j++)
        for (int64_t i = 0; i < x->rows && bad == 0; i++) {
            if (!is_in(&folding, i, j))
                continue;
            const number found = number_of(x, x->data, i, j), wanted = expected(&folding, c_before, i, j);
            bad += !CHECK(found.re == wanted.re && found.im == wanted.im,
                          "%s: C(%lld, %lld) is %g %+g i, not %g %+g i", what, (long long)i, (long long)j,
                          found.re, found.im, wanted.re, wanted.im);
            for (int part = 0; part < 2; part++)
                set_part(x, i, j, part, part_of(x, c_before, i, j, part));
        }
    CHECK(bad > 0 || memcmp(before, c.pages, bytes) == 0, "%s: written outside of the triangle", what);
    free(before);
    release(&sums);
    release(&c);
}

/* More elements apart than 32 bits count: of all that memory three pages are touched. */
static void columns_may_lie_far_apart(void)
{
    const int64_t ld = (INT64_C(1) << 31) + 8;
    const size_t bytes = (size_t)(ld + 2) * sizeof(float);
    float sums[] = {1, 2, 3, 4};
    float *c = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (c == MAP_FAILED)
        return;
    const tb_folding folding = {.sums = {.data = sums, .rows = 2, .columns = 2, .ld = 2, .element = TB_FP32},
                                .c = {.data = c, .rows = 2, .columns = 2, .ld = ld, .element = TB_FP32},
                                .mask = TB_UPPER};
    const tb_launcher launcher = {.target = {.architecture = 90, .multiprocessors = 132}, .launch = run};
    CHECK(tb_launch_fold(&launcher, &folding) == TB_OK && c[0] == 2 && c[ld] == 5 && c[ld + 1] == 8,
          "columns far apart: %g, %g and %g", c[0], c[ld], c[ld + 1]);
    munmap(c, bytes);
}

int main(void)
{
    check_random random = {check_seed()};
    for (int i = 0; i < FOLDINGS; i++) {
        emulated_seed(check_next(&random));
        one_folding(&random);
    }
    columns_may_lie_far_apart();
    return check_result();
}
