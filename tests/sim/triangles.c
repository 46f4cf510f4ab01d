/* Routines that compute a triangle of C, while the program writes the other one: it is never lost, and the triangle is right,
 * however the product is cut, wherever its operands lie, and whatever fails.
 *
 *   triangles SECONDS [gentle]    gentle: nobody forks, which sanitizers do not bear
 *   triangles SEED session        one session again
 *
 * Each session is a process of its own, with settings, operands and a device that fails, as drawn.
 */
#include "lib/process/clock.h"
#include "tests/sim/children.h"
#include "tests/sim/sim.h"
#include "tests/sim/triangle.h"

#include <pthread.h>

/* Calls of each kind: in a few of them the writer may be asleep just then. */
#define RESTORED_CALLS 10

/* Calls of one session; and many times what it takes. */
#define SESSION_CALLS 5
#define LIMIT_SECONDS 60.0
#define CHILD_SECONDS 30.0

enum { THREADS_MOST = 3, NAME_MOST = 48 };

static bool gentle;
static bool loses_device; /* and with it what lies there */
static bool has_host;     /* a BLAS of the host's, which may have rules of its own for a beta that is NaN */

static tb_memory draw_memory(check_random *random, bool may_be_on_device)
{
    static const tb_memory kinds[] = {TB_MEMORY_HOST,   TB_MEMORY_HOST,    TB_MEMORY_HOST,
                                      TB_MEMORY_PINNED, TB_MEMORY_MANAGED, TB_MEMORY_DEVICE};
    const tb_memory memory = CHECK_PICK(random, kinds);
    return memory == TB_MEMORY_DEVICE && (loses_device || !may_be_on_device) ? TB_MEMORY_HOST : memory;
}

static int draw_size(check_random *random)
{
    static const int most[] = {1, 3, 20, 70, 200};
    return (int)check_between(random, 1, CHECK_PICK(random, most));
}

static int draw_ld(check_random *random, int rows)
{
    static const int more[] = {0, 0, 1, 7, 333};
    return rows + CHECK_PICK(random, more);
}

static void draw_call(call *x, check_random *random, bool may_be_on_device)
{
    static const double alphas[] = {1, 1, -2, 0.5, 0}, betas[] = {0, 1, -2, NAN};
    *x = (call){.doubles = check_between(random, 0, 1),
                .row_major = check_between(random, 0, 1),
                .lower = check_between(random, 0, 1),
                .transpose_a = check_between(random, 0, 1),
                .second = (second)check_between(random, NO_B, INSIDE_A),
                .n = draw_size(random),
                .k = check_between(random, 0, 12) == 0 ? 0 : draw_size(random),
                .c_offset = (int)check_between(random, 0, 3),
                .alpha = CHECK_PICK(random, alphas),
                .beta = CHECK_PICK(random, betas),
                .memory_a = draw_memory(random, may_be_on_device),
                .memory_b = draw_memory(random, may_be_on_device),
                .memory_c = draw_memory(random, may_be_on_device)};
    if (has_host && isnan(x->beta))
        x->beta = 1;
    if (check_between(random, 0, 4) == 0) /* longer than a slot's column */
        x->k = (int)check_between(random, 1000, 9000), x->n = (int)check_between(random, 1, 9);
    x->transpose_b = x->second == NO_B ? !x->transpose_a : check_between(random, 0, 1);
    if (x->second == A_ITSELF && check_between(random, 0, 3))
        x->transpose_b = !x->transpose_a;
    const bool k_first_a = x->transpose_a != x->row_major, k_first_b = x->transpose_b == x->row_major;
    x->lda = draw_ld(random, k_first_a ? x->k : x->n) + (x->k == 0);
    x->ldb = x->second == NO_B ? x->lda : draw_ld(random, k_first_b ? x->k : x->n) + (x->k == 0);
    if (x->second == A_ITSELF && x->ldb <= x->lda && check_between(random, 0, 2))
        x->ldb = x->lda;
    x->ldc = draw_ld(random, x->n);
    x->b_offset = x->second == INSIDE_A ? (int)check_between(random, 0, 40) : 0;
    place_call(x, random);
}

