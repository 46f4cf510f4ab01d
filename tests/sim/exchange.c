/* Two devices that share a product bring half each of the operand that both need, and the other half from each other. The result
 * is what it is without that, whoever fails, or comes too late, or has cut the product in another way.
 */
#include "include/tileblas.h"
#include "lib/machine/machine.h"
#include "lib/process/clock.h"
#include "lib/process/threads.h"
#include "lib/streaming/exchange.h"
#include "lib/streaming/pipeline.h"
#include "lib/streaming/stream_run.h"
#include "tests/oracle.h"
#include "tests/sim/children.h"
#include "tests/sim/device_sim.h"
#include "tests/sim/side_by_side.h"

#include <pthread.h>
#include <string.h>

enum { PATIENCE_SECONDS = 60, THREADS = 6, CALLS = 5, RACES_MOST = 10 };

/* Linked with cuts.c, which cuts products at random. */
static bool is_cut;

void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                 int);
void cblas_dgemm(int, int, int, int, int, int, double, const double *, int, const double *, int, double,
                 double *, int);

/* ---- Threads that cannot be had --------------------------------------------------------------------------- */

static bool no_threads;

bool __real_tb_start_thread(void *(*work)(void *), void *argument);
bool __wrap_tb_start_thread(void *(*work)(void *), void *argument);

bool __wrap_tb_start_thread(void *(*work)(void *), void *argument)
{
    return !no_threads && __real_tb_start_thread(work, argument);
}

/* ---- Products --------------------------------------------------------------------------------------------- */

typedef struct shape {
    int m, n, k;
    bool transpose_a, transpose_b;
    double beta;
    bool of_doubles;
} shape;

static product make_product(const shape *shape, check_random *random)
{
    const tb_element element = shape->of_doubles ? TB_FP64 : TB_FP32;
    const int m = shape->m, n = shape->n, k = shape->k;
    const bool a = shape->transpose_a, b = shape->transpose_b;
    product p = {
        .m = m, .n = n, .k = k, .alpha = 1.5, .beta = shape->beta, .transpose_a = a, .transpose_b = b};
    p.a = matrix_make_of(element, a ? k : m, a ? m : k, (a ? k : m) + 3, 1);
    p.b = matrix_make_of(element, b ? n : k, b ? k : n, b ? n : k, 0);
    p.c = matrix_make_of(element, m, n, m + 1, 2);
    matrix_fill(&p.a, MATRIX_UNIFORM, random);
    matrix_fill(&p.b, MATRIX_UNIFORM, random);
    matrix_fill(&p.c, shape->beta == 0 ? MATRIX_NANS : MATRIX_UNIFORM, random);
    return p;
}

static void free_product(product *p)
{
    matrix_free(&p->a);
    matrix_free(&p->b);
    matrix_free(&p->c);
}

static void *start_of(const matrix *matrix)
{
    return matrix_start_in(matrix, matrix->block);
}

static void call(const shape *shape, const product *p, const matrix *c)
{
    const int m = shape->m, n = shape->n, k = shape->k, a = shape->transpose_a ? 112 : 111,
              b = shape->transpose_b ? 112 : 111;
    if (shape->of_doubles)
        cblas_dgemm(102, a, b, m, n, k, p->alpha, start_of(&p->a), (int)p->a.ld, start_of(&p->b),
                    (int)p->b.ld, p->beta, start_of(c), (int)c->ld);
    else
        cblas_sgemm(102, a, b, m, n, k, (float)p->alpha, start_of(&p->a), (int)p->a.ld, start_of(&p->b),
                    (int)p->b.ld, (float)p->beta, start_of(c), (int)c->ld);
}

static void check_call(const shape *shape, const product *p, const char *when)
{
    char wrong[256] = "";
    matrix c = matrix_clone(&p->c);
    call(shape, p, &c);
    CHECK(product_holds(p, &c, wrong, sizeof wrong), "%s, %d x %d x %d, %s%s%s, beta %g: %s", when, shape->m,
          shape->n, shape->k, shape->of_doubles ? "doubles, " : "", shape->transpose_a ? "T" : "N",
          shape->transpose_b ? "T" : "N", shape->beta, wrong);
    matrix_free(&c);
}

/* The regions one after the other exchange nothing. */
static void check_bits(const shape *shape, check_random *random)
{
    product p = make_product(shape, random);
    matrix together = matrix_clone(&p.c), apart = matrix_clone(&p.c);
    const long before = sim_crossings();
    call(shape, &p, &together);
    const long between = sim_crossings();
    sides_wait = false;
    no_threads = true;
    call(shape, &p, &apart);
    no_threads = false;
    sides_wait = true;
    CHECK(between > before && sim_crossings() == between, "%ld copies between devices, and %ld",
          between - before, sim_crossings() - between);
    CHECK(matrix_equals(&together, &apart), "%d x %d x %d: other bits", shape->m, shape->n, shape->k);
    matrix_free(&together);
    matrix_free(&apart);
    free_product(&p);
}

