/* Turns at a device: so many medium products side by side, large ones one at a time, who comes first is served first, and nothing
 * stays taken.
 */
#include "include/tileblas.h"
#include "lib/process/clock.h"
#include "lib/machine/machine.h"
#include "lib/streaming/pipeline.h"
#include "tests/check.h"
#include "tests/sim/device_sim.h"

#include <pthread.h>
#include <unistd.h>

enum { N = 64, SIDE_BY_SIDE = 4, PATIENCE_SECONDS = 60 };

void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                 int);

static int device;

/* The first of two devices cannot be had: opening the driver is the first such operation, describing both the next two. */
static void start(void)
{
    static float a[N * N], b[N * N], c[N * N];
    sim_set("DEVICES", "2");
    sim_set("FAIL", "open:4=unsupported");
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
    cblas_sgemm(102, 111, 111, N, N, N, 1, a, N, b, N, 0, c, N);
    CHECK(sim_operations("launch") > 0, "the device was not used");
    const tb_chip *first = &tb_machine_facts().chips[0];
    device = first->device;
    CHECK(first->open && device == 1, "the machine's first device is %d%s", device,
          first->open ? "" : ", not open");
}

static tb_turn taken(bool medium, double seconds)
{
    tb_turn turn = {.device = device, .medium = medium, .seconds = seconds};
    CHECK(tb_take_turn(&turn) == TB_OK, "no turn");
    return turn;
}

/* ---- Who waits -------------------------------------------------------------------------------------------- */

static atomic_int served;

typedef struct waiting {
    tb_turn turn;
    int number; /* among those who wait, when they were served */
    pthread_t thread;
} waiting;

static void *take(void *argument)
{
    waiting *waiting = argument;
    CHECK(tb_take_turn(&waiting->turn) == TB_OK, "no turn after waiting");
    waiting->number = atomic_fetch_add(&served, 1);
    return NULL;
}

/* Returns when the thread is in the queue. */
static void begin_waiting(waiting *waiting, bool medium)
{
    const double before = tb_pipeline_backlog(device), end = tb_seconds() + PATIENCE_SECONDS;
    waiting->turn = (tb_turn){.device = device, .medium = medium, .seconds = 1};
    pthread_create(&waiting->thread, NULL, take, waiting);
    while (tb_pipeline_backlog(device) < before + 1 && tb_seconds() < end)
        usleep(1000);
}

/* ---- What is true of them --------------------------------------------------------------------------------- */

static void medium_products_are_served_side_by_side(void)
{
    tb_turn turns[SIDE_BY_SIDE];
    waiting fifth;
    for (int i = 0; i < SIDE_BY_SIDE; i++) {
        turns[i] = taken(true, 1);
        CHECK(turns[i].channel == i, "channel %d instead of %d", turns[i].channel, i);
        for (int j = 0; j < i; j++)
            CHECK(turns[i].pipeline != turns[j].pipeline, "%d and %d have one pipeline", i, j);
    }
    atomic_store(&served, 0);
    begin_waiting(&fifth, true);
    usleep(10000);
    CHECK(atomic_load(&served) == 0, "a fifth is served beside four");
    tb_pipeline *freed = turns[2].pipeline;
    tb_end_turn(&turns[2]);
    pthread_join(fifth.thread, NULL);
    CHECK(fifth.turn.pipeline == freed, "not in the place that became free");
    turns[2] = fifth.turn;
    for (int i = 0; i < SIDE_BY_SIDE; i++)
        tb_end_turn(&turns[i]);
}

