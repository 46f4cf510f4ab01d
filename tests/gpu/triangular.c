/* Triangular products and solves on a device, by every row of the catalog that works in C's place, against sums in long double:
 * all sides, triangles, transpositions, diagonals of ones, and alphas, of orders that fill panels and miss them. What must not be
 * read is NaN; around C nothing changes, and of A nothing. A diagonal whose numbers have no inverse is divided by.
 *
 * --residuals: the largest and the rms residual beside cuBLAS's, in units of u |op(A)| |X|; rms at most, and the largest 1.25 times.
 * --bench: TFLOP/s beside cuBLAS; products also beside its own with the result elsewhere. With --all for all triangles.
 * --bench-small: what a launch takes of the rows that are one launch.
 * --bench-parts: what the parts of a solve by halves take, each by itself, one behind the other.
 */
#include "bench/timing.h"
#include "kernels/catalog.h"
#include "kernels/launch.h"
#include "kernels/triangular/inner.h"
#include "tests/gpu/draws.h"
#include "tests/gpu/open_device.h"
#include "tests/in_place.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

enum { CASES = 2, TURNS = 9, IN_A_ROW = 10 };

/* Of a case that is checked, multiply-adds on the host, in long double: so many take about a twentieth of a second. */
#define VOLUME_MOST (INT64_C(1) << 20)

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "failed: %s\n", what);
    exit(EXIT_FAILURE);
}
#define MUST(condition) must((condition), #condition)

/* ---- A call ----------------------------------------------------------------------------------------------- */

typedef struct setting {
    tb_stream *stream;
    cudaStream_t native; /* the same */
    cublasHandle_t cublas;
    check_random random;
    void *workspace;
    size_t workspace_bytes;
    void *apart; /* where cuBLAS leaves products; NULL: in C's place */
} setting;

/* With the workspace that it takes. */
static tb_schedule prepare(setting *setting, const tb_kernel *row, const tb_product *product)
{
    const tb_schedule schedule = tb_device.prepare(setting->stream, row, product);
    if (schedule.workspace > setting->workspace_bytes) {
        if (setting->workspace)
            arena_release(TB_MEMORY_DEVICE, setting->workspace);
        setting->workspace_bytes = schedule.workspace;
        setting->workspace = arena_allocate(TB_MEMORY_DEVICE, schedule.workspace);
    }
    return schedule;
}

static void launch(setting *setting, const tb_kernel *row, const tb_product *product,
                   const tb_schedule *schedule)
{
    const tb_status status = tb_device.launch(setting->stream, row, product, schedule, setting->workspace);
    CHECK(status == TB_OK, "%s: status %d", row->name, (int)status);
}

/* The same by cuBLAS. */
static void call_cublas(setting *setting, const tb_product *p)
{
    const bool left = tb_is_triangle_left(p), solves = p->in_place == TB_SOLVES;
    const tb_operand *a = left ? &p->a : &p->b;
    const cublasSideMode_t side = left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
    const cublasFillMode_t fill = a->stored == TB_LOWER ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
    const cublasOperation_t op = !a->transposed ? CUBLAS_OP_N : a->conjugated ? CUBLAS_OP_C : CUBLAS_OP_T;
    const cublasDiagType_t diagonal = a->unit_diagonal ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
    const int m = (int)p->m, n = (int)p->n, lda = (int)a->ld, ldc = (int)p->c.ld;
    void *result = setting->apart ? setting->apart : p->c.data;
    const float alpha = (float)p->alpha.re;
    const cuComplex complex_alpha = {alpha, (float)p->alpha.im};
    const cuDoubleComplex complex_double_alpha = {p->alpha.re, p->alpha.im};
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
#define CALL(letter, alpha)                                                                                  \
    status = solves ? cublas##letter##trsm(setting->cublas, side, fill, op, diagonal, m, n, alpha, a->data,  \
                                           lda, p->c.data, ldc)                                              \
                    : cublas##letter##trmm(setting->cublas, side, fill, op, diagonal, m, n, alpha, a->data,  \
                                           lda, p->c.data, ldc, result, ldc)
    switch (a->element) {
    case TB_FP32:
        CALL(S, &alpha);
        break;
    case TB_FP64:
        CALL(D, &p->alpha.re);
        break;
    case TB_COMPLEX_FP32:
        CALL(C, &complex_alpha);
        break;
    default:
        CALL(Z, &complex_double_alpha);
    }
#undef CALL
    MUST(status == CUBLAS_STATUS_SUCCESS);
}

