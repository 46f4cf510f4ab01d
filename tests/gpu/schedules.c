/* The families of multiply-adds on a device, SIMT and FP64, row by row, in every way in which they deal work
 * to blocks: tiles of their own, parts of tiles that a second launch adds up, parts that a cluster adds up,
 * whole waves before those; several products in one launch; any transposition, alignment, alpha and beta.
 * Each result against the oracle of tests/oracle.h.
 */
#include "dispatch/plan.h"
#include "kernels/fp64/launch_dgemm.h"
#include "kernels/simt/launch_simt.h"
#include "kernels/simt/launch_skinny.h"
#include "lib/device/device.h"
#include "tests/check.h"
#include "tests/conformance/arena.h"
#include "tests/gpu/open_device.h"
#include "tests/oracle.h"
#include "words/members.h"

#include <string.h>

enum { PRODUCTS = 40, MEMBERS_MAXIMUM = 5 };

typedef enum way { WHOLE, ADDED_LATER, CLUSTERS, BEHIND_WAVES, WAYS } way;
static const char *const way_names[] = {"tiles of their own", "parts added later", "clusters",
                                        "parts behind whole waves"};

static int reached[TB_ELEMENTS][WAYS];

static way way_of(int64_t pieces, int64_t whole, int64_t cluster)
{
    return pieces == 0 ? WHOLE : whole > 0 ? BEHIND_WAVES : cluster > 1 ? CLUSTERS : ADDED_LATER;
}

/* Products in one launch. */
static int members;

/* Stands in front of the rows' launch functions (--wrap). */
#define STAND_IN(family)                                                                                     \
    tb_status __real_tb_launch_##family(const tb_launcher *launcher, const tb_kernel *kernel,                \
                                        const tb_product *given, const tb_schedule *schedule,                \
                                        void *workspace);                                                    \
    tb_status __wrap_tb_launch_##family(const tb_launcher *launcher, const tb_kernel *kernel,                \
                                        const tb_product *given, const tb_schedule *schedule,                \
                                        void *workspace);                                                    \
    tb_status __wrap_tb_launch_##family(const tb_launcher *launcher, const tb_kernel *kernel,                \
                                        const tb_product *given, const tb_schedule *schedule,                \
                                        void *workspace)

STAND_IN(simt)
{
    const tb_simt_schedule *own = TB_DEAL(schedule, tb_simt_schedule);
    reached[TB_FP32][way_of(own->pieces, own->whole, own->cluster)]++;
    return __real_tb_launch_simt(launcher, kernel, given, schedule, workspace);
}

STAND_IN(dgemm_mma)
{
    const tb_dgemm_schedule *own = TB_DEAL(schedule, tb_dgemm_schedule);
    reached[TB_FP64][way_of(own->pieces, own->whole, own->cluster)]++;
    return __real_tb_launch_dgemm_mma(launcher, kernel, given, schedule, workspace);
}

static int64_t draw(check_random *random, int64_t most)
{
    int64_t bound = most >> check_between(random, 0, 4);
    return check_between(random, 1, bound > 0 ? bound : 1);
}

static matrix draw_matrix(tb_element element, int64_t rows, int64_t columns, bool transposed, bool aligned,
                          check_random *random)
{
    int64_t length = transposed ? columns : rows, lines = transposed ? rows : columns;
    int64_t ld = aligned ? (length + 3) / 4 * 4 : length + check_between(random, 0, 3);
    matrix drawn = matrix_make_of(element, length, lines, ld, aligned ? 0 : check_between(random, 0, 3));
    matrix_fill(&drawn, MATRIX_UNIFORM, random);
    return drawn;
}

/* A short side and a long one for the skinny row; for the others anything, or a wave of tiles and five or so more, with a k
 * that is cut into chains of doubles. */
