/* dgemm_crt on a device where its residues have no room in the workspace all at once: C is computed a rectangle at a time. With
 * and without masks, of single rows and of pairs, C is the sum, exactly where integers compute it, and outside of the mask it
 * keeps its bytes.
 *
 * Operands are integers that repeat along k, so that the host adds up one period. The device has all of k, of which residues are
 * made.
 */
#include "lib/device/device.h"
#include "tests/check.h"
#include "tests/conformance/arena.h"
#include "tests/gpu/open_device.h"

#include <math.h>
#include <string.h>

/* The last period is a step short, so that the last stage has a tail. */
enum { PERIOD = 64, PERIODS = 1024, K = PERIOD * PERIODS - 1, COLUMNS_APART = 61 };

/* Numbers below it are positive: 8 moduli, and sums of 2^58, longer than a double. */
#define LARGEST (INT64_C(1) << 22)

/* What sums of FP64 multiply-adds keep, where these are forecast to be faster. */
#define LOOP_ERROR 0x1p-36

__extension__ typedef __int128 wide;

/* The lines of op(A) or op(B): a line's numbers over a period lie together; on the device all lines' of a step do. */
typedef struct lines {
    int64_t count;
    int64_t *integers;
    double *device;
} lines;

/* A period is copied twice, four times and so on. */
static lines draw_lines(int64_t count, check_random *random)
{
    const size_t numbers = (size_t)count * PERIOD, bytes = numbers * sizeof(double);
    lines x = {.count = count, .integers = malloc(numbers * sizeof *x.integers)};
    double *period = malloc(bytes);
    if (!x.integers || !period)
        abort();
    for (size_t i = 0; i < numbers; i++) {
        x.integers[i] = check_between(random, 1, LARGEST - 1);
        period[i % PERIOD * (size_t)count + i / PERIOD] = (double)x.integers[i];
    }
    x.device = arena_allocate(TB_MEMORY_DEVICE, bytes * PERIODS);
    arena_copy(x.device, period, bytes);
    for (size_t there = 1; there < PERIODS; there *= 2)
        arena_copy(x.device + there * numbers, x.device, there * bytes);
    free(period);
    return x;
}

static void free_lines(lines *x)
{
    free(x->integers);
    arena_release(TB_MEMORY_DEVICE, x->device);
}

static double sum_of(const lines *a, const lines *b, int64_t i, int64_t j)
{
    const int64_t *x = a->integers + i * PERIOD, *y = b->integers + j * PERIOD;
    wide sum = 0;
    for (int step = 0; step < PERIOD; step++)
        sum += (wide)x[step] * y[step];
    return (double)(sum * PERIODS - (wide)x[PERIOD - 1] * y[PERIOD - 1]);
}

/* Counts the wrong elements of a column of C. */
static int64_t count_wrong(const tb_product *p, const lines *a, const lines *b, const double *c,
                           int64_t column, double error)
{
    static const unsigned char untouched[sizeof(double)] = {255, 255, 255, 255, 255, 255, 255, 255};
    const tb_range rows = tb_masked_rows(p, column);
    int64_t wrong = 0;
    for (int64_t row = 0; row < p->c.ld; row++) {
        const double *at = c + row + column * p->c.ld;
        if (row >= rows.first && row < rows.first + rows.count) {
            const double sum = sum_of(a, b, row, column);
            wrong += !(fabs(*at - sum) <= error * sum);
        } else
            wrong += memcmp(at, untouched, sizeof *at) != 0;
    }
    return wrong;
}