/* A large one in front holds up mediums behind it, though there are channels for them: it would wait for ever otherwise. */
static void who_comes_first_is_served_first(void)
{
    waiting large, medium;
    tb_turn first = taken(true, 1), second = taken(true, 1);
    atomic_store(&served, 0);
    begin_waiting(&large, false);
    begin_waiting(&medium, true);
    tb_end_turn(&second);
    usleep(10000);
    CHECK(atomic_load(&served) == 0, "served before the first channel was free");
    tb_end_turn(&first);
    pthread_join(large.thread, NULL);
    pthread_join(medium.thread, NULL);
    CHECK(large.turn.channel == 0 && medium.turn.channel == 1, "channels %d and %d", large.turn.channel,
          medium.turn.channel);
    tb_end_turn(&large.turn);
    tb_end_turn(&medium.turn);
}

/* Each of the three streams in turn; a channel that had a pipeline would not make one. */
static void a_turn_that_fails_takes_nothing(void)
{
    tb_turn first = taken(true, 1);
    for (int stream = 1; stream <= 3; stream++) {
        char script[32];
        tb_turn failing = {.device = device, .medium = true, .seconds = 1};
        const sim_usage before = sim_get_usage();
        snprintf(script, sizeof script, "stream:%d=memory", stream);
        sim_set("FAIL", script);
        CHECK(tb_take_turn(&failing) == TB_OUT_OF_MEMORY, "stream %d was not made", stream);
        CHECK(tb_pipeline_backlog(device) == 1, "it is still in the queue");
        CHECK(sim_get_usage().streams == before.streams, "streams are left over");
    }
    sim_set("FAIL", "");
    tb_turn second = taken(true, 1);
    CHECK(second.channel == 1, "channel %d", second.channel);
    tb_end_turn(&second);
    tb_end_turn(&first);
}

/* Sums of seconds are rounded; nothing is left of them all the same. */
static void a_device_that_nobody_uses_has_no_backlog(void)
{
    tb_turn first = taken(true, 0.1), second = taken(true, 0.2);
    CHECK(tb_devices_at_work() == 1, "%d devices at work", tb_devices_at_work());
    tb_end_turn(&first);
    tb_end_turn(&second);
    CHECK(tb_pipeline_backlog(device) == 0, "%g seconds", tb_pipeline_backlog(device));
    CHECK(tb_devices_at_work() == 0, "%d devices at work", tb_devices_at_work());
}

/* A caller may jump out of its call just before its turn begins, and just after it has ended. */
static void who_leaves_without_a_turn_takes_nobodys(void)
{
    tb_turn early = {.device = device, .medium = true, .seconds = 1}, late = taken(true, 1);
    tb_end_turn(&late);
    tb_turn present = taken(true, 1);
    tb_leave_turn(&early);
    tb_leave_turn(&late);
    CHECK(tb_pipeline_backlog(device) == 1, "%g seconds instead of 1", tb_pipeline_backlog(device));
    tb_turn next = taken(true, 1);
    CHECK(next.channel == 1 && next.pipeline != present.pipeline, "channel %d is taken twice", next.channel);
    tb_end_turn(&present);
    tb_turn again = taken(true, 1);
    CHECK(again.pipeline == present.pipeline, "its pipeline was thrown away");
    tb_end_turn(&again);
    tb_end_turn(&next);
}

static void who_leaves_its_turn_leaves_no_pipeline(void)
{
    const sim_usage before = sim_get_usage();
    tb_turn left = taken(true, 1);
    tb_leave_turn(&left);
    CHECK(tb_pipeline_backlog(device) == 0, "it is still in the queue");
    CHECK(sim_get_usage().streams == before.streams - 3, "its streams are left over");
    tb_turn next = taken(true, 1);
    CHECK(next.channel == 0, "its channel is still taken");
    CHECK(sim_get_usage().streams == before.streams, "the next turn has its pipeline");
    tb_end_turn(&next);
}

int main(void)
{
    start();
    a_turn_that_fails_takes_nothing();
    medium_products_are_served_side_by_side();
    who_comes_first_is_served_first();
    a_device_that_nobody_uses_has_no_backlog();
    who_leaves_without_a_turn_takes_nobodys();
    who_leaves_its_turn_leaves_no_pipeline();
    return check_result();
}
