/* What lib/device/command.h promises: a command is carried out as it is, byte by byte, wherever those bytes came
 * from, and one that nobody knows is refused and does nothing; launches that are refused have refusals.c. Held against the
 * device that this program is linked with, the simulated one here, a real one in tests/gpu.
 */
#include "kernels/panels/launch_panel.h"
#include "lib/device/platform.h"
#include "tests/check.h"
#include "tests/target.h"
#include "words/members.h"

#include <string.h>

/* Square matrices of doubles in memory that host and device both reach. */
enum { N = 5, MATRICES = 3, DOUBLES = N * N };
typedef struct setting {
    tb_stream *stream;
    double *numbers[MATRICES];
} setting;

static void must(tb_status status, const char *step)
{
    if (!CHECK(status == TB_OK, "%s: status %d", step, status))
        exit(check_result());
}
#define MUST(step) must((step), #step)

/* The command as another process would have it: the same bytes elsewhere, which nobody changes, or keeps for longer than it takes to
 * enqueue them. */
static tb_status enqueue_moved(tb_stream *stream, tb_command *made)
{
    tb_command *moved = malloc(sizeof *moved);
    memcpy(moved, made, sizeof *moved);
    const tb_status status = tb_enqueue(stream, moved);
    CHECK(memcmp(moved, made, sizeof *moved) == 0, "a command of kind %d was changed", (int)made->kind);
    memset(made, 0xff, sizeof *made);
    memset(moved, 0xff, sizeof *moved);
    free(moved);
    return status;
}

static tb_matrix matrix_of(const setting *setting, int number)
{
    return (tb_matrix){
        .data = setting->numbers[number], .rows = N, .columns = N, .ld = N, .element = TB_FP64};
}

static void fill(const setting *setting)
{
    for (int i = 0; i < MATRICES * DOUBLES; i++)
        setting->numbers[i / DOUBLES][i % DOUBLES] = i + 1;
}

/* How many elements of a matrix are not what `expected` says. */
static int wrong_in(const setting *setting, int number, double (*expected)(int row, int column))
{
    int wrong = 0;
    for (int i = 0; i < DOUBLES; i++)
        wrong += setting->numbers[number][i] != expected(i % N, i / N);
    return wrong;
}

static double first(int row, int column)
{
    return row + N * column + 1;
}

static double first_transposed(int row, int column)
{
    return first(column, row);
}

/* In a second matrix, of which the rest stays. */
enum { DIAGONAL = -1 };
static double first_below(int row, int column)
{
    return row - column >= DIAGONAL ? first(row, column) : DOUBLES + first(row, column);
}

static double folded(int row, int column)
{
    const double before = DOUBLES + first(row, column);
    return row < column ? before : first(row, column) + first(column, row) + 2 * before;
}

/* What is in the first matrix times what is in the second, and 3 times what is in the third. */
static double multiplied(int row, int column)
{
    double sum = 3 * (2 * DOUBLES + first(row, column));
    for (int k = 0; k < N; k++)
        sum += first(row, k) * (DOUBLES + first(k, column));
    return sum;
}

static double multiplied_again(int row, int column)
{
    return multiplied(row, column) - 3 * (2 * DOUBLES + first(row, column)) + 3 * multiplied(row, column);
}

static void copies(const setting *setting)
{
    void *memory;
    const size_t bytes = DOUBLES * sizeof(double);
    fill(setting);
    MUST(tb_allocate(0, bytes, &memory));
    tb_command there = {.kind = TB_COMMAND_COPY,
                        .copy = tb_copy_of_bytes(TB_HOST_TO_DEVICE, memory, setting->numbers[0], bytes)};
    tb_command back = {.kind = TB_COMMAND_COPY,
                       .copy = tb_copy_of_bytes(TB_DEVICE_TO_HOST, setting->numbers[1], memory, bytes)};
    MUST(enqueue_moved(setting->stream, &there));
    MUST(enqueue_moved(setting->stream, &back));
    MUST(tb_synchronize(setting->stream));
    CHECK(wrong_in(setting, 1, first) == 0, "the copy has other numbers");
    tb_release(0, memory);
}