static void check_mask(tb_stream *stream, const tb_kernel *kernel, tb_product p, const lines *a,
                       const lines *b, void *workspace, size_t room, double error)
{
    const size_t bytes = (size_t)(p.c.ld * p.n) * sizeof(double);
    double *c = malloc(bytes);
    if (!c)
        abort();
    memset(c, 0xff, bytes);
    p.c.data = arena_allocate(TB_MEMORY_DEVICE, bytes);
    arena_copy(p.c.data, c, bytes);
    const tb_schedule schedule = tb_make_schedule(kernel, &p, target_of_device(0));
    CHECK(schedule.workspace <= room, "%zu bytes of workspace", schedule.workspace);
    const tb_status status = tb_enqueue_launch(stream, kernel, &p, &schedule, workspace, false);
    CHECK(status == TB_OK && tb_synchronize(stream) == TB_OK, "%s: not launched", kernel->name);
    arena_copy(c, p.c.data, bytes);
    int64_t wrong = 0;
    for (int64_t column = (p.n - 1) % COLUMNS_APART; column < p.n; column += COLUMNS_APART)
        wrong += count_wrong(&p, a, b, c, column, error);
    CHECK(wrong == 0, "%s, %lld x %lld, mask %d from %lld%s: %lld elements of every %dth column are wrong",
          kernel->name, (long long)p.m, (long long)p.n, (int)p.mask, (long long)p.diagonal,
          p.mask_pairs ? " of pairs" : "", (long long)wrong, (int)COLUMNS_APART);
    arena_release(TB_MEMORY_DEVICE, p.c.data);
    free(c);
}

static void check_shape(tb_stream *stream, const tb_kernel *kernel, int64_t m, int64_t n,
                        check_random *random)
{
    /* Copies of periods, of which k takes all but a step. */
    const size_t operands = (size_t)(m + n) * (K + 1) * sizeof(double);
    tb_product p = tb_gemm(TB_DGEMM, false, true, m, n, K, 1, NULL, m, NULL, n, 0, NULL, m + 1);
    /* What a mask leaves may be cut otherwise. */
    const size_t room = tb_make_schedule(kernel, &p, target_of_device(0)).workspace * 2;
    if (arena_free_bytes() < operands + room + ((size_t)2 << 30)) {
        printf("left out: %s, %lld x %lld, for want of memory\n", kernel->name, (long long)m, (long long)n);
        return;
    }
    lines a = draw_lines(m, random), b = draw_lines(n, random);
    p.a.data = a.device;
    p.b.data = b.device;
    void *workspace = arena_allocate(TB_MEMORY_DEVICE, room);
    check_mask(stream, kernel, p, &a, &b, workspace, room, 0);
    for (int number = 0; number < 3; number++) {
        p.mask = number % 2 ? TB_UPPER : TB_LOWER;
        p.mask_pairs = number == 2;
        p.diagonal = check_between(random, -n / 4, m / 4);
        check_mask(stream, kernel, p, &a, &b, workspace, room, LOOP_ERROR);
    }
    arena_release(TB_MEMORY_DEVICE, workspace);
    free_lines(&a);
    free_lines(&b);
}

/* Arguments name the only rows that are to be tested. */
int main(int argc, char **argv)
{
    /* One below the other, side by side, and both; the last ones with few rows or columns. Where there is no mask, integers are
     * forecast to be faster, or no number of moduli is, so that any is taken. */
    static const struct {
        const char *kernel;
        int64_t m, n;
    } shapes[] = {{"dgemm_crt_sm80", 3000, 100},  {"dgemm_crt_sm80", 100, 2100},
                  {"dgemm_crt_sm80", 3600, 3700}, {"dgemm_crt_sm75", 3000, 100},
                  {"dgemm_crt_sm75", 100, 2100},  {"dgemm_crt_sm90", 600, 10300},
                  {"dgemm_crt_sm90", 6020, 6001}};
    tb_device_description description;
    tb_stream *stream = open_device(&description);
    check_random random = {.state = check_seed()};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const tb_kernel *kernel = tb_find_kernel(shapes[i].kernel);
        if (tb_kernel_runs_on(kernel, description.architecture) &&
            (argc == 1 || strcmp(argv[1], kernel->name) == 0))
            check_shape(stream, kernel, shapes[i].m, shapes[i].n, &random);
    }
    tb_destroy_stream(stream);
    if (atomic_load(&check_count) == 0)
        SKIP("no such kernel here, or no room");
    return check_result();
}