static size_t bytes_of(const tb_operand *operand)
{
    return (size_t)operand->ld * (size_t)operand->columns * tb_bytes_of(operand->element);
}

static tb_operand *triangle_in(tb_product *product)
{
    return tb_is_triangle_left(product) ? &product->a : &product->b;
}

/* Of matrices on the host: on the device, by cuBLAS where there is no row; what C is then is brought to `after`. Matrices begin
 * so many bytes behind where the device's allocations do. */
static void compute_on_device(setting *setting, const tb_kernel *row, const tb_product *host, size_t shift,
                              void *after)
{
    tb_product product = *host;
    tb_operand *a = triangle_in(&product);
    const size_t a_bytes = bytes_of(a), c_bytes = bytes_of(&product.c);
    char *a_room = arena_allocate(TB_MEMORY_DEVICE, a_bytes + shift + 1),
         *c_room = arena_allocate(TB_MEMORY_DEVICE, c_bytes + shift + 1);
    void *a_after = malloc(a_bytes + 1);
    arena_copy(a_room + shift, a->data, a_bytes);
    arena_copy(c_room + shift, product.c.data, c_bytes);
    a->data = a_room + shift;
    product.c.data = c_room + shift;
    (tb_is_triangle_left(&product) ? &product.b : &product.a)->data = product.c.data;
    if (row) {
        const tb_schedule schedule = prepare(setting, row, &product);
        launch(setting, row, &product, &schedule);
    } else {
        call_cublas(setting, &product);
    }
    CHECK(tb_device.synchronize(setting->stream) == TB_OK, "the device fails");
    arena_copy(after, product.c.data, c_bytes);
    arena_copy(a_after, a->data, a_bytes);
    CHECK(memcmp(a_after, triangle_in((tb_product *)host)->data, a_bytes) == 0, "the triangle has changed");
    free(a_after);
    arena_release(TB_MEMORY_DEVICE, a_room);
    arena_release(TB_MEMORY_DEVICE, c_room);
}

static void describe(const tb_product *p, char *text, size_t size)
{
    const bool left = tb_is_triangle_left(p);
    const tb_operand *a = left ? &p->a : &p->b;
    snprintf(text, size, "%lld x %lld, the triangle %s, %s, %c%s%s, alpha %g %+gi", (long long)p->m,
             (long long)p->n, left ? "left" : "right", a->stored == TB_LOWER ? "lower" : "upper",
             a->transposed ? 'T' : 'N', a->conjugated ? " conjugated" : "",
             a->unit_diagonal ? " of ones" : "", p->alpha.re, p->alpha.im);
}

/* Side, triangle, and how it is read. */
static const char *shape_of(const tb_product *p)
{
    static char text[16];
    const tb_operand *a = tb_triangle_of(p);
    snprintf(text, sizeof text, "%s %s %c", tb_is_triangle_left(p) ? "left " : "right",
             a->stored == TB_LOWER ? "lower" : "upper", a->transposed ? 'T' : 'N');
    return text;
}

/* ---- What is tested --------------------------------------------------------------------------------------- */

static const int64_t orders[] = {1,   2,   31,  32,  33,  63,  64,  65,  100,
                                 127, 128, 129, 191, 256, 257, 300, 513, 700},
                     others[] = {1, 2, 7, 8, 9, 31, 33, 64, 100};

static tb_scalar draw_alpha(tb_element element, check_random *random)
{
    static const tb_scalar alphas[] = {{1, 0}, {1, 0}, {0.5, 0}, {0, 0}, {0.75, -0.5}};
    return alphas[check_between(random, 0, tb_is_complex(element) ? 4 : 3)];
}

/* flags: side, triangle, transposed, conjugated, ones. */
static tb_product draw_product(const tb_kernel *row, int flags, int64_t order, int64_t other,
                               check_random *random)
{
    const bool left = flags & 1, lower = flags & 2, unit = flags & 16;
    const int64_t m = left ? order : other, n = left ? other : order;
    const int64_t lda = order + check_between(random, 0, 3), ldc = m + check_between(random, 0, 3);
    return tb_triangular(row->in_place, row->element, left, lower ? TB_LOWER : TB_UPPER, flags & 4, flags & 8,
                         unit, m, n, draw_alpha(row->element, random),
                         draw_triangle(row->element, order, lda, lower, unit, random), lda,
                         draw_c(row->element, m, n, ldc, random), ldc);
}

static void free_product(tb_product *product)
{
    free(triangle_in(product)->data);
    free(product->c.data);
}

