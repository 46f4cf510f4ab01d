/* Triangular products and solves in C's place, by every row of the catalog that works there: TFLOP/s beside cuBLAS; of products also
 * beside its own with the result elsewhere. Names of rows among the arguments leave the others out.
 *
 * --all: of all triangles.
 * --small: microseconds of a launch, by the rows that are one launch.
 * --parts: microseconds of each of the products and solves that a solve by halves is made of, and of all of them.
 */
#include "bench/timing.h"
#include "kernels/triangular/inner.h"
#include "tests/gpu/triangular_calls.h"

enum { TURNS = 9, IN_A_ROW = 10 };

/* Side, triangle, and how it is read. */
static const char *shape_of(const tb_product *p)
{
    static char text[16];
    const tb_operand *a = tb_triangle_of(p);
    snprintf(text, sizeof text, "%s %s %c", tb_is_triangle_left(p) ? "left " : "right",
             a->stored == TB_LOWER ? "lower" : "upper", a->transposed ? 'T' : 'N');
    return text;
}

typedef struct stopwatch {
    cudaEvent_t start, stop;
} stopwatch;

static stopwatch make_stopwatch(void)
{
    stopwatch watch;
    MUST(cudaEventCreate(&watch.start) == cudaSuccess && cudaEventCreate(&watch.stop) == cudaSuccess);
    return watch;
}

static void free_stopwatch(stopwatch watch)
{
    MUST(cudaEventDestroy(watch.start) == cudaSuccess && cudaEventDestroy(watch.stop) == cudaSuccess);
}

/* Milliseconds of so many calls, by cuBLAS where there is no row; C stays as large as it was, as the triangle is nearly the
 * identity. */
static double time_calls(setting *setting, const tb_kernel *row, const tb_product *product, stopwatch watch,
                         int calls)
{
    float milliseconds = 0;
    const tb_schedule schedule = row ? prepare(setting, row, product) : (tb_schedule){.clocks = 0};
    MUST(cudaEventRecord(watch.start, setting->native) == cudaSuccess);
    for (int i = 0; i < calls; i++)
        if (row)
            launch(setting, row, product, &schedule);
        else
            call_cublas(setting, product);
    MUST(cudaEventRecord(watch.stop, setting->native) == cudaSuccess);
    MUST(cudaEventSynchronize(watch.stop) == cudaSuccess);
    MUST(cudaEventElapsedTime(&milliseconds, watch.start, watch.stop) == cudaSuccess);
    return milliseconds;
}

/* Numbers off the diagonal add up to less than it. */
static void *nearly_identity(tb_element element, int64_t order, check_random *random)
{
    void *a = filled(element, order * order, 0);
    for (int64_t j = 0; j < order; j++)
        for (int64_t i = 0; i < order; i++)
            set(element, a, i + j * order, i == j ? 1 : draw(element, random) / (2 * (double)order));
    return a;
}

static void *on_device(void *host, size_t bytes)
{
    void *device = arena_allocate(TB_MEMORY_DEVICE, bytes);
    arena_copy(device, host, bytes);
    free(host);
    return device;
}

/* A triangle of an order and a C with so many columns, or rows, on the device. */
typedef struct matrices {
    tb_element element;
    int64_t order, other;
    void *a, *c;
} matrices;

static matrices make_matrices(tb_element element, int64_t order, int64_t other, check_random *random)
{
    const size_t bytes = tb_bytes_of(element);
    return (matrices){
        .element = element,
        .order = order,
        .other = other,
        .a = on_device(nearly_identity(element, order, random), (size_t)(order * order) * bytes),
        .c = on_device(draw_c(element, order, other, order, random), (size_t)(order * other) * bytes)};
}

static void free_matrices(const matrices *matrices)
{
    arena_release(TB_MEMORY_DEVICE, matrices->a);
    arena_release(TB_MEMORY_DEVICE, matrices->c);
}

static tb_product product_of(const tb_kernel *row, const matrices *of, bool left, tb_triangle stored,
                             bool transposed)
{
    const int64_t m = left ? of->order : of->other, n = left ? of->other : of->order;
    return tb_triangular(row->in_place, of->element, left, stored, transposed, false, false, m, n,
                         (tb_scalar){1, 0}, of->a, of->order, of->c, m);
}

/* In C's place, and for products elsewhere too. */
static void bench_shape(setting *setting, const tb_kernel *row, const tb_product *product)
{
    const stopwatch watch = make_stopwatch();
    const bool elsewhere = product->in_place == TB_MULTIPLIES;
    double ours[TURNS], theirs[TURNS], apart[TURNS];
    void *other = elsewhere ? arena_allocate(TB_MEMORY_DEVICE, bytes_of(&product->c)) : NULL;
    for (int turn = -2; turn < TURNS; turn++) {
        const int place = turn < 0 ? 0 : turn;
        ours[place] = time_calls(setting, row, product, watch, 1);
        theirs[place] = time_calls(setting, NULL, product, watch, 1);
        setting->apart = other;
        apart[place] = elsewhere ? time_calls(setting, NULL, product, watch, 1) : 0;
        setting->apart = NULL;
    }
    const double tflop = 2 * tb_volume(product) * 1e-9, us = bench_median(ours, TURNS),
                 them = bench_median(theirs, TURNS), them_apart = bench_median(apart, TURNS);
    printf("%-20s %5lld x %5lld %s  %8.3f ms %6.1f TFLOP/s  cuBLAS %8.3f ms %6.1f TFLOP/s  %.2f", row->name,
           (long long)product->m, (long long)product->n, shape_of(product), us, tflop / us, them,
           tflop / them, them / us);
    if (elsewhere)
        printf("  elsewhere %8.3f ms  %.2f", them_apart, them_apart / us);
    printf("  forecast %.2f\n", tb_device.prepare(setting->stream, row, product).clocks / 1.7e6 / us);
    if (other)
        arena_release(TB_MEMORY_DEVICE, other);
    free_stopwatch(watch);
}

