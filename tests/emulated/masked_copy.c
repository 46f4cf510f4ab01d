/* Masked copies on the host (block.h), by the real launch function, against a loop over all elements: of each kind, of both triangles,
 * along diagonals within the matrix and beyond. Matrices end where memory that may not be touched begins.
 */
#include "kernels/launch.h"
#include "kernels/masked/masked_copy.h"
#include "tests/check.h"
#include "tests/emulated/block.h"
#include "tests/emulated/guarded.h"

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

static const tb_launcher launcher = {.target = {.architecture = 90, .multiprocessors = 132}, .launch = run};

/* Some bytes. */
static memory make(tb_matrix *matrix, check_random *random)
{
    const int64_t elements = (matrix->columns - 1) * matrix->ld + matrix->rows;
    memory memory = guarded((size_t)elements * tb_bytes_of(matrix->element));
    for (char *byte = memory.start; byte < guard_of(&memory); byte++)
        *byte = (char)check_next(random);
    matrix->data = memory.start;
    return memory;
}

static bool is_masked(const tb_masked_copy *copy, int64_t row, int64_t column)
{
    const int64_t below = (copy->pairs ? row / 2 : row) - column;
    return copy->mask == TB_LOWER ? below >= copy->diagonal : below <= copy->diagonal;
}

static void copy_by_loop(const tb_masked_copy *copy, char *start)
{
    tb_matrix target = copy->target;
    target.data = start;
    for (int64_t j = 0; j < target.columns; j++)
        for (int64_t i = 0; i < target.rows; i++)
            if (is_masked(copy, i, j))
                memcpy(tb_at(&target, i, j), tb_at(&copy->source, i, j), tb_bytes_of(target.element));
}

static void try_copy(tb_masked_copy copy, check_random *random)
{
    memory source = make(&copy.source, random), target = make(&copy.target, random);
    const size_t bytes = (size_t)(guard_of(&target) - target.start);
    char *const expected = malloc(bytes);
    memcpy(expected, target.start, bytes);
    copy_by_loop(&copy, expected);
    emulated_seed(check_next(random));
    CHECK(tb_launch_masked_copy(&launcher, &copy) == TB_OK, "not launched");
    CHECK(memcmp(expected, target.start, bytes) == 0,
          "element %d, %lld x %lld, from ld %lld to %lld, %s, diagonal %lld%s: not as by a loop",
          (int)copy.source.element, (long long)copy.source.rows, (long long)copy.source.columns,
          (long long)copy.source.ld, (long long)copy.target.ld, copy.mask == TB_LOWER ? "lower" : "upper",
          (long long)copy.diagonal, copy.pairs ? ", of pairs" : "");
    free(expected);
    release(&source);
    release(&target);
}

static tb_matrix draw_matrix(tb_element element, int64_t rows, int64_t columns, check_random *random)
{
    return (tb_matrix){
        .rows = rows, .columns = columns, .ld = rows + check_between(random, 0, 3), .element = element};
}

static void of_size(tb_element element, int64_t rows, int64_t columns, check_random *random)
{
    const int64_t far = INT64_C(1) << 32,
                  diagonals[] = {far,         -far,           0,          1,        -1,
                                 columns / 2, -columns,       columns,    rows - 1, rows,
                                 -rows - 7,   rows + columns, 1 - columns};
    for (size_t i = 0; i < sizeof diagonals / sizeof *diagonals; i++)
        for (tb_triangle mask = TB_LOWER; mask <= TB_UPPER; mask++)
            try_copy((tb_masked_copy){.source = draw_matrix(element, rows, columns, random),
                                      .target = draw_matrix(element, rows, columns, random),
                                      .mask = mask,
                                      .diagonal = diagonals[i],
                                      .pairs = rows % 2 == 0 && !tb_is_complex(element) &&
                                               check_between(random, 0, 1)},
                     random);
}

/* Elements are more apart than 32 bits count: of all that memory few pages are touched. */
static void columns_may_lie_far_apart(int64_t ld, int64_t columns)
{
    const float source[TB_MASKED_COLUMNS + 1] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    memory far = untouched((size_t)((columns - 1) * ld + 1) * sizeof(float));
    const tb_masked_copy copy = {
        .source = {.data = (void *)(uintptr_t)source, .rows = 1, .columns = columns, .ld = 1},
        .target = {.data = far.start, .rows = 1, .columns = columns, .ld = ld},
        .mask = TB_UPPER};
    CHECK(tb_launch_masked_copy(&launcher, &copy) == TB_OK, "not launched");
    for (int64_t j = 0; j < columns; j++) {
        const float found = *(float *)tb_at(&copy.target, 0, j);
        CHECK(found == source[j], "column %d of some that lie far apart: %g", (int)j, (double)found);
    }
    release(&far);
}

int main(void)
{
    enum { ROWS = TB_MASKED_ROWS, COLUMNS = TB_MASKED_COLUMNS };
    static const int64_t sizes[][2] = {{1, 1},
                                       {2, 1},
                                       {7, 13},
                                       {13, 7},
                                       {ROWS, COLUMNS},
                                       {ROWS + 1, COLUMNS + 1},
                                       {ROWS / 2 - 1, 3 * COLUMNS},
                                       {ROWS / 2 + 1, 2 * COLUMNS - 1},
                                       {2 * ROWS + 35, 301},
                                       {30, 300}};
    check_random random = {check_seed()};
    for (tb_element element = 0; element < TB_ELEMENTS; element++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            of_size(element, sizes[i][0], sizes[i][1], &random);
    columns_may_lie_far_apart((INT64_C(1) << 31) + 8, 2);
    columns_may_lie_far_apart((INT64_C(1) << 28) + 8, COLUMNS + 1);
    return check_result();
}