static void check_product(setting *setting, const tb_kernel *row, tb_product *product)
{
    char text[256];
    const size_t shift =
        (size_t)check_between(&setting->random, 0, 3) * tb_bytes_of(tb_real_of(row->element));
    void *before = product->c.data, *after = malloc(bytes_of(&product->c) + 1);
    compute_on_device(setting, row, product, shift, after);
    const missed by = miss(product, before, after);
    product->c.data = after;
    describe(product, text, sizeof text);
    CHECK(by.largest <= (double)product->k + 4, "%s: %s: off by %g u |A||X|", row->name, text, by.largest);
    CHECK(gaps_are_untouched(product), "%s: %s: bytes beside C have changed", row->name, text);
    CHECK(row->in_place == TB_SOLVES || has_right_classes(product, before, after),
          "%s: %s: finite numbers are not, or the other way round", row->name, text);
    product->c.data = before;
    free(after);
}

static void check_case(setting *setting, const tb_kernel *row, int flags, int64_t order, int64_t other)
{
    tb_product product = draw_product(row, flags, order, other, &setting->random);
    check_product(setting, row, &product);
    free_product(&product);
}

static void check_row(setting *setting, const tb_kernel *row)
{
    for (int flags = 0; flags < 32; flags++) {
        if ((flags & 8) && !tb_is_complex(row->element))
            continue;
        for (int i = 0; i < CASES; i++) {
            const int64_t order = CHECK_PICK(&setting->random, orders), most = VOLUME_MOST / (order * order),
                          other = CHECK_PICK(&setting->random, others);
            check_case(setting, row, flags, order, other < most ? other : most);
        }
    }
    check_case(setting, row, (int)check_between(&setting->random, 0, 7), 300, 70); /* long and wide */
}

/* What a product makes of infinities and NaN in C, nothing else of which changes; of a few columns and rows, and of many, of orders
 * whose rows are cut in pieces, too. */
static void infinities_stay_where_they_are(setting *setting, const tb_kernel *row)
{
    static const int64_t sizes[][2] = {{33, 9}, {64, 33}, {100, 100}, {257, 9}, {600, 3}};
    for (int flags = 0; flags < 32 && row->in_place == TB_MULTIPLIES; flags++) {
        if ((flags & 8) && !tb_is_complex(row->element))
            continue;
        for (int i = 0; i < 2; i++) {
            const int64_t *size = CHECK_PICK(&setting->random, sizes);
            tb_product product = draw_product(row, flags, size[0], size[1], &setting->random);
            for (int times = check_between(&setting->random, 0, 1) ? 1 : 20; times > 0; times--)
                spoil(&product, &setting->random);
            check_product(setting, row, &product);
            free_product(&product);
        }
    }
}

/* Numbers on the diagonal so small, or so large, that their inverses are none: C, of as many, is divided all the same. A zero makes
 * infinities; and of what is infinite already no number comes. */
static void extremes_are_divided(setting *setting, const tb_kernel *row)
{
    enum { ORDER = 40, OTHER = 9 };
    const bool is_double = tb_real_of(row->element) == TB_FP64;
    const double extremes[] = {is_double ? 0x1p-1070 : 0x1p-145, is_double ? 0x1p1020 : 0x1p124,
                               is_double ? 0x1p-1021 : 0x1p-125};
    for (int i = 0; i < 3 && row->in_place == TB_SOLVES; i++) {
        tb_product product = draw_product(row, 1 + 2, ORDER, OTHER, &setting->random);
        product.alpha = (tb_scalar){1, 0};
        void *after = malloc(bytes_of(&product.c) + 1);
        for (int64_t column = 0; column < ORDER; column++)
            for (int64_t at = column; at < ORDER; at++)
                set(row->element, product.a.data, at + column * product.a.ld, at == column ? extremes[i] : 0);
        for (int64_t column = 0; column < OTHER; column++)
            for (int64_t at = 0; at < ORDER; at++)
                set(row->element, product.c.data, at + column * product.c.ld,
                    (double)(3 + at % 4) * extremes[i]);
        set(row->element, product.a.data, 0, 0);
        compute_on_device(setting, row, &product, 0, after);
        bool right = true;
        for (int64_t column = 0; column < OTHER; column++) {
            const number first = get(row->element, after, column * product.c.ld);
            right = right && !isfinite((double)creall(first));
        }
        CHECK(right, "%s: 3 by 0 is finite", row->name);
        set(row->element, product.a.data, 0, extremes[i]);
        compute_on_device(setting, row, &product, 0, after);
        double worst = 0;
        for (int64_t column = 0; column < OTHER; column++)
            for (int64_t at = 0; at < ORDER; at++) {
                const number x = get(row->element, after, at + column * product.c.ld);
                const double off = (double)cabsl(x - (double)(3 + at % 4));
                worst = off <= worst ? worst : isnan(off) ? INFINITY : off;
            }
        CHECK(worst <= 16 * tb_element_rows[row->element].roundoff, "%s: multiples of %g by it are off by %g",
              row->name, extremes[i], worst);
        free(after);
        free_product(&product);
    }
}