/* Another thread of the program's, or of what it has on the device, which owns all elements beside the triangle. */
static void *write_other_triangle(void *argument)
{
    call *x = argument;
    const size_t bytes = x->elements_c * element_bytes(x);
    void *c = x->memory_c == TB_MEMORY_HOST ? x->c : sim_reach(x->c, bytes, SIM_NO_DEVICE, "C");
    long round = 0;
    do {
        for (int j = 0; j < x->n; j++)
            for (int i = 0; i < x->n; i++) {
                if (is_in_triangle(x, i, j))
                    continue;
                const size_t place = place_in_c(x, i, j);
                const double last = round == 0 ? x->before[place] : (double)(round % 1000);
                if (get(x, c, place) != last)
                    atomic_fetch_add(&x->lost, 1);
                set(x, c, place, (double)((round + 1) % 1000));
            }
        round++;
    } while (!atomic_load(&x->stop));
    x->rounds = round;
    return NULL;
}

/* The link reads what lies beside the triangle in memory other than ordinary one, too, which does no harm; sanitizers do not
 * know that. */
static bool may_be_written(const call *x)
{
    return x->memory_c == TB_MEMORY_HOST || !gentle;
}

static void run_call(call *x, const char *when, bool writes)
{
    pthread_t writer;
    put(x, x->c, x->before, x->elements_c);
    atomic_store(&x->stop, 0);
    atomic_store(&x->lost, 0);
    x->rounds = 0;
    writes = writes && may_be_written(x);
    if (writes)
        pthread_create(&writer, NULL, write_other_triangle, x);
    multiply(x);
    atomic_store(&x->stop, 1);
    if (writes)
        pthread_join(writer, NULL);
    /* Without a device nobody reaches what lies there. */
    if (x->memory_a != TB_MEMORY_DEVICE && x->memory_b != TB_MEMORY_DEVICE && x->memory_c != TB_MEMORY_DEVICE)
        check_call(x, when);
    else if (!loses_device)
        check_call(x, when);
}

/* ---- Sessions --------------------------------------------------------------------------------------------- */

typedef struct worker {
    pthread_t thread;
    check_random random;
    bool may_be_on_device;
    bool may_fork;
} worker;

static void call_in_child(void *argument)
{
    call *x = argument;
    if (x->memory_a == TB_MEMORY_HOST && x->memory_b == TB_MEMORY_HOST && x->memory_c == TB_MEMORY_HOST)
        run_call(x, "in a child", false);
}

static void *work(void *argument)
{
    worker *worker = argument;
    for (int i = 0; i < SESSION_CALLS; i++) {
        call x;
        draw_call(&x, &worker->random, worker->may_be_on_device);
        run_call(&x, "first", true);
        run_call(&x, "again", check_between(&worker->random, 0, 1));
        change_a(&x, &worker->random);
        run_call(&x, "after a change", check_between(&worker->random, 0, 1));
        x.lower = !x.lower;
        run_call(&x, "the other triangle", check_between(&worker->random, 0, 1));
        x.apart = true;
        run_call(&x, "the same as two operands", check_between(&worker->random, 0, 1));
        if (worker->may_fork && check_between(&worker->random, 0, 9) == 0) {
            const child_end end = child_run(call_in_child, &x, CHILD_SECONDS);
            CHECK(end == CHILD_RIGHT, "a child was %s", child_end_text(end));
        }
        free_call(&x);
    }
    return NULL;
}

/* What lies on a device has no other way than that: there a single failure is borne, and no loss. A wait can only report one. */
static void draw_script(check_random *random, char *script, size_t size)
{
    static const char *const losses[] = {"any:%d=lost", "copy:%d=fault", "launch:%d=fault", "wait:%d=lost"};
    static const char *const others[] = {"copy:%d=memory", "copy:%d=memory",     "launch:%d=memory",
                                         "launch:%d=half", "allocate:%d=memory", "pinned:%d=memory"};
    script[0] = '\0';
    for (int64_t i = check_between(random, 0, loses_device ? 4 : 1); i > 0; i--) {
        const char *format = loses_device && check_between(random, 0, 1) ? CHECK_PICK(random, losses)
                                                                         : CHECK_PICK(random, others);
        const size_t length = strlen(script);
        char failure[NAME_MOST];
        snprintf(failure, sizeof failure, format, (int)check_between(random, 1, 200));
        snprintf(script + length, size - length, "%s%s", length ? "," : "", failure);
    }
}

