/* Launches that are refused, and do nothing: what their row cannot do, or what is not well formed (lib/device/command.h). Held
 * against the device that this program is linked with, the simulated one here, a real one in tests/gpu.
 */
#include "lib/device/platform.h"
#include "tests/check.h"
#include "tests/target.h"

/* Matrices in memory that host and device both reach. */
enum { ORDER = 4, MATRICES = 3, DOUBLES = ORDER * ORDER };
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

static void fill(const setting *setting)
{
    for (int i = 0; i < MATRICES * DOUBLES; i++)
        setting->numbers[i / DOUBLES][i % DOUBLES] = i + 1;
}

/* What keeps a row from computing a product that it could compute otherwise. */
typedef enum flaw {
    NOTHING,
    BATCH,
    MASK,
    TERMS,
    STRUCTURE,
    PLACE,
    ELEMENT,
    ELEMENT_OF_A,
    ROWS_OF_B,
    NEGATIVE_N,
    LEADING_DIMENSION,
    ADDRESS,
    WORKSPACE,
    TRIANGLE_ORDER, /* of a triangle: another one than C's */
    NO_TRIANGLE,    /* in C's place */
} flaw;

static void spoil(tb_launch *launch, flaw flaw)
{
    tb_product *product = &launch->product;
    switch (flaw) {
    case NOTHING:
        break;
    case BATCH:
        product->batch.count = 2;
        break;
    case MASK:
        product->mask = TB_LOWER;
        break;
    case TERMS:
        product->terms = 2;
        break;
    case STRUCTURE:
        product->b.structure = TB_SYMMETRIC;
        break;
    case PLACE:
        product->in_place = product->in_place == TB_OUT_OF_PLACE ? TB_MULTIPLIES : TB_OUT_OF_PLACE;
        break;
    case ELEMENT:
        for (tb_role role = TB_A; role < TB_ROLES; role++)
            product->operands[role].element = TB_COMPLEX_FP64;
        break;
    case ELEMENT_OF_A:
        product->a.element = TB_COMPLEX_FP64;
        break;
    case ROWS_OF_B:
        product->b.rows--;
        break;
    case NEGATIVE_N:
        product->n = product->b.columns = product->c.columns = -1;
        break;
    case LEADING_DIMENSION:
        product->c.ld = product->m - 1;
        break;
    case ADDRESS:
        product->b.data = (char *)product->b.data + tb_bytes_of(product->b.element);
        break;
    case WORKSPACE:
        launch->schedule.workspace = 256;
        break;
    case TRIANGLE_ORDER:
        product->k = product->a.rows = product->a.columns = product->k - 1;
        break;
    case NO_TRIANGLE:
        product->a.structure = TB_GENERAL;
        break;
    }
}

static tb_command make_launch(const setting *setting, const tb_kernel *kernel, flaw flaw)
{
    enum { M = ORDER };
    void *a = setting->numbers[0], *b = setting->numbers[1], *c = setting->numbers[2];
    const tb_product apart = tb_gemm(tb_gemm_routine(kernel->element), false, false, M, M, M, 1, a, M, b, M,
                                     0, c, M),
                     in_place = tb_triangular(kernel->in_place, kernel->element, true, TB_LOWER, false, false,
                                              true, M, M, (tb_scalar){1, 0}, a, M, c, M);
    tb_command command;
    tb_launch *launch = tb_begin_launch(&command, kernel);
    launch->product = kernel->in_place == TB_OUT_OF_PLACE ? apart : in_place;
    launch->schedule = tb_make_schedule(kernel, &launch->product, target_of_device(0));
    launch->workspace = launch->schedule.workspace > 0 ? setting->numbers[2] : NULL;
    spoil(launch, flaw);
    return command;
}

static void expect_refused(const setting *setting, tb_command command, const char *name, int flaw)
{
    fill(setting);
    const tb_status status = tb_enqueue(setting->stream, &command);
    CHECK(status == TB_UNSUPPORTED, "%s, flaw %d: status %d", name, flaw, (int)status);
    MUST(tb_synchronize(setting->stream));
    int changed = 0;
    for (int i = 0; i < MATRICES * DOUBLES; i++)
        changed += setting->numbers[i / DOUBLES][i % DOUBLES] != i + 1;
    CHECK(changed == 0, "%s, flaw %d: %d numbers have changed", name, flaw, changed);
}

static void what_a_row_cannot_do_is_refused(const setting *setting)
{
    static const struct {
        const char *row;
        flaw flaws[12]; /* up to NOTHING */
    } cases[] = {
        {"tiled",
         {BATCH, MASK, TERMS, STRUCTURE, PLACE, ELEMENT, ELEMENT_OF_A, ROWS_OF_B, NEGATIVE_N,
          LEADING_DIMENSION, ADDRESS}},
        {"dgemm_naive", {BATCH, TERMS, STRUCTURE, ELEMENT, WORKSPACE}},
        {"dgemm_structured", {PLACE, ELEMENT_OF_A, ROWS_OF_B}},
        {"dtrmm_block", {BATCH, MASK, PLACE, ELEMENT, LEADING_DIMENSION, TRIANGLE_ORDER, NO_TRIANGLE}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tb_kernel *kernel = tb_find_kernel(cases[i].row);
        tb_command sound = make_launch(setting, kernel, NOTHING);
        MUST(tb_enqueue(setting->stream, &sound));
        MUST(tb_synchronize(setting->stream));
        for (const flaw *flaw = cases[i].flaws; *flaw != NOTHING; flaw++)
            expect_refused(setting, make_launch(setting, kernel, *flaw), kernel->name, *flaw);
    }
}

static void a_row_of_other_devices_is_refused(const setting *setting)
{
    const int architecture = target_of_device(0).architecture;
    for (size_t row = 0; row < tb_catalog_size; row++)
        if (!tb_kernel_runs_on(&tb_catalog[row], architecture))
            expect_refused(setting, make_launch(setting, &tb_catalog[row], NOTHING), tb_catalog[row].name,
                           NOTHING);
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
    what_a_row_cannot_do_is_refused(&setting);
    a_row_of_other_devices_is_refused(&setting);
    tb_destroy_stream(setting.stream);
    for (int i = 0; i < MATRICES; i++)
        tb_platform.release_pinned(setting.numbers[i], bytes);
    return check_result();
}