/* ---- Residuals -------------------------------------------------------------------------------------------- */

/* Columns of the triangle, or rows, of magnitudes from 2^-10 to 2^10, or all of one. */
static void grade(tb_product *product, int family, check_random *random)
{
    tb_operand *a = triangle_in(product);
    for (int64_t line = 0; line < a->columns && family > 0; line++) {
        const double by = exp2((double)check_between(random, -10, 10));
        for (int64_t i = 0; i < a->rows; i++) {
            const int64_t at = family == 1 ? i + line * a->ld : line + i * a->ld;
            set(a->element, a->data, at, by * get(a->element, a->data, at));
        }
    }
}

enum { PRODUCTS_MOST = 8, LARGEST = 0, RMS, FIGURES };

/* What residuals are drawn of: products of a size and a family, whose triangles have these shapes. The diagonal's term is each
 * sum's largest: where it comes first along k all that follow are added to a large sum, and residuals are several times those of
 * sums in which it comes last. So either is judged by itself, and shapes are kept where numbers are drawn again. */
typedef struct residuals {
    setting *setting;
    const tb_kernel *row;
    int64_t size;
    int family;
    bool diagonal_last;
    int products, shapes[PRODUCTS_MOST];
    missed ours, cublas; /* of the draw before */
} residuals;

/* Flags (draw_product) of side, triangle and transposition. Row i of op(A) on the left ends with the diagonal where op(A) is a lower
 * triangle, a column of it on the right where it is an upper one. */
static int draw_shape(bool diagonal_last, check_random *random)
{
    const bool left = check_between(random, 0, 1), transposed = check_between(random, 0, 1);
    const bool lower = transposed != (left == diagonal_last);
    return left + 2 * lower + 4 * transposed;
}

/* Of both, of one product with a triangle of some shape. */
static void add_residuals(residuals *r, int shape, check_random *random)
{
    tb_product product = draw_product(r->row, shape, r->size, r->size < 512 ? 32 : 8, random);
    product.alpha = (tb_scalar){1, 0};
    grade(&product, r->family, random);
    void *before = product.c.data, *after = malloc(bytes_of(&product.c) + 1);
    for (int by_cublas = 0; by_cublas < 2; by_cublas++) {
        compute_on_device(r->setting, by_cublas ? NULL : r->row, &product, 0, after);
        const missed one = miss(&product, before, after);
        missed *all = by_cublas ? &r->cublas : &r->ours;
        all->largest = fmax(all->largest, one.largest);
        all->rms = hypot(all->rms, one.rms / sqrt(r->products));
    }
    free(after);
    free_product(&product);
}

static void draw_residuals(void *what, uint64_t seed, double *excesses)
{
    residuals *r = what;
    check_random random = {.state = seed};
    r->ours = r->cublas = (missed){0, 0};
    for (int i = 0; i < r->products; i++)
        add_residuals(r, r->shapes[i], &random);
    excesses[LARGEST] = draws_excess(r->ours.largest, 1.25 * r->cublas.largest);
    excesses[RMS] = draws_excess(r->ours.rms, r->cublas.rms);
}

static void judge_residuals(residuals *r, const char *family)
{
    static const char *const names[FIGURES] = {"largest", "rms"};
    const uint64_t seed = check_next(&r->setting->random);
    double excesses[FIGURES];
    draw_residuals(r, seed, excesses);
    char name[96];
    snprintf(name, sizeof name, "%-20s %5lld, %-16s, diagonal %s", r->row->name, (long long)r->size, family,
             r->diagonal_last ? "last " : "first");
    printf("%s  largest %6.2f, cuBLAS %6.2f   rms %6.3f, cuBLAS %6.3f\n", name, r->ours.largest,
           r->cublas.largest, r->ours.rms, r->cublas.rms);
    draws figures[FIGURES];
    draws_settle(figures, FIGURES, excesses, draw_residuals, r, seed);
    for (int i = 0; i < FIGURES; i++) {
        char text[DRAWS_TEXT];
        draws_describe(&figures[i], text);
        CHECK(draws_hold(&figures[i]), "%s: %s residual beside cuBLAS's: %s", name, names[i], text);
        if (figures[i].count > 1)
            printf("%s  %s: %s\n", name, names[i], text);
    }
}