static void draw_sides(const tb_kernel *row, bool wave, int multiprocessors, check_random *random, product *p)
{
    if (wave) {
        p->m = row->tile_m * ((multiprocessors * row->blocks + 5) / 4 + 1) - 3;
        p->n = row->tile_n * 4 - 1;
        p->k = 900;
        return;
    }
    const bool skinny = row->launch == tb_launch_skinny;
    int64_t sides[] = {draw(random, skinny ? 16 : 900), draw(random, skinny ? 9000 : 900)};
    int tall = (int)check_between(random, 0, 1);
    p->m = sides[tall];
    p->n = sides[!tall];
    p->k = check_between(random, 0, 19) ? draw(random, 5000) : 0;
}

static product draw_product(const tb_kernel *row, int number, int multiprocessors, check_random *random)
{
    enum { SCALARS = 3 };
    static const float scalars[SCALARS] = {0, 1, -0.75f};
    product p = {.transpose_a = check_between(random, 0, 1),
                 .transpose_b = check_between(random, 0, 1),
                 .alpha = scalars[check_between(random, 1, SCALARS - 1)],
                 .beta = scalars[check_between(random, 0, SCALARS - 1)]};
    /* Waves come with each of the betas, as chains of doubles depend on whether it is 0. */
    const int waves = row->launch == tb_launch_skinny ? 0 : row->launch == tb_launch_dgemm_mma ? SCALARS : 1;
    const bool wave = number<waves, aligned = row->alignment> 1 || number % 3 != 0;
    if (wave)
        p.beta = scalars[number];
    draw_sides(row, wave, multiprocessors, random, &p);
    p.a = draw_matrix(row->element, p.m, p.k > 0 ? p.k : 1, p.transpose_a, aligned, random);
    p.b = draw_matrix(row->element, p.k > 0 ? p.k : 1, p.n, p.transpose_b, aligned, random);
    p.c = draw_matrix(row->element, p.m, p.n, false, aligned, random);
    return p;
}

/* The products' blocks, one behind the other, on the device. A block of all matrices of a kind has the same size. */
static void *on_device(const matrix *first, int64_t stride, size_t apart)
{
    const size_t stride_bytes = (size_t)stride * tb_bytes_of(first->element);
    char *blocks = arena_allocate(TB_MEMORY_DEVICE, (size_t)members * stride_bytes);
    for (int i = 0; i < members; i++) {
        const matrix *each = (const matrix *)((const char *)first + (size_t)i * apart);
        arena_copy(blocks + (size_t)i * stride_bytes, each->block, each->bytes);
    }
    return blocks;
}

static int64_t stride_of(const matrix *matrix)
{
    return ((int64_t)(matrix->bytes / tb_bytes_of(matrix->element)) + 3) / 4 * 4;
}

static void run(tb_stream *stream, const tb_kernel *row, const product *products, matrix *results)
{
    const product *p = &products[0];
    const int64_t strides[] = {stride_of(&p->a), stride_of(&p->b), stride_of(&p->c)};
    void *a = on_device(&p->a, strides[TB_A], sizeof *p), *b = on_device(&p->b, strides[TB_B], sizeof *p);
    char *c = on_device(&p->c, strides[TB_C], sizeof *p);
    tb_product launched = product_on_device(p, a, b, c);
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        tb_spread(&launched, role, members, strides[role], NULL);
    const tb_schedule schedule = tb_make_schedule(row, &launched, target_of_device(0));
    void *workspace = schedule.workspace > 0 ? arena_allocate(TB_MEMORY_DEVICE, schedule.workspace) : NULL;
    tb_status status = tb_enqueue_launch(stream, row, &launched, &schedule, workspace, false);
    CHECK(status == TB_OK && tb_synchronize(stream) == TB_OK, "%s: not launched", row->name);
    for (int i = 0; i < members; i++)
        arena_copy(results[i].block, c + (size_t)(i * strides[TB_C]) * tb_bytes_of(row->element),
                   results[i].bytes);
    void *all[] = {a, b, c, workspace};
    for (int i = 0; i < 4; i++)
        if (all[i])
            arena_release(TB_MEMORY_DEVICE, all[i]);
}