static void copies_masked(const setting *setting)
{
    enum { REFUSED = 7 };
    const tb_masked_copy sound = {.source = matrix_of(setting, 0),
                                  .target = matrix_of(setting, 1),
                                  .mask = TB_LOWER,
                                  .diagonal = DIAGONAL};
    tb_masked_copy refused[REFUSED];
    tb_command command = {.kind = TB_COMMAND_COPY_MASKED, .masked = sound};
    fill(setting);
    MUST(enqueue_moved(setting->stream, &command));
    MUST(tb_synchronize(setting->stream));
    CHECK(wrong_in(setting, 1, first_below) == 0, "other numbers were copied");

    for (int i = 0; i < REFUSED; i++)
        refused[i] = sound;
    refused[0].mask = TB_FULL;
    refused[1].mask = (tb_triangle)(TB_UPPER + 1);
    refused[2].target.element = TB_FP32;
    refused[3].source.element = refused[3].target.element = TB_ELEMENTS;
    refused[4].target.rows--;
    refused[5].source.columns--;
    refused[6].target.ld = N - 1;
    fill(setting);
    for (int i = 0; i < REFUSED; i++) {
        command = (tb_command){.kind = TB_COMMAND_COPY_MASKED, .masked = refused[i]};
        CHECK(enqueue_moved(setting->stream, &command) == TB_UNSUPPORTED, "masked copy %d is not refused", i);
    }
    command = (tb_command){.kind = TB_COMMAND_COPY_MASKED, .masked = sound};
    command.masked.source.rows = command.masked.target.rows = 0;
    MUST(enqueue_moved(setting->stream, &command));
    MUST(tb_synchronize(setting->stream));
    for (int i = 0; i < MATRICES * DOUBLES; i++)
        CHECK(setting->numbers[i / DOUBLES][i % DOUBLES] == i + 1, "number %d has changed", i);
}

static void writes_out(const setting *setting)
{
    fill(setting);
    tb_command command = {.kind = TB_COMMAND_EXPAND,
                          .expansion = {.source = {.matrix = matrix_of(setting, 0)},
                                        .target = matrix_of(setting, 1),
                                        .factor = {1, 0}}};
    command.expansion.source.transposed = true;
    MUST(enqueue_moved(setting->stream, &command));
    MUST(tb_synchronize(setting->stream));
    CHECK(wrong_in(setting, 1, first_transposed) == 0, "other numbers were written out");
}

static void folds(const setting *setting)
{
    fill(setting);
    tb_command command = {.kind = TB_COMMAND_FOLD,
                          .folding = {.sums = matrix_of(setting, 0),
                                      .c = {.matrix = matrix_of(setting, 1)},
                                      .beta = {2, 0},
                                      .mask = TB_LOWER}};
    MUST(enqueue_moved(setting->stream, &command));
    MUST(tb_synchronize(setting->stream));
    CHECK(wrong_in(setting, 1, folded) == 0, "other numbers were folded");
}

static tb_command make_launch(const setting *setting)
{
    const tb_kernel *kernel = tb_find_kernel("dgemm_naive");
    const tb_product product = tb_gemm(TB_DGEMM, false, false, N, N, N, 1, setting->numbers[0], N,
                                       setting->numbers[1], N, 3, setting->numbers[2], N);
    tb_command command;
    tb_launch *launch = tb_begin_launch(&command, kernel);
    launch->product = product;
    launch->schedule = tb_make_schedule(kernel, &product, target_of_device(0));
    launch->workspace = NULL;
    CHECK(launch->schedule.workspace == 0, "dgemm_naive needs a workspace");
    return command;
}

static void launches(const setting *setting)
{
    fill(setting);
    tb_command command = make_launch(setting);
    MUST(enqueue_moved(setting->stream, &command));
    MUST(tb_synchronize(setting->stream));
    CHECK(wrong_in(setting, 2, multiplied) == 0, "other numbers were multiplied");
    command = make_launch(setting);
    command.launch.same_a = true;
    MUST(enqueue_moved(setting->stream, &command));
    MUST(tb_synchronize(setting->stream));
    CHECK(wrong_in(setting, 2, multiplied_again) == 0, "other numbers were multiplied by the same A");
    /* Device memory may have another address for the device itself: that is none of the command's. */
    void *there;
    MUST(tb_allocate(0, DOUBLES * sizeof(double), &there));
    command = make_launch(setting);
    command.launch.product.c.data = there;
    MUST(enqueue_moved(setting->stream, &command));
    MUST(tb_synchronize(setting->stream));
    tb_release(0, there);
}