/* A largest residual of a few thousand numbers is a matter of luck: small sizes are made of more products, and what is over its
 * limit is drawn again (draws.h). */
static void compare_residuals(setting *setting, const tb_kernel *row)
{
    static const char *const families[] = {"of one magnitude", "graded columns", "graded rows"};
    static const struct {
        int64_t size;
        int products;
    } sizes[] = {{64, 8}, {200, 4}, {512, 1}, {1024, 1}};
    const int size_count = (int)(sizeof sizes / sizeof *sizes);
    for (int i = 0; i < 3 * size_count * 2; i++) {
        residuals r = {.setting = setting,
                       .row = row,
                       .size = sizes[i / 2 % size_count].size,
                       .family = i / (2 * size_count),
                       .diagonal_last = i % 2 == 1,
                       .products = sizes[i / 2 % size_count].products};
        for (int product = 0; product < r.products; product++)
            r.shapes[product] = draw_shape(r.diagonal_last, &setting->random);
        judge_residuals(&r, families[r.family]);
    }
}

/* ---- Bench ------------------------------------------------------------------------------------------------ */

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
        void *a = on_device(nearly_identity(row->element, order, &setting->random),
                            (size_t)(order * order) * tb_bytes_of(row->element));
        void *c = on_device(draw_c(row->element, order, other, order, &setting->random),
                            (size_t)(order * other) * tb_bytes_of(row->element));
        for (int flags = 0; flags < (all_flags ? 8 : 2); flags++) {
            const bool left = !(flags & 1);
            const tb_product product =
                tb_triangular(row->in_place, row->element, left, flags & 2 ? TB_UPPER : TB_LOWER, flags & 4,
                              false, false, left ? order : other, left ? other : order, (tb_scalar){1, 0}, a,
                              order, c, left ? order : other);
            bench_shape(setting, row, &product);
        }
        arena_release(TB_MEMORY_DEVICE, a);
        arena_release(TB_MEMORY_DEVICE, c);
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
    static const int64_t small_orders[] = {16, 64, 128, 256, 512, 1024},
                         small_others[] = {32, 64, 4096, 8192};
    const stopwatch watch = make_stopwatch();
    for (size_t i = 0; i < sizeof small_orders / sizeof *small_orders; i++)
        for (size_t j = 0; j < sizeof small_others / sizeof *small_others; j++) {
            const int64_t order = small_orders[i], other = small_others[j];
            void *a = on_device(nearly_identity(row->element, order, &setting->random),
                                (size_t)(order * order) * tb_bytes_of(row->element));
            void *c = on_device(draw_c(row->element, order, other, order, &setting->random),
                                (size_t)(order * other) * tb_bytes_of(row->element));
            double us[2];
            for (int right = 0; right < 2; right++) {
                const tb_product product = tb_triangular(
                    row->in_place, row->element, !right, TB_LOWER, false, false, false, right ? other : order,
                    right ? order : other, (tb_scalar){1, 0}, a, order, c, right ? other : order);
                us[right] = time_part(setting, row, &product, watch);
            }
            printf("%-20s order %5lld, %5lld others: left %8.1f us, right %8.1f us\n", row->name,
                   (long long)order, (long long)other, us[0], us[1]);
            arena_release(TB_MEMORY_DEVICE, a);
            arena_release(TB_MEMORY_DEVICE, c);
        }
    free_stopwatch(watch);
}

