/* What two sides of an exchange tell each other (exchange.h): posts that are taken to the last one, whoever has closed, and each
 * believed by its own event; and that copies of posted columns leave alone what lies between.
 */
#include "include/tileblas.h"
#include "lib/streaming/exchange.h"
#include "lib/streaming/stream_pump.h"
#include "lib/device/platform.h"
#include "tests/sim/children.h"
#include "tests/sim/known_product.h"

enum { PATIENCE_SECONDS = 60 };

/* Both devices are opened, by a product that they share. */
static void start(void)
{
    sim_set("DEVICES", "2");
    tileblas_set_option("DEVICES", "2");
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
    CHECK(known_multiply_once(40, 40, 40, 0, 2, TB_MEMORY_HOST) == 0, "wrong");
}

/* Sides of an exchange without products. */
typedef struct sides {
    tb_exchange exchange;
    tb_post behind;
    tb_side posting, taking;
} sides;

static void open_sides(sides *sides)
{
    *sides = (struct sides){.posting = {.exchange = &sides->exchange, .number = 1},
                            .taking = {.exchange = &sides->exchange, .number = 0}};
    tb_open_side(&sides->posting);
    tb_open_side(&sides->taking);
}

/* A product of more transfers brings the others by itself. */
static void posts_end_where_there_is_no_more_room(void *unused)
{
    (void)unused;
    static sides sides;
    int64_t taken = 0;
    open_sides(&sides);
    for (int64_t i = 0; i < TB_POSTS_MAXIMUM + 2 && tb_is_exchanging(&sides.posting); i++)
        tb_post_columns(&sides.posting, &(tb_post){.columns = i + 1});
    if (!CHECK(!tb_is_exchanging(&sides.posting) && sides.behind.columns == 0, "there is always room"))
        return;
    for (const tb_post *post; (post = tb_take_post(&sides.taking)) && post->columns == taken + 1;)
        taken++;
    CHECK(taken == TB_POSTS_MAXIMUM && !tb_take_post(&sides.taking), "%lld posts", (long long)taken);
}

/* A side that has no memory tries again when the other one may have ended, and its pipeline with it. */
static void who_tries_again_looks_at_no_events_of_before(void *unused)
{
    (void)unused;
    static sides sides;
    tb_event *event;
    start();
    open_sides(&sides);
    CHECK(tb_create_event(0, &event) == TB_OK, "no event");
    tb_post_columns(&sides.posting, &(tb_post){.columns = 1, .arrived = event});
    CHECK(tb_take_post(&sides.taking), "nothing to take");
    tb_close_side(&sides.taking);
    tb_close_side(&sides.posting);
    tb_destroy_event(event);
    CHECK(tb_check_posts(&sides.taking, sides.taking.taken) == TB_OK, "it has failed");
}

/* A side that has posted all may be done, and closed, before the other one takes anything. */
static void all_posts_of_who_has_closed_are_taken(void *unused)
{
    (void)unused;
    enum { POSTS = 3 };
    for (int before = 0; before <= POSTS; before++) {
        sides sides;
        int64_t taken = 0;
        open_sides(&sides);
        for (int64_t i = 0; i < POSTS; i++) {
            tb_post_columns(&sides.posting, &(tb_post){.columns = i + 1});
            if (i < before)
                taken += tb_take_post(&sides.taking)->columns == i + 1;
        }
        tb_close_side(&sides.posting);
        for (const tb_post *post; (post = tb_take_post(&sides.taking)) && post->columns == taken + 1;)
            taken++;
        CHECK(taken == POSTS, "%lld posts of %d, of which %d were taken before", (long long)taken, POSTS,
              before);
    }
}

static tb_event *recorded_event(int device)
{
    tb_stream *stream;
    tb_event *event = NULL;
    CHECK(tb_create_stream(device, &stream) == TB_OK && tb_create_event(device, &event) == TB_OK &&
              tb_record(event, stream) == TB_OK,
          "no event");
    return event;
}

/* What came by a post is right if its own event says so, be it the last one; and each of those before is asked for in its
 * turn. */
static void each_post_is_checked(void *unused)
{
    (void)unused;
    enum { POSTS = 3 };
    start();
    tb_event *arrived = recorded_event(0), *failed = recorded_event(1);
    sim_set("FAIL", "wait:1=lost");
    CHECK(tb_event_wait(failed) == TB_DEVICE_LOST, "it has not failed");
    for (int bad = 0; bad < POSTS; bad++) {
        sides sides;
        open_sides(&sides);
        for (int i = 0; i < POSTS; i++) {
            tb_post_columns(&sides.posting, &(tb_post){.columns = 1, .arrived = i == bad ? failed : arrived});
            tb_take_post(&sides.taking);
        }
        for (int count = 0; count <= bad; count++)
            CHECK(tb_check_posts(&sides.taking, count) == TB_OK, "post %d has failed, not %d", bad,
                  count - 1);
        CHECK(tb_check_posts(&sides.taking, bad + 1) == TB_DEVICE_LOST, "post %d of %d is believed", bad,
              POSTS);
    }
}

