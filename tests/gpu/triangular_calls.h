/* Triangular products and solves in C's place on a device, by a row of the catalog or by cuBLAS: what the
 * programs about them share (triangular.c, triangular_residuals.c). Each of them is a visit to every row that works in C's place.
 *
 * Header only, as tests/check.h is.
 */
#ifndef TB_TRIANGULAR_CALLS_H
#define TB_TRIANGULAR_CALLS_H

#include "kernels/catalog.h"
#include "kernels/launch.h"
#include "tests/gpu/open_device.h"
#include "tests/in_place.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

/* Ends the process where something fails without which the program cannot go on. */
static inline void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "failed: %s\n", what);
    exit(EXIT_FAILURE);
}
#define MUST(condition) must((condition), #condition)

typedef struct setting {
    tb_stream *stream;
    cudaStream_t native; /* the same */
    cublasHandle_t cublas;
    tb_target target;
    check_random random;
    void *workspace;
    size_t workspace_bytes;
    void *apart; /* where cuBLAS leaves products; NULL: in C's place */
} setting;

static inline setting open_setting(void)
{
    tb_device_description description;
    tb_destroy_stream(open_device(&description));
    setting setting = {
        .random = {.state = check_seed()},
        .target = {.architecture = description.architecture, .multiprocessors = description.multiprocessors}};
    MUST(cudaStreamCreateWithFlags(&setting.native, cudaStreamNonBlocking) == cudaSuccess);
    MUST(tb_adopt_stream(&(tb_place){.memory = TB_MEMORY_DEVICE}, setting.native, &setting.stream) == TB_OK);
    MUST(cublasCreate(&setting.cublas) == CUBLAS_STATUS_SUCCESS &&
         cublasSetStream(setting.cublas, setting.native) == CUBLAS_STATUS_SUCCESS);
    return setting;
}

static inline void close_setting(setting *setting)
{
    if (setting->workspace)
        arena_release(TB_MEMORY_DEVICE, setting->workspace);
    tb_destroy_stream(setting->stream);
    MUST(cublasDestroy(setting->cublas) == CUBLAS_STATUS_SUCCESS &&
         cudaStreamDestroy(setting->native) == cudaSuccess);
}

/* Names of rows among the arguments leave the other rows out. */
static inline bool is_asked_for(const tb_kernel *row, int count, char **arguments)
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

typedef void visit_row(setting *setting, const tb_kernel *row);

/* Visits the rows that run here and that the arguments ask for. main returns what this returns. */
static inline int visit_rows(int argc, char **argv, visit_row *visit)
{
    setting setting = open_setting();
    int rows = 0;
    for (size_t i = 0; i < tb_catalog_size; i++) {
        const tb_kernel *row = &tb_catalog[i];
        if (row->in_place == TB_OUT_OF_PLACE || !tb_kernel_runs_on(row, setting.target.architecture) ||
            !is_asked_for(row, argc - 1, argv + 1))
            continue;
        rows++;
        visit(&setting, row);
    }
    CHECK(rows > 0, "no rows");
    close_setting(&setting);
    return check_result();
}

/* A schedule, and room in the setting for the workspace that it takes. */
static inline tb_schedule prepare(setting *setting, const tb_kernel *row, const tb_product *product)
{
    const tb_schedule schedule = tb_make_schedule(row, product, target_of_device(0));
    if (schedule.workspace > setting->workspace_bytes) {
        if (setting->workspace)
            arena_release(TB_MEMORY_DEVICE, setting->workspace);
        setting->workspace_bytes = schedule.workspace;
        setting->workspace = arena_allocate(TB_MEMORY_DEVICE, schedule.workspace);
    }
    return schedule;
}

static inline void launch(setting *setting, const tb_kernel *row, const tb_product *product,
                          const tb_schedule *schedule)
{
    const tb_status status =
        tb_enqueue_launch(setting->stream, row, product, schedule, setting->workspace, false);
    CHECK(status == TB_OK, "%s: status %d", row->name, (int)status);
}

/* The same by cuBLAS. */
static inline void call_cublas(setting *setting, const tb_product *p)
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

static inline size_t bytes_of(const tb_operand *operand)
{
    return (size_t)operand->ld * (size_t)operand->columns * tb_bytes_of(operand->element);
}

static inline tb_operand *triangle_in(tb_product *product)
{
    return tb_is_triangle_left(product) ? &product->a : &product->b;
}

/* Computes on the device what is described by matrices on the host: by cuBLAS where row is NULL. `after`
 * becomes C as it is then. On the device matrices begin `shift` bytes behind where an allocation does. */
static inline void compute_on_device(setting *setting, const tb_kernel *row, const tb_product *host,
                                     size_t shift, void *after)
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
    CHECK(tb_synchronize(setting->stream) == TB_OK, "the device fails");
    arena_copy(after, product.c.data, c_bytes);
    arena_copy(a_after, a->data, a_bytes);
    CHECK(memcmp(a_after, triangle_in((tb_product *)host)->data, a_bytes) == 0, "the triangle has changed");
    free(a_after);
    arena_release(TB_MEMORY_DEVICE, a_room);
    arena_release(TB_MEMORY_DEVICE, c_room);
}

static inline tb_scalar draw_alpha(tb_element element, check_random *random)
{
    static const tb_scalar alphas[] = {{1, 0}, {1, 0}, {0.5, 0}, {0, 0}, {0.75, -0.5}};
    return alphas[check_between(random, 0, tb_is_complex(element) ? 4 : 3)];
}

/* flags: side, triangle, transposed, conjugated, ones. */
static inline tb_product draw_product(const tb_kernel *row, int flags, int64_t order, int64_t other,
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

static inline void free_product(tb_product *product)
{
    free(triangle_in(product)->data);
    free(product->c.data);
}

#endif
