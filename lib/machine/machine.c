#include "lib/machine/machine.h"

#include "dispatch/tiling.h"
#include "lib/device/device_entry.h"
#include "lib/machine/cores.h"
#include "lib/machine/local_rank.h"
#include "lib/process/clock.h"
#include "lib/process/lock.h"
#include "lib/user/log.h"
#include "lib/user/options.h"
#include "lib/process/sums.h"
#include "lib/device/platform.h"

#include <stdatomic.h>

/* A tb_readiness; who waits for it to be settled sleeps on it. */
static _Atomic(uint32_t) readiness = TB_UNTRIED;

/* Something before readiness becomes TB_READY; of no devices until then. */
static const tb_known_devices nothing;
static _Atomic(const tb_known_devices *) published = &nothing;

static const tb_known_devices *known_devices(void)
{
    return atomic_load_explicit(&published, memory_order_acquire);
}

/* Seconds that the host took, up to now, for calls that a device would have won, had it been up. */
static _Atomic(double) host_spent;

static _Atomic(uint32_t) uses[TB_DEVICES_MAXIMUM];

/* Programs move their threads between sets of cores, seldom: how long the calling thread's set is believed. */
#define CORES_SECONDS 0.2

static int host_cores(void)
{
    static _Thread_local int cores;
    static _Thread_local double asked;
    const double now = tb_seconds();
    if (cores == 0 || now - asked > CORES_SECONDS) {
        cores = tb_allowed_cores();
        asked = now;
    }
    return cores;
}

/* Ranks of one host share its devices already. */
static int devices_wanted(void)
{
    int wanted = (int)tb_option_value(TB_OPTION_DEVICES);
    return wanted == 0 && tb_local_rank() >= 0 ? 1 : wanted;
}

/* A build without kernels has nothing to look for. Devices are ready that somebody has published before the readiness was looked at:
 * who leaves a server for devices of its own would otherwise be taken to have these while they come up. */
static tb_readiness readiness_of(const tb_known_devices *known)
{
    const tb_readiness now = (tb_readiness)atomic_load_explicit(&readiness, memory_order_acquire);
    return now == TB_UNTRIED && !tb_has_platform() ? TB_ABSENT
           : now == TB_READY && known == &nothing  ? TB_STARTING
                                                   : now;
}

tb_machine tb_machine_facts(void)
{
    const tb_known_devices *known = known_devices();
    tb_machine machine = {
        .readiness = readiness_of(known),
        .host_cores = host_cores(),
        .devices_wanted = devices_wanted(),
        .host_spent = TB_LOAD(&host_spent),
        .starts_at_once = tb_option_value(TB_OPTION_START) == TB_START_OPTION_WAIT,
    };
    if (machine.readiness == TB_READY) {
        machine.chips = known->chips;
        machine.chip_count = known->count;
    }
    return machine;
}

/* ---- For who brings devices up ---------------------------------------------------------------------------- */

bool tb_machine_begin(void)
{
    uint32_t untried = TB_UNTRIED;
    return atomic_compare_exchange_strong(&readiness, &untried, TB_STARTING);
}

/* What the machine is without a server: untried, or without a device of the process's own. */
static _Atomic(uint32_t) without_server = TB_UNTRIED;

bool tb_machine_begin_trial(void)
{
    uint32_t without = atomic_load(&without_server);
    return atomic_compare_exchange_strong(&readiness, &without, TB_STARTING);
}

void tb_machine_end_trial(void)
{
    uint32_t starting = TB_STARTING;
    atomic_compare_exchange_strong(&readiness, &starting, atomic_load(&without_server));
    tb_wake_all(&readiness);
}

void tb_machine_publish(const tb_known_devices *known)
{
    atomic_store_explicit(&published, known, memory_order_release);
}

void tb_machine_settle(tb_readiness to)
{
    /* A device lost meanwhile stays lost. */
    uint32_t starting = TB_STARTING;
    if (to == TB_ABSENT)
        atomic_store(&without_server, TB_ABSENT);
    atomic_compare_exchange_strong(&readiness, &starting, to);
    tb_wake_all(&readiness);
}

void tb_machine_wait_until_settled(double seconds)
{
    const double start = tb_seconds();
    while (atomic_load(&readiness) == TB_STARTING && tb_seconds() - start < seconds)
        tb_wait_while(&readiness, TB_STARTING, seconds);
}

static atomic_bool is_inherited;

bool tb_machine_is_inherited(void)
{
    return atomic_load(&is_inherited);
}

void tb_machine_unsettle(void)
{
    uint32_t ready = TB_READY;
    atomic_compare_exchange_strong(&readiness, &ready, atomic_load(&without_server));
}

void tb_machine_begin_anew(void)
{
    atomic_store(&readiness, atomic_load(&without_server));
    atomic_store(&published, &nothing);
}

tb_readiness tb_machine_forget(void)
{
    const uint32_t before = atomic_load(&readiness);
    if (before != TB_UNTRIED && before != TB_ABSENT) {
        atomic_store(&readiness, TB_LOST);
        atomic_store(&is_inherited, true);
    }
    return (tb_readiness)before;
}

/* ---- For everybody ---------------------------------------------------------------------------------------- */

void tb_machine_note_host(double seconds)
{
    tb_add_to_sum(&host_spent, seconds);
}

void tb_machine_note_use(int device)
{
    atomic_fetch_add(&uses[device], 1);
}

uint32_t tb_machine_uses(int device)
{
    return atomic_load(&uses[device]);
}

void tb_machine_lose(const char *during)
{
    const bool was_ready = atomic_exchange(&readiness, TB_LOST) == TB_READY;
    tb_wake_all(&readiness);
    if (was_ready && !atomic_load(&tb_device_shut))
        tb_log("the device was lost while %s; the CPU does the rest, this time and from now on", during);
}

const tb_device_description *tb_machine_device(int device)
{
    const tb_known_devices *known = known_devices();
    const int index = device - known->first;
    const bool is_ready = readiness_of(known) == TB_READY;
    return is_ready && index >= 0 && index < known->count ? &known->descriptions[index] : NULL;
}

tb_target tb_machine_target(int device)
{
    const tb_known_devices *known = known_devices();
    const tb_machine machine = {.chips = known->chips, .chip_count = known->count};
    const tb_chip *chip = tb_find_chip(&machine, device);
    return chip ? tb_target_of(chip) : (tb_target){.architecture = 0};
}

int tb_machine_device_count(void)
{
    const tb_known_devices *known = known_devices();
    return readiness_of(known) == TB_READY ? known->count : 0;
}

/* Slots of 8 MiB, unless the option says otherwise: long enough for the link's full rate, and all of them
 * together stay in the caches of a host that has a GPU. */
#define PINNED_MIB        (2L * TB_SLOTS * 8)
#define PINNED_MIB_IN_ALL 256L

size_t tb_slot_bytes(void)
{
    long mib = tb_option_value(TB_OPTION_PINNED_MEMORY);
    int devices = tb_machine_device_count();
    if (mib == 0)
        mib = devices * PINNED_MIB > PINNED_MIB_IN_ALL ? PINNED_MIB_IN_ALL / devices : PINNED_MIB;
    return ((size_t)mib << 20) / (2 * TB_SLOTS);
}