static void run_session(void *argument)
{
    check_random random = {.state = *(const uint64_t *)argument};
    static const char *const routes[] = {"streamed", "streamed", "streamed", "auto", "resident", "host"};
    static const char *const device_memory[] = {"0", "0", "1", "2", "4", "8"};
    static const char *const pinned_memory[] = {"1", "1", "2", "8", "0"};
    static const char *const delays[] = {"0", "0", "60", "300"};
    char script[256];
    loses_device = check_between(&random, 0, 2) == 0;
    has_host = check_between(&random, 0, 1) &&
               !gentle; /* sanitizers do not see how its threads wait for each other */
    if (!has_host)
        setenv("TILEBLAS_HOST_BLAS", "/nonexistent", 1);
    draw_script(&random, script, sizeof script);
    sim_set("DELAY", CHECK_PICK(&random, delays));
    sim_set("FAIL", script);
    if (check_between(&random, 0, 5) == 0)
        sim_set("DEVICES", "3");
    const char *route = CHECK_PICK(&random, routes), *memory = CHECK_PICK(&random, device_memory),
               *pinned = CHECK_PICK(&random, pinned_memory);
    tileblas_set_option("ROUTE", route);
    tileblas_set_option("START", "wait");
    tileblas_set_option("CALIBRATE", "0");
    tileblas_set_option("DEVICE_MEMORY", memory);
    tileblas_set_option("PINNED_MEMORY", pinned);
    if (check_between(&random, 0, 2) == 0)
        tileblas_set_option("COPY_THREADS", "4");

    worker workers[THREADS_MOST];
    const int threads = (int)check_between(&random, 1, THREADS_MOST);
    for (int i = 0; i < threads; i++) {
        workers[i].random.state = check_next(&random);
        workers[i].may_be_on_device = !loses_device;
        /* A fork ends OpenBLAS's threads, also those that another thread's call is about to wait for. */
        workers[i].may_fork = !gentle && (threads == 1 || !has_host);
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (int i = 0; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    if (atomic_load(&check_failures) > 0)
        fprintf(stderr, "session %llu: route %s, device memory %s, pinned %s, %d threads, FAIL=%s\n",
                (unsigned long long)*(const uint64_t *)argument, route, memory, pinned, threads, script);
}

/* What a device has written before it fails, or what the host has computed in its place, is put into C, and nothing else. */
static void run_restoring(void *unused)
{
    static const struct {
        const char *route, *script;
        tb_memory memory_a, memory_c;
    } cases[] = {
        {"resident", "launch:1=half", TB_MEMORY_MANAGED, TB_MEMORY_MANAGED},
        {"resident", "launch:1=half,launch:2=half", TB_MEMORY_MANAGED, TB_MEMORY_MANAGED},
        {"streamed", "launch:1=unsupported", TB_MEMORY_HOST, TB_MEMORY_DEVICE},
    };
    check_random random = {.state = 1};
    (void)unused;
    setenv("TILEBLAS_HOST_BLAS", "/nonexistent", 1);
    tileblas_set_option("START", "wait");
    tileblas_set_option("CALIBRATE", "0");
    sim_set("DELAY", "300");
    for (int i = 0; i < 3 * RESTORED_CALLS; i++) {
        call x = {.lower = i & 1,
                  .transpose_b = true,
                  .n = 40,
                  .k = 30,
                  .lda = 40,
                  .ldb = 40,
                  .ldc = 41,
                  .alpha = 1,
                  .beta = -2,
                  .memory_a = cases[i % 3].memory_a,
                  .memory_c = cases[i % 3].memory_c};
        place_call(&x, &random);
        tileblas_set_option("ROUTE", cases[i % 3].route);
        sim_set("FAIL", cases[i % 3].script);
        run_call(&x, cases[i % 3].script, true);
        CHECK(sim_failures("launch") == 1 + (i % 3 == 1), "%s: %ld failures", cases[i % 3].script,
              sim_failures("launch"));
        free_call(&x);
    }
}

int main(int count, char **arguments)
{
    uint64_t seed =
        count > 2 && strcmp(arguments[2], "session") == 0 ? strtoull(arguments[1], NULL, 10) : check_seed();
    gentle = count > 2 && strcmp(arguments[2], "gentle") == 0;
    if (count > 2 && !gentle) {
        run_session(&seed);
        return check_result();
    }
    if (!gentle) {
        const child_end ended = child_run(run_restoring, NULL, LIMIT_SECONDS);
        CHECK(ended == CHILD_RIGHT, "what is put into C is %s", child_end_text(ended));
    }
    const double end = tb_seconds() + (count > 1 ? atof(arguments[1]) : 5);
    check_random random = {.state = seed};
    while (tb_seconds() < end && atomic_load(&check_failures) < 5) {
        uint64_t session = check_next(&random);
        const child_end ended = child_run(run_session, &session, LIMIT_SECONDS);
        CHECK(ended == CHILD_RIGHT, "session %llu was %s", (unsigned long long)session,
              child_end_text(ended));
    }
    return check_result();
}
