#include "lib/machine/start.h"

#include "lib/device/device_entry.h"
#include "lib/device/memory.h"
#include "lib/device/served_use.h"
#include "lib/machine/calibrate.h"
#include "lib/machine/claim.h"
#include "lib/machine/local_rank.h"
#include "lib/machine/machine.h"
#include "lib/machine/meet_server.h"
#include "lib/machine/prepare.h"
#include "lib/machine/roam.h"
#include "lib/serving/greeting.h"
#include "lib/process/clock.h"
#include "lib/process/leaving.h"
#include "lib/process/linker.h"
#include "lib/process/lock.h"
#include "lib/process/threads.h"
#include "lib/user/log.h"
#include "lib/user/options.h"
#include "lib/device/platform.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static int device_count;
static tb_device_description *descriptions; /* by ordinal */

/* A new copy of the whole table whenever something is learned of a device: the latest is the one that has
 * been published. There are two changes a device, one more of the first, and one more where that could not be had. */
static tb_chip *tables;
static tb_known_devices *known; /* for each of them */
static int tables_published;

/* What whoever began asked for. */
static tb_before_ready *before_ready;

/* Held while a device is opened. */
static tb_lock opening;
static _Atomic(uint32_t) opening_more;

static tb_chip *latest_table(void)
{
    return tables + (size_t)(tables_published - 1) * (size_t)device_count;
}

/* A copy of the latest one, to be changed and published. */
static tb_chip *copy_table(void)
{
    const size_t count = (size_t)device_count;
    return memcpy(latest_table() + count, latest_table(), count * sizeof(tb_chip));
}

static void publish(const tb_chip *table)
{
    tb_known_devices *now = &known[tables_published++];
    *now = (tb_known_devices){.chips = table, .descriptions = descriptions, .count = device_count};
    tb_machine_publish(now);
}

/* ---- Opening devices -------------------------------------------------------------------------------------- */

/* Closed devices hang on links like that of the one that has been measured, as far as anybody knows. */
static void presume_links(tb_chip *table, const tb_chip *measured)
{
    for (int index = 0; index < device_count; index++)
        if (!table[index].open) {
            table[index].link_in = measured->link_in;
            table[index].link_out = measured->link_out;
        }
}

/* A device that has been opened, and those that have been before. */
static void find_reach(tb_chip *table, tb_chip *chip)
{
    for (tb_chip *other = table; other < table + device_count; other++)
        if (other != chip && other->open) {
            chip->reached |= (uint64_t)tb_reaches(chip->device, other->device) << other->device;
            other->reached |= (uint64_t)tb_reaches(other->device, chip->device) << chip->device;
        }
}

/* Opens the device at a place of the table. What it can do is presumed, until it is measured. */
static void open_unopened(int index)
{
    tb_chip *table = copy_table(), *chip = &table[index];
    tb_status status = tb_device_at(chip->device)->open_device(chip->device);
    chip->open = status == TB_OK;
    chip->failed = !chip->open;
    if (chip->open) {
        chip->clusters = tb_device_at(chip->device)->clusters(chip->device);
        find_reach(table, chip);
    }
    if (tb_option_value(TB_OPTION_VERBOSE))
        tb_log("device %d is %s, %d multiprocessors: %s", chip->device, descriptions[chip->device].name,
               chip->multiprocessors, tb_status_text(status));
    publish(table);
}

/* The device is open. Under the lock. */
static void measure_opened(int index)
{
    if (!tb_option_value(TB_OPTION_CALIBRATE))
        return;
    tb_chip *table = copy_table(), *chip = &table[index];
    tb_measure_chip(chip);
    presume_links(table, chip);
    publish(table);
}

/* False when it cannot be had. */
static bool open_chip(int index, bool measures)
{
    tb_take_lock(&opening);
    if (!latest_table()[index].open && !latest_table()[index].failed) {
        open_unopened(index);
        if (measures && latest_table()[index].open)
            measure_opened(index);
    }
    bool open = latest_table()[index].open;
    tb_free_lock(&opening);
    return open;
}

