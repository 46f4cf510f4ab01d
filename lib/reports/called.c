#include "lib/reports/called.h"

#include "dispatch/mix.h"
#include "lib/process/callers_state.h"
#include "lib/user/append.h"
#include "lib/reports/bindings.h"
#include "lib/reports/json.h"
#include "lib/user/log.h"
#include "lib/user/options.h"
#include "lib/process/sums.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- The table ----------------------------------------------------------------------------------------- */

/* A kind is claimed, filled, and then never changes; its sums do. */
enum { FREE, CLAIMED, FILLED };
typedef struct kind {
    atomic_int state;
    tb_called called; /* without sums */
    atomic_ullong host_calls, device_calls;
    _Atomic(double) host_seconds, device_seconds, host_forecast;
} kind;

static kind kinds[TB_CALLED_PLACES];
static atomic_uint used;
static atomic_ullong left_out;
static atomic_int cores_seen; /* of the host, at the last call */

/* How new kinds are kept: with so many significant bits of their extents, until so many are used. */
static const struct {
    int bits;
    unsigned limit;
} levels[] = {{62, TB_CALLED_PLACES / 2}, {4, TB_CALLED_PLACES * 5 / 8}, {1, TB_CALLED_PLACES * 3 / 4}};
enum { LEVELS = sizeof levels / sizeof *levels };

static int64_t round_extent(int64_t extent, int bits)
{
    int64_t unit = 1;
    while (extent / unit >= (INT64_C(1) << bits))
        unit *= 2;
    const int64_t rest = extent % unit, whole = extent - rest;
    return rest < unit - rest || whole > INT64_MAX - unit ? whole : whole + unit;
}

static bool is_same_kind(const tb_called *x, const tb_called *y)
{
    return x->routine == y->routine && memcmp(x->extents.of, y->extents.of, sizeof x->extents.of) == 0 &&
           x->beta_is_zero == y->beta_is_zero && strcmp(x->letters, y->letters) == 0 &&
           strcmp(x->places, y->places) == 0 && strcmp(x->spelling, y->spelling) == 0;
}

static size_t first_place(const tb_called *called)
{
    uint64_t hash = called->routine;
    for (int i = 0; i < called->extents.count; i++)
        hash = tb_mix(hash, (uint64_t)called->extents.of[i]);
    for (const char *c = called->letters; *c; c++)
        hash = tb_mix(hash, (unsigned char)*c);
    for (const char *c = called->places; *c; c++)
        hash = tb_mix(hash, (unsigned char)*c);
    return hash >> 49;
}

/* The kind's, or a new one's while there are fewer than the limit; NULL. Threads that are the first at the same time
 * may have two for one, which readers add up. */
static kind *find_kind(const tb_called *called, unsigned limit)
{
    for (size_t i = 0, place = first_place(called); i < TB_CALLED_PLACES;
         i++, place = (place + 1) % TB_CALLED_PLACES) {
        int state = atomic_load_explicit(&kinds[place].state, memory_order_acquire);
        if (state == FILLED && is_same_kind(&kinds[place].called, called))
            return &kinds[place];
        if (state != FREE)
            continue;
        if (TB_LOAD(&used) >= limit)
            return NULL;
        if (!atomic_compare_exchange_strong(&kinds[place].state, &state, CLAIMED))
            continue;
        TB_ADD(&used, 1);
        kinds[place].called = *called;
        atomic_store_explicit(&kinds[place].state, FILLED, memory_order_release);
        return &kinds[place];
    }
    return NULL;
}

void tb_add_called(const tb_called *called)
{
    kind *kind = NULL;
    for (int level = 0; level < LEVELS && !kind; level++) {
        tb_called rounded = *called;
        for (int i = 0; i < called->extents.count; i++)
            rounded.extents.of[i] = round_extent(called->extents.of[i], levels[level].bits);
        kind = find_kind(&rounded, levels[level].limit);
    }
    if (!kind) {
        TB_ADD(&left_out, called->host_calls + called->device_calls);
        return;
    }
    TB_ADD(&kind->host_calls, called->host_calls);
    TB_ADD(&kind->device_calls, called->device_calls);
    tb_add_to_sum(&kind->host_seconds, called->host_seconds);
    tb_add_to_sum(&kind->device_seconds, called->device_seconds);
    tb_add_to_sum(&kind->host_forecast, called->host_forecast);
}

bool tb_read_called(size_t place, tb_called *called)
{
    const kind *kind = &kinds[place];
    if (atomic_load_explicit(&kind->state, memory_order_acquire) != FILLED)
        return false;
    *called = kind->called;
    called->host_calls = TB_LOAD(&kind->host_calls);
    called->device_calls = TB_LOAD(&kind->device_calls);
    called->host_seconds = TB_LOAD(&kind->host_seconds);
    called->device_seconds = TB_LOAD(&kind->device_seconds);
    called->host_forecast = TB_LOAD(&kind->host_forecast);
    return called->host_calls + called->device_calls > 0;
}

unsigned long long tb_called_left_out(void)
{
    return TB_LOAD(&left_out);
}