/* A post that had arrived when columns before were handed over may be copied to this device later, when the other one is lost. */
static void posts_are_checked_again(void *unused)
{
    (void)unused;
    sides sides;
    start();
    tb_event *arrived = recorded_event(1);
    open_sides(&sides);
    tb_post_columns(&sides.posting, &(tb_post){.columns = 1, .arrived = arrived});
    tb_take_post(&sides.taking);
    CHECK(tb_check_posts(&sides.taking, 1) == TB_OK, "it has failed");
    sim_set("FAIL", "wait:1=lost");
    CHECK(tb_event_wait(arrived) == TB_DEVICE_LOST, "the device is not lost");
    CHECK(tb_check_posts(&sides.taking, 1) == TB_DEVICE_LOST, "what may have come later is believed");
}

/* Two columns of a number each, and what lies behind them on either device. */
enum { COLUMN_BYTES = sizeof(double), PITCH = 2 * COLUMN_BYTES, ROOM_BYTES = 4 * PITCH };

static void take_columns(bool posted_in_one, bool taken_in_one, size_t pitch)
{
    enum { SENT = 7, BEFORE = -1 };
    double there[ROOM_BYTES / COLUMN_BYTES], here[ROOM_BYTES / COLUMN_BYTES], program[2];
    const size_t next = pitch / COLUMN_BYTES, last = PITCH / COLUMN_BYTES;
    void *devices[2];
    tb_stream *sending;
    sides sides;
    open_sides(&sides);
    tb_pipeline pipeline = {.device = 0};
    tb_post post = {
        .from = program, .columns = 2, .column_bytes = COLUMN_BYTES, .pitch = pitch, .in_one = posted_in_one};
    for (size_t i = 0; i < ROOM_BYTES / COLUMN_BYTES; i++) {
        there[i] = (double)(SENT + i);
        here[i] = BEFORE;
    }
    CHECK(tb_create_stream(0, &pipeline.compute) == TB_OK && tb_create_stream(1, &sending) == TB_OK &&
              tb_create_event(1, &post.arrived) == TB_OK && tb_record(post.arrived, sending) == TB_OK,
          "no streams");
    CHECK(tb_allocate(0, ROOM_BYTES, &devices[0]) == TB_OK &&
              tb_allocate(1, ROOM_BYTES, &devices[1]) == TB_OK,
          "no memory");
    sim_copy(devices[0], here, ROOM_BYTES);
    sim_copy(devices[1], there, ROOM_BYTES);
    post.there = devices[1];
    tb_post_columns(&sides.posting, &post);
    tb_stream_run run = {.pipeline = &pipeline, .side = &sides.taking};
    run.halves.missing = (tb_matrix){.data = program, .rows = 1, .columns = 2, .ld = 1, .element = TB_FP64};
    run.halves.others = (tb_transfer){
        .from = &run.halves.missing, .target = devices[0], .target_pitch = PITCH, .in_one = taken_in_one};
    CHECK(tb_take_half(&run) == TB_OK && tb_synchronize(pipeline.across) == TB_OK, "not taken");
    sim_copy(here, devices[0], ROOM_BYTES);
    const bool may_fill = posted_in_one && taken_in_one && pitch == PITCH;
    CHECK(here[0] == there[0] && here[last] == there[next] && here[last + 1] == BEFORE &&
              (may_fill || here[1] == BEFORE),
          "posted in one %d, taken in one %d, %zu bytes apart: %g %g %g %g", posted_in_one, taken_in_one,
          pitch, here[0], here[1], here[2], here[3]);
}

/* Columns of a place that two devices have cut in other ways may lie otherwise there. */
static void what_lies_between_columns_is_left_alone(void *unused)
{
    (void)unused;
    start();
    CHECK(tb_enable_access(0, 1) == TB_OK, "no access");
    for (int how = 0; how < 8; how++)
        take_columns(how & 1, how & 2, how & 4 ? PITCH : PITCH + COLUMN_BYTES);
}

typedef struct part {
    void (*run)(void *);
    const char *name;
} part;

int main(void)
{
    static const part parts[] = {
        {posts_end_where_there_is_no_more_room, "posts end where there is no more room"},
        {who_tries_again_looks_at_no_events_of_before, "who tries again looks at no events of before"},
        {all_posts_of_who_has_closed_are_taken, "all posts of who has closed are taken"},
        {each_post_is_checked, "each post is checked"},
        {posts_are_checked_again, "posts are checked again"},
        {what_lies_between_columns_is_left_alone, "what lies between columns is left alone"},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const child_end end = child_run(parts[i].run, NULL, PATIENCE_SECONDS);
        CHECK(end == CHILD_RIGHT, "%s: %s", parts[i].name, child_end_text(end));
    }
    return check_result();
}
