#include "lib/machine.h"

#include "lib/calibrate.h"
#include "lib/linker.h"
#include "lib/local_rank.h"
#include "lib/log.h"
#include "lib/options.h"
#include "lib/profile.h"
#include "lib/threads.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Choices of the option START, in their order. */
enum { START_BACKGROUND, START_WAIT, START_NEVER };

static _Atomic(tb_readiness) readiness = TB_UNTRIED;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t settled = PTHREAD_COND_INITIALIZER;

/* Written before readiness becomes TB_READY, constant from then on. */
static tb_device_description *descriptions; /* by ordinal */
static int device_count;

/* What is known of the devices: a new copy of the whole table whenever that changes, so that readers need no lock.
 * There are as many changes as devices. */
static tb_chip *tables;
static int tables_published;
static _Atomic(const tb_chip *) chips;

/* Held while a device is opened. */
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool opening_more;

static int host_cores(void)
{
    static atomic_int cached;
    int cores = atomic_load_explicit(&cached, memory_order_relaxed);
    if (cores == 0) {
        cpu_set_t allowed;
        cores = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
        atomic_store_explicit(&cached, cores, memory_order_relaxed);
    }
    return cores;
}

/* Ranks of one host share its devices already. */
static int devices_wanted(void)
{
    int wanted = (int)tb_option_value(TB_OPTION_DEVICES);
    return wanted == 0 && tb_local_rank() >= 0 ? 1 : wanted;
}