static void bench_row(setting *setting, const tb_kernel *row, bool all_flags)
{
    static const int64_t sizes[][2] = {{1024, 1024}, {2048, 2048}, {4096, 4096}, {8192, 8192}, {4096, 64}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const int64_t order = sizes[i][0], other = sizes[i][1];
        const matrices matrices = make_matrices(row->element, order, other, &setting->random);
        for (int flags = 0; flags < (all_flags ? 8 : 2); flags++) {
            const tb_product product =
                product_of(row, &matrices, !(flags & 1), flags & 2 ? TB_UPPER : TB_LOWER, flags & 4);
            bench_shape(setting, row, &product);
        }
        free_matrices(&matrices);
    }
}

/* Microseconds of one, of several in a row. */
static double time_part(setting *setting, const tb_kernel *row, const tb_product *product, stopwatch watch)
{
    double milliseconds[TURNS];
    for (int turn = 0; turn < TURNS; turn++)
        milliseconds[turn] = time_calls(setting, row, product, watch, IN_A_ROW);
    return bench_median(milliseconds, TURNS) * 1e3 / IN_A_ROW;
}

static void bench_small(setting *setting, const tb_kernel *row)
{
    if (row->launch != tb_launch_triangle)
        return;
    static const int64_t small_orders[] = {16, 64, 128, 256, 512, 1024},
                         small_others[] = {32, 64, 4096, 8192};
    const stopwatch watch = make_stopwatch();
    for (size_t i = 0; i < sizeof small_orders / sizeof *small_orders; i++)
        for (size_t j = 0; j < sizeof small_others / sizeof *small_others; j++) {
            const int64_t order = small_orders[i], other = small_others[j];
            const matrices matrices = make_matrices(row->element, order, other, &setting->random);
            double us[2];
            for (int right = 0; right < 2; right++) {
                const tb_product product = product_of(row, &matrices, !right, TB_LOWER, false);
                us[right] = time_part(setting, row, &product, watch);
            }
            printf("%-20s order %5lld, %5lld others: left %8.1f us, right %8.1f us\n", row->name,
                   (long long)order, (long long)other, us[0], us[1]);
            free_matrices(&matrices);
        }
    free_stopwatch(watch);
}

/* A solve by halves, on the left and of a lower triangle, solves triangles of the row's tile, and subtracts products with the squares
 * between them, of each size that is a power of two times as large as the tile: what has so many rows, a triangle and a square
 * below it, or one triangle. */
static tb_product part_of(const tb_kernel *row, const matrices *of, int64_t size)
{
    if (size == row->tile_m)
        return tb_triangular(row->in_place, of->element, true, TB_LOWER, false, false, false, size, of->other,
                             (tb_scalar){1, 0}, of->a, of->order, of->c, of->order);
    const int64_t half = size / 2;
    const size_t below = (size_t)half * tb_bytes_of(of->element);
    return tb_gemm(tb_gemm_routine(of->element), false, false, half, of->other, half, 1e-3,
                   (const char *)of->a + below, of->order, of->c, of->order, 1, (char *)of->c + below,
                   of->order);
}

/* Each part as often as the solve has it. */
static void bench_parts(setting *setting, const tb_kernel *row)
{
    if (row->launch != tb_launch_triangular || row->in_place != TB_SOLVES || tb_is_complex(row->element))
        return;
    static const int64_t shapes[][2] = {{2048, 2048}, {4096, 4096}, {8192, 8192}, {4096, 64}};
    const stopwatch watch = make_stopwatch();
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const int64_t order = shapes[i][0], other = shapes[i][1];
        const matrices matrices = make_matrices(row->element, order, other, &setting->random);
        double total = 0;
        for (int64_t size = row->tile_m; size <= order; size *= 2) {
            const int64_t count = order / size;
            const tb_product product = part_of(row, &matrices, size);
            const tb_kernel *chosen =
                size == row->tile_m ? row : tb_choose_inner(&product, row->accuracy, setting->target);
            const double us = time_part(setting, chosen, &product, watch);
            total += us * (double)count;
            printf("%-20s %5lld x %5lld: %3lld of %4lld: %8.1f us  forecast %8.1f us  %s\n", row->name,
                   (long long)order, (long long)other, (long long)count, (long long)product.m, us,
                   tb_device.prepare(setting->stream, chosen, &product).clocks / 1.7e3, chosen->name);
        }
        const tb_product whole = product_of(row, &matrices, true, TB_LOWER, false);
        printf("%-20s %5lld x %5lld: together %8.1f us, one behind the other %8.1f us\n", row->name,
               (long long)order, (long long)other, total, time_part(setting, row, &whole, watch));
        free_matrices(&matrices);
    }
    free_stopwatch(watch);
}

static void bench_two_triangles(setting *setting, const tb_kernel *row)
{
    bench_row(setting, row, false);
}

static void bench_all_triangles(setting *setting, const tb_kernel *row)
{
    bench_row(setting, row, true);
}

static bool has_option(const char *option, int count, char **arguments)
{
    for (int i = 0; i < count; i++)
        if (strcmp(arguments[i], option) == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    visit_row *visit = bench_two_triangles;
    if (has_option("--small", argc - 1, argv + 1))
        visit = bench_small;
    else if (has_option("--parts", argc - 1, argv + 1))
        visit = bench_parts;
    else if (has_option("--all", argc - 1, argv + 1))
        visit = bench_all_triangles;
    return visit_rows(argc, argv, visit);
}