void tb_forget_called(void)
{
    for (size_t i = 0; i < TB_CALLED_PLACES && TB_LOAD(&used) > 0; i++)
        if (TB_LOAD(&kinds[i].state) != FREE)
            memset(&kinds[i], 0, sizeof kinds[i]);
    TB_STORE(&used, 0);
    TB_STORE(&left_out, 0);
}

/* A child's calls are its own. Kinds stay, without sums. */
static void start_anew_in_child(void)
{
    for (size_t i = 0; i < TB_CALLED_PLACES && TB_LOAD(&used) > 0; i++) {
        TB_STORE(&kinds[i].host_calls, 0);
        TB_STORE(&kinds[i].device_calls, 0);
        TB_STORE(&kinds[i].host_seconds, 0);
        TB_STORE(&kinds[i].device_seconds, 0);
        TB_STORE(&kinds[i].host_forecast, 0);
    }
    TB_STORE(&left_out, 0);
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, start_anew_in_child);
}

/* ---- Noting -------------------------------------------------------------------------------------------- */

void tb_note_called(tb_task task, const tb_facts *facts, const tb_plan *plan, const char *spelling,
                    double seconds)
{
    static const char memories[] = {
        [TB_MEMORY_HOST] = 'h',
        [TB_MEMORY_PINNED] = 'p',
        [TB_MEMORY_MANAGED] = 'm',
        [TB_MEMORY_DEVICE] = 'd',
    };
    const bool is_hosts = plan->route == TB_ROUTE_HOST;
    tb_called called = {.routine = tb_task_routine(task),
                        .extents = tb_task_extents(task),
                        .beta_is_zero = tb_is_product(task) && tb_is_zero(task.product->beta)};
    snprintf(called.spelling, sizeof called.spelling, "%s", spelling ? spelling : "");
    TB_STORE(&cores_seen, facts->machine.host_cores);
    tb_print_letters(task, called.letters);
    for (int i = 0; i < tb_task_matrices(task); i++)
        called.places[i] = memories[facts->places[i].memory];
    *(is_hosts ? &called.host_calls : &called.device_calls) = 1;
    *(is_hosts ? &called.host_seconds : &called.device_seconds) = seconds;
    called.host_forecast = is_hosts ? 0 : plan->host_seconds;
    tb_add_called(&called);
}

/* ---- Writing ------------------------------------------------------------------------------------------- */

static void write_line(tb_json *json, FILE *file)
{
    tb_json_close(json, '}');
    if (!json->failed)
        fprintf(file, "%s\n", json->text);
    free(json->text);
}

static void write_kind(const tb_called *called, FILE *file)
{
    tb_json json = {0};
    tb_json_open(&json, NULL, '{');
    tb_json_text(&json, "routine", tb_routine_rows[called->routine].name);
    tb_json_text(&json, "spelling", called->spelling);
    tb_json_text(&json, "letters", called->letters);
    tb_json_text(&json, "places", called->places);
    tb_json_boolean(&json, "beta_is_zero", called->beta_is_zero);
    for (int i = 0; i < called->extents.count; i++)
        tb_json_integer(&json, (const char[]){called->extents.names[i], '\0'}, called->extents.of[i]);
    tb_json_integer(&json, "host_calls", (long long)called->host_calls);
    tb_json_integer(&json, "device_calls", (long long)called->device_calls);
    tb_json_number(&json, "host_seconds", called->host_seconds);
    tb_json_number(&json, "device_seconds", called->device_seconds);
    tb_json_number(&json, "host_forecast", called->host_forecast);
    write_line(&json, file);
}

/* A whole number of lines at a time: those of several processes do not mix. */
bool tb_write_called(int descriptor, const char *program, int cores, unsigned long long left_out_elsewhere)
{
    char *text = NULL;
    size_t size = 0;
    tb_called called;
    FILE *file = open_memstream(&text, &size);
    bool is_written = false;
    if (!file)
        return false;
    tb_json json = {0};
    tb_json_open(&json, NULL, '{');
    tb_json_text(&json, "tileblas", TB_VERSION);
    tb_json_text(&json, "program", program);
    tb_json_integer(&json, "cores", cores);
    tb_json_integer(&json, "left_out", (long long)(tb_called_left_out() + left_out_elsewhere));
    write_line(&json, file);
    for (size_t place = 0; place < TB_CALLED_PLACES; place++)
        if (tb_read_called(place, &called))
            write_kind(&called, file);
    if (fclose(file) == 0)
        is_written = tb_write_whole(descriptor, text, size);
    free(text);
    return is_written;
}

static bool write_own(int file)
{
    char program[PATH_MAX];
    tb_program_path(program, sizeof program);
    return tb_write_called(file, program, atomic_load(&cores_seen), 0);
}

static void write_record(void)
{
    const char *path = tb_option_text(TB_OPTION_RECORD);
    const bool has_any = atomic_load(&used) > 0 || tb_called_left_out() > 0;
    if (*path && has_any && !tb_append(path, write_own))
        tb_log("TILEBLAS_RECORD: %s cannot be written", path);
}

__attribute__((destructor)) static void end(void)
{
    tb_callers_state state;
    tb_set_state_aside(&state);
    write_record();
    tb_put_state_back(&state);
}