/* Copies from device to device in one call. */
static long multiply(const shape *shape, check_random *random, const char *when)
{
    const long before = sim_crossings();
    product p = make_product(shape, random);
    check_call(shape, &p, when);
    free_product(&p);
    return sim_crossings() - before;
}

/* Called in a process that has used no device yet. */
static void start(const char *speeds)
{
    const bool equal = strcmp(speeds, "1,1") == 0;
    check_random random = {.state = check_seed()};
    const shape first = {.m = 40, .n = 40, .k = 40};
    sim_set("DEVICES", "2");
    sim_set("SPEEDS", speeds);
    sim_set("MULTIPROCESSORS", "1"); /* for which less is measured */
    tileblas_set_option("DEVICES", "2");
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
    tileblas_set_option("PINNED_MEMORY", "1");
    tileblas_set_option("OPERAND_CACHE", "0");
    tileblas_set_option("CALIBRATE", equal ? "0" : "1"); /* it finds no two devices equal */
    multiply(&first, &random, "first");
    sides_wait = true;
}

static shape draw(check_random *random)
{
    return (shape){.m = (int)check_between(random, 1, 500),
                   .n = (int)check_between(random, 1, 500),
                   .k = (int)check_between(random, 1, 300),
                   .transpose_a = check_between(random, 0, 1),
                   .transpose_b = check_between(random, 0, 1),
                   .beta = (double)check_between(random, -1, 1),
                   .of_doubles = check_between(random, 0, 1)};
}

/* ---- What is true of them --------------------------------------------------------------------------------- */

/* C is cut across its longer side. */
static void both_bring_half(void *unused)
{
    (void)unused;
    static const struct {
        int m, n, k;
    } shapes[] = {{300, 400, 200}, {400, 300, 200}, {130, 256, 257}, {257, 129, 65}, {1300, 40, 60}};
    check_random random = {.state = check_seed()};
    start("1,1");
    for (int i = 0; i < 40; i++) {
        const int s = i / 8;
        const shape shape = {.m = shapes[s].m,
                             .n = shapes[s].n,
                             .k = shapes[s].k,
                             .transpose_a = i & 1,
                             .transpose_b = i & 2,
                             .beta = i & 4 ? -2 : 0,
                             .of_doubles = i % 3 == 0};
        const long crossings = multiply(&shape, &random, "exchanged");
        CHECK(crossings >= 2 && crossings % 2 == 0, "%d x %d x %d: %ld copies between devices", shape.m,
              shape.n, shape.k, crossings);
        check_bits(&shape, &random);
    }
}

static void nothing_is_exchanged_out_of_reach(void *unused)
{
    (void)unused;
    check_random random = {.state = check_seed()};
    const shape shape = {.m = 300, .n = 400, .k = 200};
    sim_set("REACH", "0");
    start("1,1");
    CHECK(multiply(&shape, &random, "out of reach") == 0, "copies between devices");
}

/* Where slabs take each other's places, nobody else may be reading them. */
static void nothing_is_exchanged_in_rings(void *unused)
{
    (void)unused;
    check_random random = {.state = check_seed()};
    const shape shape = {.m = 16, .n = 400, .k = 3000, .beta = 1, .of_doubles = true};
    start("1,1");
    tileblas_set_option("DEVICE_MEMORY", "2");
    CHECK(multiply(&shape, &random, "in rings") == 0, "copies between devices");
}

/* Regions that are not alike are cut in ways of their own. */
static void unequal_devices_are_right(void *unused)
{
    (void)unused;
    check_random random = {.state = check_seed()};
    start("1,0.3");
    for (int i = 0; i < 40; i++) {
        const shape shape = draw(&random);
        multiply(&shape, &random, "unequal");
    }
}

/* Linked with cuts.c: slabs, bands and panels of the common operand, which two regions of other sizes cut in other ways. */
static void cut_at_random_it_is_right(void *unused)
{
    (void)unused;
    check_random random = {.state = check_seed()};
    long crossings = 0;
    start("1,1");
    for (int i = 0; i < 40; i++) {
        const shape shape = draw(&random);
        crossings += multiply(&shape, &random, "cut at random");
    }
    CHECK(crossings > 40, "%ld copies between devices", crossings);
}

/* What came before is compared, by each device for itself. */
static void operands_that_come_again_are_right(void *unused)
{
    (void)unused;
    check_random random = {.state = check_seed()};
    const shape shape = {.m = 300, .n = 400, .k = 200, .beta = 1};
    start("1,1");
    tileblas_set_option("OPERAND_CACHE", "1");
    product p = make_product(&shape, &random);
    for (int call = 0; call < 5; call++) {
        const long before = sim_crossings();
        check_call(&shape, &p, "again");
        CHECK((sim_crossings() > before) == (call == 0), "call %d: %ld copies between devices", call,
              sim_crossings() - before);
    }
    matrix_fill(&p.a, MATRIX_UNIFORM, &random);
    check_call(&shape, &p, "changed");
    free_product(&p);
}