/* Of a solve on the left with real numbers: as often as it has them. */
static void bench_parts(setting *setting, const tb_kernel *row, tb_target target)
{
    static const int64_t shapes[][2] = {{2048, 2048}, {4096, 4096}, {8192, 8192}, {4096, 64}};
    const stopwatch watch = make_stopwatch();
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const int64_t order = shapes[i][0], other = shapes[i][1], ld = order;
        void *a = on_device(nearly_identity(row->element, order, &setting->random),
                            (size_t)(order * order) * tb_bytes_of(row->element));
        void *c = on_device(draw_c(row->element, order, other, order, &setting->random),
                            (size_t)(order * other) * tb_bytes_of(row->element));
        double total = 0;
        for (int64_t size = row->tile_m; size <= order; size *= 2) {
            const int64_t half = size / 2, count = order / size;
            const bool is_triangle = size == row->tile_m;
            const tb_product product =
                is_triangle ? tb_triangular(row->in_place, row->element, true, TB_LOWER, false, false, false,
                                            size, other, (tb_scalar){1, 0}, a, ld, c, ld)
                            : tb_gemm(tb_gemm_routine(row->element), false, false, half, other, half, 1e-3,
                                      (const char *)a + (size_t)half * tb_bytes_of(row->element), ld, c, ld,
                                      1, (char *)c + (size_t)half * tb_bytes_of(row->element), ld);
            const tb_kernel *chosen = is_triangle ? row : tb_choose_inner(&product, row->accuracy, target);
            const double us = time_part(setting, chosen, &product, watch);
            total += us * (double)count;
            printf("%-20s %5lld x %5lld: %3lld of %4lld: %8.1f us  forecast %8.1f us  %s\n", row->name,
                   (long long)order, (long long)other, (long long)count,
                   (long long)(is_triangle ? size : half), us,
                   tb_device.prepare(setting->stream, chosen, &product).clocks / 1.7e3, chosen->name);
        }
        const tb_product whole = tb_triangular(row->in_place, row->element, true, TB_LOWER, false, false,
                                               false, order, other, (tb_scalar){1, 0}, a, ld, c, ld);
        printf("%-20s %5lld x %5lld: together %8.1f us, one behind the other %8.1f us\n", row->name,
               (long long)order, (long long)other, total, time_part(setting, row, &whole, watch));
        arena_release(TB_MEMORY_DEVICE, a);
        arena_release(TB_MEMORY_DEVICE, c);
    }
    free_stopwatch(watch);
}

/* Names of rows behind an option leave the others out. */
static bool is_asked_for(const tb_kernel *row, int count, char **arguments)
{
    bool named = false;
    for (int i = 0; i < count; i++) {
        if (arguments[i][0] == '-')
            continue;
        named = true;
        if (strcmp(arguments[i], row->name) == 0)
            return true;
    }
    return !named;
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
    tb_device_description description;
    tb_device.destroy_stream(open_device(&description));
    setting setting = {.random = {.state = check_seed()}};
    MUST(cudaStreamCreateWithFlags(&setting.native, cudaStreamNonBlocking) == cudaSuccess);
    MUST(tb_device.adopt_stream(&(tb_place){.memory = TB_MEMORY_DEVICE}, setting.native, &setting.stream) ==
         TB_OK);
    MUST(cublasCreate(&setting.cublas) == CUBLAS_STATUS_SUCCESS &&
         cublasSetStream(setting.cublas, setting.native) == CUBLAS_STATUS_SUCCESS);
    int rows = 0;
    for (size_t i = 0; i < tb_catalog_size; i++) {
        const tb_kernel *row = &tb_catalog[i];
        if (row->in_place == TB_OUT_OF_PLACE || !tb_kernel_runs_on(row, description.architecture) ||
            !is_asked_for(row, argc - 1, argv + 1))
            continue;
        rows++;
        if (has_option("--bench-small", argc - 1, argv + 1)) {
            if (row->launch == tb_launch_triangle)
                bench_small(&setting, row);
        } else if (has_option("--bench-parts", argc - 1, argv + 1)) {
            if (row->launch == tb_launch_triangular && row->in_place == TB_SOLVES &&
                !tb_is_complex(row->element))
                bench_parts(&setting, row,
                            (tb_target){.architecture = description.architecture,
                                        .multiprocessors = description.multiprocessors});
        } else if (has_option("--bench", argc - 1, argv + 1)) {
            bench_row(&setting, row, has_option("--all", argc - 1, argv + 1));
        } else if (has_option("--residuals", argc - 1, argv + 1)) {
            compare_residuals(&setting, row);
        } else {
            check_row(&setting, row);
            infinities_stay_where_they_are(&setting, row);
            extremes_are_divided(&setting, row);
        }
    }
    CHECK(rows > 0, "no rows");
    if (setting.workspace)
        arena_release(TB_MEMORY_DEVICE, setting.workspace);
    tb_device.destroy_stream(setting.stream);
    MUST(cublasDestroy(setting.cublas) == CUBLAS_STATUS_SUCCESS &&
         cudaStreamDestroy(setting.native) == cudaSuccess);
    return check_result();
}