/* A batch's products differ in their elements, not in anything else. */
static void make_batch(product *products, check_random *random)
{
    for (int i = 1; i < members; i++) {
        products[i] = products[0];
        matrix *copies[] = {&products[i].a, &products[i].b, &products[i].c};
        for (int j = 0; j < 3; j++) {
            *copies[j] = matrix_clone(copies[j]);
            matrix_fill(copies[j], MATRIX_UNIFORM, random);
        }
    }
}

static void check_product(tb_stream *stream, const tb_kernel *row, const product *products)
{
    matrix results[MEMBERS_MAXIMUM];
    for (int i = 0; i < members; i++)
        results[i] = matrix_clone(&products[i].c);
    run(stream, row, products, results);
    for (int i = 0; i < members; i++) {
        const product *p = &products[i];
        char message[256];
        CHECK(product_holds(p, &results[i], message, sizeof message),
              "%s, %lld x %lld x %lld %c%c, beta %g, product %d of %d: %s", row->name, (long long)p->m,
              (long long)p->n, (long long)p->k, p->transpose_a ? 'T' : 'N', p->transpose_b ? 'T' : 'N',
              p->beta, i, members, message);
        matrix_free(&results[i]);
    }
}

static void check_row(tb_stream *stream, const tb_kernel *kernel, int multiprocessors, check_random *random)
{
    for (int i = 0; i < PRODUCTS; i++) {
        product products[MEMBERS_MAXIMUM] = {draw_product(kernel, i, multiprocessors, random)};
        members = !kernel->batches || i % 4 != 1 ? 1 : (int)check_between(random, 2, MEMBERS_MAXIMUM);
        make_batch(products, random);
        check_product(stream, kernel, products);
        for (int b = 0; b < members; b++) {
            matrix_free(&products[b].a);
            matrix_free(&products[b].b);
            matrix_free(&products[b].c);
        }
    }
}

/* Arguments name the only rows that are to be tested. */
static void all_are_rows(int count, char **names)
{
    for (int i = 0; i < count; i++)
        CHECK(tb_find_kernel(names[i]), "%s: no such row", names[i]);
}

static bool is_asked_for(const tb_kernel *kernel, int count, char **names)
{
    for (int i = 0; i < count; i++)
        if (strcmp(kernel->name, names[i]) == 0)
            return true;
    return count == 0;
}

int main(int argc, char **argv)
{
    tb_device_description description;
    tb_stream *stream = open_device(&description);
    const tb_chip chip = {.architecture = description.architecture,
                          .multiprocessors = description.multiprocessors};
    bool served[TB_ELEMENTS] = {false};
    all_are_rows(argc - 1, argv + 1);
    check_random random = {.state = check_seed()};
    for (size_t i = 0; i < tb_catalog_size; i++) {
        const tb_kernel *kernel = &tb_catalog[i];
        const tb_product any = tb_gemm(kernel->element == TB_FP64 ? TB_DGEMM : TB_SGEMM, false, false, 1, 1,
                                       1, 1, NULL, 1, NULL, 1, 0, NULL, 1);
        if (is_asked_for(kernel, argc - 1, argv + 1) &&
            (kernel->launch == tb_launch_simt || kernel->launch == tb_launch_skinny ||
             kernel->launch == tb_launch_dgemm_mma) &&
            tb_kernel_serves(kernel, &any, &chip, true)) {
            served[kernel->element] |= kernel->launch != tb_launch_skinny; /* which is not counted */
            check_row(stream, kernel, chip.multiprocessors, &random);
        }
    }
    for (tb_element element = TB_FP32; element < TB_ELEMENTS; element++)
        for (int i = 0; i < WAYS; i++) {
            const bool has_way = i != CLUSTERS || chip.architecture >= 90;
            printf("%c, %s: %d\n", tb_element_rows[element].letter, way_names[i], reached[element][i]);
            CHECK(reached[element][i] > 0 || argc > 1 || !has_way || !served[element], "%s: not reached",
                  way_names[i]);
        }
    tb_destroy_stream(stream);
    return check_result();
}