/* One region after the other, in one thread. */
static void without_threads_it_is_right(void *unused)
{
    (void)unused;
    check_random random = {.state = check_seed()};
    start("1,1");
    sides_wait = false;
    no_threads = true;
    for (int i = 0; i < 20; i++) {
        const shape shape = draw(&random);
        CHECK(multiply(&shape, &random, "without threads") == 0, "copies between devices");
    }
}

static void *multiply_once(void *argument)
{
    check_random random = {.state = check_seed()};
    multiply(argument, &random, "beside a turn");
    return NULL;
}

static bool comes_true_that_backlog(int device, bool is)
{
    const double end = tb_seconds() + PATIENCE_SECONDS;
    while ((tb_pipeline_backlog(device) > 0) != is && tb_seconds() < end)
        usleep(200);
    return tb_seconds() < end;
}

/* Another call has one device, or the other. */
static void nobody_waits_for_who_has_no_turn(void *unused)
{
    (void)unused;
    start("1,1");
    sides_wait = false;
    for (int busy = 0; busy < 2; busy++) {
        shape shape = {.m = 300, .n = 400, .k = 200, .beta = 1};
        tb_turn turn = {.device = busy, .seconds = 1};
        pthread_t thread;
        CHECK(tb_take_turn(&turn) == TB_OK, "no turn");
        pthread_create(&thread, NULL, multiply_once, &shape);
        CHECK(comes_true_that_backlog(1 - busy, true) && comes_true_that_backlog(1 - busy, false),
              "device %d is not done while %d is busy", 1 - busy, busy);
        tb_end_turn(&turn);
        pthread_join(thread, NULL);
    }
}

static void *multiply_many(void *argument)
{
    check_random random = {.state = *(uint64_t *)argument};
    for (int i = 0; i < CALLS; i++) {
        const shape shape = draw(&random);
        multiply(&shape, &random, "racing");
    }
    return NULL;
}

static void race(uint64_t seed)
{
    pthread_t threads[THREADS];
    uint64_t seeds[THREADS];
    for (int i = 0; i < THREADS; i++) {
        seeds[i] = seed + (uint64_t)i;
        pthread_create(&threads[i], NULL, multiply_many, &seeds[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* Sides that do not wait may all miss each other, and so may such as have cut their products in other ways. */
static void racing_calls_are_right(void *unused)
{
    (void)unused;
    start("1,1");
    sides_wait = false;
    const long before = sim_crossings();
    for (int round = 0; round < (is_cut ? 1 : RACES_MOST) && sim_crossings() == before; round++)
        race(check_seed() + (uint64_t)(round * THREADS));
    CHECK(is_cut || sim_crossings() > before, "nothing was exchanged");
}

/* A side that fails gives its memory back, which is freed at once, when the other one has read it. */
static void memory_stays_while_it_is_read(void *unused)
{
    (void)unused;
    check_random random = {.state = check_seed()};
    const shape shape = {.m = 300, .n = 400, .k = 200, .beta = 1};
    start("1,1");
    tileblas_set_option("KEEP_SECONDS", "0");
    sim_set("DELAY", "3000");
    for (int i = 0; i < 12; i++) {
        char script[32];
        snprintf(script, sizeof script, "launch:%d=unsupported", 1 + i % 4);
        sim_set("FAIL", script);
        multiply(&shape, &random, "one side fails");
        CHECK(sim_failures("launch") == 1, "nothing failed");
    }
}

typedef struct part {
    void (*run)(void *);
    const char *name;
} part;

static const part parts[] = {
    {both_bring_half, "both bring half"},
    {nothing_is_exchanged_out_of_reach, "nothing is exchanged out of reach"},
    {nothing_is_exchanged_in_rings, "nothing is exchanged in rings"},
    {unequal_devices_are_right, "unequal devices are right"},
    {operands_that_come_again_are_right, "operands that come again are right"},
    {without_threads_it_is_right, "without threads it is right"},
    {nobody_waits_for_who_has_no_turn, "nobody waits for who has no turn"},
    {racing_calls_are_right, "racing calls are right"},
    {memory_stays_while_it_is_read, "memory stays while it is read"},
    {NULL, NULL},
};
static const part parts_with_cuts[] = {
    {cut_at_random_it_is_right, "cut at random it is right"},
    {unequal_devices_are_right, "unequal devices are right"},
    {racing_calls_are_right, "racing calls are right"},
    {NULL, NULL},
};

/* The argument cuts says that it is. */
int main(int count, char **arguments)
{
    is_cut = count > 1 && strcmp(arguments[1], "cuts") == 0;
    for (const part *part = is_cut ? parts_with_cuts : parts; part->run; part++) {
        const child_end end = child_run(part->run, NULL, 3 * PATIENCE_SECONDS);
        CHECK(end == CHILD_RIGHT, "%s: %s", part->name, child_end_text(end));
    }
    return check_result();
}