/* Each C is a product of two numbers, of a batch whose addresses lie in a table that the device reads. */
static void launches_by_table(const setting *setting)
{
    enum { MEMBERS = 3 };
    const int places[MEMBERS] = {0, 1, 7};
    void *memory;
    MUST(tb_platform.allocate_pinned(TB_ROLES * MEMBERS * sizeof(void *), &memory));
    void **tables = memory;
    fill(setting);
    for (int i = 0; i < MEMBERS; i++)
        for (tb_role role = TB_A; role < TB_ROLES; role++)
            tables[(int)role * MEMBERS + i] = setting->numbers[role] + places[i];
    const tb_kernel *kernel = tb_find_kernel("dgemm_structured");
    tb_product product = tb_gemm(TB_DGEMM, false, false, 1, 1, 1, 1, NULL, 1, NULL, 1, 0, NULL, 1);
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        tb_spread(&product, role, MEMBERS, 0, tables + (int)role * MEMBERS);
    tb_command command;
    tb_launch *launch = tb_begin_launch(&command, kernel);
    launch->product = product;
    launch->schedule = tb_make_schedule(kernel, &product, target_of_device(0));
    launch->workspace = NULL;
    CHECK(launch->schedule.workspace == 0, "%s needs a workspace", kernel->name);
    tb_leave_lists(&launch->product.batch);
    CHECK(launch->product.batch.members[TB_A].starts == (void *const *)tables, "the table was left behind");
    MUST(enqueue_moved(setting->stream, &command));
    MUST(tb_synchronize(setting->stream));
    for (int i = 0; i < MEMBERS; i++) {
        const double got = setting->numbers[2][places[i]], a = places[i] + 1;
        CHECK(got == a * (a + DOUBLES), "member %d is %g", i, got);
    }
    tb_platform.release_pinned(memory, TB_ROLES * MEMBERS * sizeof(void *));
}

/* It would lie in the program's memory. */
static void an_even_batch_has_no_list(void)
{
    double numbers[DOUBLES];
    void *starts[] = {numbers, numbers + 2, numbers + 4};
    tb_product product = tb_gemm(TB_DGEMM, false, false, 1, 1, 1, 1, numbers, 1, numbers, 1, 0, numbers, 1);
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        tb_spread(&product, role, 3, 0, starts);
    tb_leave_lists(&product.batch);
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        CHECK(!product.batch.members[role].starts && product.batch.members[role].stride == 2,
              "operand %d has a list", (int)role);
}

/* A block of the triangle whose factor has twos on its diagonal and ones below. Returns what became of info. */
enum { POSITION = 192 };

static int64_t factor(const setting *setting, int64_t info, tb_factor block, tb_status expected)
{
    void *memory;
    MUST(tb_platform.allocate_pinned(sizeof(int64_t), &memory));
    int64_t *there = memory;
    *there = info;
    tb_command command = {.kind = TB_COMMAND_PANEL,
                          .panel = {.block = block, .position = POSITION, .info = there}};
    const tb_status status = enqueue_moved(setting->stream, &command);
    CHECK(status == expected, "a block of order %d: status %d", (int)block.n, (int)status);
    MUST(tb_synchronize(setting->stream));
    const int64_t found = *there;
    tb_platform.release_pinned(memory, sizeof(int64_t));
    return found;
}

static tb_factor block_of(const setting *setting, tb_routine routine, int64_t order)
{
    const int64_t ld = order > N ? order : N;
    return tb_potrf(routine, TB_LOWER, order, setting->numbers[0], ld, NULL);
}

static void fill_block(const setting *setting)
{
    fill(setting);
    for (int column = 0; column < N; column++)
        for (int row = column; row < N; row++)
            setting->numbers[0][row + N * column] = row == column ? column + 4 : column + 2;
}