/* The first one of the table, which was not measured when it was opened. It is in use: once more, where products came between. */
static void measure_home(void)
{
    tb_take_lock(&opening);
    const int device = latest_table()[0].device;
    const uint32_t changes = tb_machine_uses(device);
    measure_opened(0);
    if (tb_machine_uses(device) != changes)
        measure_opened(0);
    tb_free_lock(&opening);
}

static int preferred = -1;

void tb_machine_prefer(int device)
{
    preferred = device;
}

/* The one that was asked for, a rank's own device, or one that no other process has. */
static int find_home(void)
{
    const int rank = tb_local_rank();
    if (preferred >= 0 && preferred < device_count)
        return preferred;
    return rank >= 0 ? rank % device_count : tb_claim_home(descriptions, device_count);
}

static tb_status describe_all(void)
{
    const size_t count = (size_t)device_count;
    descriptions = calloc(count, sizeof *descriptions);
    tables = calloc((2 * count + 3) * count, sizeof *tables);
    known = calloc(2 * count + 3, sizeof *known);
    if (!descriptions || !tables || !known)
        return TB_OUT_OF_MEMORY;
    for (int device = 0; device < device_count; device++)
        TB_TRY(tb_device_at(device)->describe(device, &descriptions[device]));
    const int home = find_home();
    for (int index = 0; index < device_count; index++) {
        int device = (home + index) % device_count;
        tables[index] = tb_presume_chip(device, &descriptions[device]);
    }
    tables_published = 1;
    return TB_OK;
}

/* The device at a place of the table changes places with the first, to which single products go. */
static void put_first(int index)
{
    tb_chip *table = copy_table();
    const tb_chip first = table[0];
    table[0] = table[index];
    table[index] = first;
    publish(table);
}

/* The first that can be had: one may be in use by a program that shares it with nobody. */
static tb_status open_any(bool measures)
{
    for (int index = 0; index < device_count; index++)
        if (open_chip(index, measures)) {
            if (index > 0)
                put_first(index);
            return TB_OK;
        }
    return TB_NO_DEVICE;
}

static tb_status bring_up(bool measures)
{
    int count = 0;
    TB_TRY(tb_platform.open(&count));
    tb_shut_device_at_exit(); /* before what the driver has registered so far */
    if (count <= 0)
        return TB_NO_DEVICE;
    device_count = count;
    TB_TRY(describe_all());
    TB_TRY(open_any(measures));
    if (before_ready)
        before_ready(descriptions[latest_table()[0].device].name);
    return TB_OK;
}

/* A caller that waits decides by what has been measured; others do not wait for that. */
static void start_device(bool measures)
{
    tb_status status = bring_up(measures);
    if (status != TB_OK && tb_option_value(TB_OPTION_VERBOSE))
        tb_log("no device: %s", tb_status_text(status));
    /* Again, so that it runs before the handlers that the driver has registered meanwhile. */
    tb_shut_device_at_exit();
    tb_machine_settle(status == TB_OK ? TB_READY : TB_ABSENT);
}

static void *start_beside_program(void *unused)
{
    tb_roaming roaming;
    tb_begin_bringing_up();
    tb_begin_roaming(&roaming);
    start_device(false);
    const tb_machine machine = tb_machine_facts();
    if (machine.chip_count > 0) {
        measure_home();
        tb_prepare_device(&machine, &machine.chips[0]);
    }
    tb_end_roaming(&roaming);
    tb_end_bringing_up();
    return unused;
}