tb_machine tb_machine_facts(void)
{
    tb_machine machine = {
        .readiness = atomic_load_explicit(&readiness, memory_order_acquire),
        .host_cores = host_cores(),
        .devices_wanted = devices_wanted(),
    };
    if (machine.readiness == TB_READY) {
        machine.chips = atomic_load_explicit(&chips, memory_order_acquire);
        machine.chip_count = device_count;
    }
    return machine;
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

/* Opens the device at a place of the table and measures it. */
static void open_unopened(int index)
{
    const size_t count = (size_t)device_count;
    tb_chip *table = tables + (size_t)tables_published * count, *chip = &table[index];
    memcpy(table, table - count, count * sizeof *table);
    tb_status status = tb_device.open_device(chip->device);
    chip->open = status == TB_OK;
    chip->failed = !chip->open;
    if (chip->open)
        chip->clusters = tb_device.clusters(chip->device);
    if (chip->open && tb_option_value(TB_OPTION_CALIBRATE)) {
        tb_measure_chip(chip);
        presume_links(table, chip);
    }
    if (tb_option_value(TB_OPTION_VERBOSE))
        tb_log("device %d is %s, %d multiprocessors: %s", chip->device, descriptions[chip->device].name,
               chip->multiprocessors, tb_status_text(status));
    atomic_store_explicit(&chips, table, memory_order_release);
    tables_published++;
}

/* False when it cannot be had. */
static bool open_chip(int index)
{
    pthread_mutex_lock(&opening);
    const tb_chip *latest = tables + (size_t)(tables_published - 1) * (size_t)device_count;
    if (!latest[index].open && !latest[index].failed)
        open_unopened(index);
    bool open = atomic_load(&chips)[index].open;
    pthread_mutex_unlock(&opening);
    return open;
}

static tb_status describe_all(void)
{
    const size_t count = (size_t)device_count;
    const int home = tb_local_rank() >= 0 ? tb_local_rank() % device_count : 0;
    descriptions = calloc(count, sizeof *descriptions);
    tables = calloc((count + 1) * count, sizeof *tables);
    if (!descriptions || !tables)
        return TB_OUT_OF_MEMORY;
    for (int index = 0; index < device_count; index++) {
        int device = (home + index) % device_count;
        TB_TRY(tb_device.describe(device, &descriptions[device]));
        tables[index] = tb_presume_chip(device, &descriptions[device]);
    }
    tables_published = 1;
    return TB_OK;
}

static tb_status bring_up(void)
{
    int count = 0;
    TB_TRY(tb_device.open(&count));
    if (count <= 0)
        return TB_NO_DEVICE;
    device_count = count;
    TB_TRY(describe_all());
    if (!open_chip(0))
        return TB_NO_DEVICE;
    tb_load_profile(descriptions[tables[0].device].name);
    return TB_OK;
}

static void settle(tb_readiness to)
{
    pthread_mutex_lock(&lock);
    /* A device lost meanwhile stays lost. */
    if (atomic_load(&readiness) == TB_STARTING)
        atomic_store_explicit(&readiness, to, memory_order_release);
    pthread_cond_broadcast(&settled);
    pthread_mutex_unlock(&lock);
}

static void *start_device(void *unused)
{
    tb_status status = bring_up();
    if (status != TB_OK && tb_option_value(TB_OPTION_VERBOSE))
        tb_log("no device: %s", tb_status_text(status));
    settle(status == TB_OK ? TB_READY : TB_ABSENT);
    return unused;
}

static void *open_others(void *unused)
{
    for (int index = 1; index < device_count; index++)
        open_chip(index);
    pthread_mutex_lock(&lock);
    atomic_store(&opening_more, false);
    pthread_cond_broadcast(&settled);
    pthread_mutex_unlock(&lock);
    return unused;
}

/* ---- Beside the program ----------------------------------------------------------------------------------- */

/* A forked child has no CUDA context, and perhaps a lock held by a thread it does not have: it uses the CPU.
 * A driver that was being initialized may have been inside the linker. */
static void forget_device_in_child(void)
{
    if (atomic_exchange(&readiness, TB_LOST) == TB_STARTING || atomic_load(&opening_more))
        tb_distrust_linker();
}

/* The helper thread runs code of this library, which dlclose must therefore not unmap. */
static void pin_library(void)
{
    Dl_info self;
    if (dladdr((void *)&tb_machine_facts, &self) && self.dli_fname)
        dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

static void start_once(void)
{
    tb_readiness untried = TB_UNTRIED;
    if (!atomic_compare_exchange_strong(&readiness, &untried, TB_STARTING))
        return;
    tb_enter_linker();
    pin_library();
    tb_leave_linker();
    pthread_atfork(NULL, NULL, forget_device_in_child);
    if (!tb_start_thread(NULL, start_device, NULL))
        settle(TB_ABSENT);
}

static void start_others_once(void)
{
    static atomic_flag asked = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&asked))
        return;
    atomic_store(&opening_more, true);
    if (!tb_start_thread(NULL, open_others, NULL))
        atomic_store(&opening_more, false);
}

static void wait_until_settled(void)
{
    pthread_mutex_lock(&lock);
    while (atomic_load(&readiness) == TB_STARTING || atomic_load(&opening_more))
        pthread_cond_wait(&settled, &lock);
    pthread_mutex_unlock(&lock);
}

/* The device where a call's operands lie. */
static void open_now(int device)
{
    tb_machine machine = tb_machine_facts();
    for (int index = 0; index < machine.chip_count; index++)
        if (machine.chips[index].device == device)
            open_chip(index);
}

bool tb_machine_start(const tb_plan *plan)
{
    long mode = tb_option_value(TB_OPTION_START);
    if (plan->start == TB_START_NOT || mode == START_NEVER)
        return false;
    start_once();
    if (plan->start == TB_START_MORE)
        start_others_once();
    if (plan->start != TB_START_NOW && mode != START_WAIT)
        return false;
    wait_until_settled();
    if (plan->start == TB_START_NOW)
        open_now(plan->place.device);
    return true;
}

void tb_machine_lose(const char *during)
{
    if (atomic_exchange(&readiness, TB_LOST) == TB_READY)
        tb_log("the device was lost while %s; the CPU does the rest, this time and from now on", during);
}

const tb_device_description *tb_machine_device(int device)
{
    bool ready = atomic_load_explicit(&readiness, memory_order_acquire) == TB_READY;
    return ready && device < device_count ? &descriptions[device] : NULL;
}