static double root_of_block(int row, int column)
{
    return row < column ? first(row, column) : row == column ? 2 : 1;
}

static void factors_blocks(const setting *setting)
{
    enum { SINGULAR = 3 };
    const tb_factor sound = block_of(setting, TB_DPOTRF, N);
    fill_block(setting);
    const int64_t set = factor(setting, 7, sound, TB_OK);
    CHECK(set == 7 && setting->numbers[0][0] == 4, "info is set already: it is %d, the first number %g",
          (int)set, setting->numbers[0][0]);
    setting->numbers[0][(N + 1) * SINGULAR] -= 4;
    const int64_t singular = factor(setting, 0, sound, TB_OK);
    CHECK(singular == POSITION + SINGULAR + 1 && setting->numbers[0][0] == 4,
          "no factor: info is %d, the first number %g", (int)singular, setting->numbers[0][0]);
    setting->numbers[0][(N + 1) * SINGULAR] += 4;
    const int64_t info = factor(setting, 0, sound, TB_OK);
    CHECK(info == 0 && wrong_in(setting, 0, root_of_block) == 0, "info is %d, %d numbers are wrong",
          (int)info, wrong_in(setting, 0, root_of_block));

    const tb_factor refused[] = {block_of(setting, TB_DPOTRF, tb_panel_order(TB_DPOTRF) + 1),
                                 block_of(setting, TB_DPOTRF, 0), block_of(setting, TB_DPOTRF, -1),
                                 block_of(setting, TB_DGEMM, N)};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        (void)factor(setting, 0, refused[i], TB_UNSUPPORTED);
    tb_factor narrow = sound, unknown = sound;
    narrow.a.ld = N - 1;
    unknown.routine = TB_ROUTINES;
    (void)factor(setting, 0, narrow, TB_UNSUPPORTED);
    (void)factor(setting, 0, unknown, TB_UNSUPPORTED);
}

/* And what comes behind it in the stream is done. */
static void the_unknown_is_refused(const setting *setting)
{
    const int kinds[] = {TB_COMMAND_EXCHANGE + 1, 77, INT32_MAX};
    const uint32_t rows[] = {(uint32_t)tb_catalog_size, UINT32_MAX};
    fill(setting);
    for (int i = 0; i < 3; i++) {
        tb_command command = make_launch(setting);
        command.kind = (tb_command_kind)kinds[i];
        CHECK(enqueue_moved(setting->stream, &command) == TB_UNSUPPORTED, "kind %d is known", kinds[i]);
    }
    for (int i = 0; i < 2; i++) {
        tb_command command = make_launch(setting);
        command.launch.row = rows[i];
        CHECK(enqueue_moved(setting->stream, &command) == TB_UNSUPPORTED, "there is a row %u", rows[i]);
    }
    MUST(tb_synchronize(setting->stream));
    for (int i = 0; i < MATRICES * DOUBLES; i++)
        CHECK(setting->numbers[i / DOUBLES][i % DOUBLES] == i + 1, "number %d has changed", i);
    tb_command command = make_launch(setting);
    MUST(enqueue_moved(setting->stream, &command));
    MUST(tb_synchronize(setting->stream));
    CHECK(wrong_in(setting, 2, multiplied) == 0, "nothing was multiplied later on");
}

int main(void)
{
    const size_t bytes = DOUBLES * sizeof(double);
    int devices;
    setting setting;
    if (tb_platform.open(&devices) != TB_OK)
        SKIP("no device");
    MUST(tb_device_at(0)->open_device(0));
    MUST(tb_create_stream(0, &setting.stream));
    for (int i = 0; i < MATRICES; i++)
        MUST(tb_platform.allocate_pinned(bytes, (void **)&setting.numbers[i]));
    copies(&setting);
    copies_masked(&setting);
    writes_out(&setting);
    folds(&setting);
    launches(&setting);
    launches_by_table(&setting);
    factors_blocks(&setting);
    an_even_batch_has_no_list();
    the_unknown_is_refused(&setting);
    tb_destroy_stream(setting.stream);
    for (int i = 0; i < MATRICES; i++)
        tb_platform.release_pinned(setting.numbers[i], bytes);
    return check_result();
}