/* Not those of other processes, unless the option DEVICES wants several. */
static void *open_others(void *unused)
{
    const bool are_wanted = tb_option_value(TB_OPTION_DEVICES) > 0;
    const tb_machine machine = tb_machine_facts();
    tb_begin_bringing_up();
    for (int index = 1; index < machine.chip_count; index++)
        if (are_wanted || tb_claim_device(&descriptions[machine.chips[index].device]))
            open_chip(index, true);
    tb_end_bringing_up();
    atomic_store(&opening_more, 0);
    tb_wake_all(&opening_more);
    return unused;
}

/* ---- Beside the program ----------------------------------------------------------------------------------- */

/* A forked child has no CUDA context, and perhaps a lock held by a thread it does not have: it uses the CPU,
 * unless nobody had begun to bring a device up. A driver that was being initialized may have been inside the
 * linker. */
static void forget_device_in_child(void)
{
    tb_forget_bringing_up();
    tb_forget_buffers();
    if (tb_machine_forget_server())
        return;
    if (tb_machine_forget() == TB_STARTING || atomic_load(&opening_more))
        tb_distrust_linker();
}

/* When the library is loaded: who begins to bring a device up would be too late for a fork that is already
 * under way. */
__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget_device_in_child);
}

/* On the calling thread where that is going to wait: if it is inside of a library's constructor, and so has
 * the dynamic linker's lock, a helper could not load the driver. */
static void start(bool here)
{
    tb_stay_loaded(); /* the helper thread runs code of this library */
    tb_shut_device_at_exit();
    if (here)
        start_device(true);
    else if (!tb_start_thread(start_beside_program, NULL))
        tb_machine_settle(TB_ABSENT);
}

/* The thread that was bringing the device up left by a jump: nobody else will. */
static void give_up_starting(void *is_ours)
{
    if (*(bool *)is_ours)
        tb_machine_settle(TB_LOST);
}

static void start_once(bool here, tb_before_ready *prepare)
{
    volatile bool is_ours =
        true; /* before it is known, as the other way nobody would ever end what was begun */
    tb_leaving leaving;
    if (tb_machine_facts().readiness != TB_UNTRIED)
        return;
    tb_when_left(&leaving, give_up_starting, (void *)&is_ours);
    is_ours = tb_machine_begin();
    if (is_ours) {
        before_ready = prepare;
        start(here);
    }
    tb_not_left(&leaving);
}

static void start_others_once(void)
{
    static atomic_flag asked = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&asked))
        return;
    atomic_store(&opening_more, 1);
    if (!tb_start_thread(open_others, NULL))
        atomic_store(&opening_more, 0);
}

/* A helper that was started before may be waiting for the dynamic linker's lock, which this thread may have. */
#define WAIT_MOST 10.0

static void wait_until_settled(void)
{
    const double start = tb_seconds();
    tb_machine_wait_until_settled(WAIT_MOST);
    while (atomic_load(&opening_more) && tb_seconds() - start < WAIT_MOST)
        tb_wait_while(&opening_more, 1, WAIT_MOST);
}

/* The device where a call's operands lie. */
static void open_now(int device)
{
    tb_machine machine = tb_machine_facts();
    for (int index = 0; index < machine.chip_count; index++)
        if (machine.chips[index].device == device)
            open_chip(index, true);
}

bool tb_machine_start(const tb_plan *plan, tb_before_ready *prepare)
{
    long mode = tb_option_value(TB_OPTION_START);
    if (mode == TB_START_OPTION_NEVER)
        return false;
    const bool waits = plan->start == TB_START_NOW || mode == TB_START_OPTION_WAIT;
    if (plan->needs_device && plan->start == TB_START_NOW)
        tb_machine_leave_server(); /* what only a device of the process's own reaches is waited for */
    if (!waits && (tb_server_is_coming() || !tb_may_open_to_use()))
        return false; /* there will be a server, or is one that some thread has still to be done with */
    start_once(waits, prepare);
    if (plan->start == TB_START_MORE)
        start_others_once();
    if (!waits)
        return false;
    wait_until_settled();
    if (plan->needs_device)
        open_now(plan->place.device);
    return true;
}
