#include "lib/machine/meet_server.h"

#include "lib/device/device_entry.h"
#include "lib/device/platform.h"
#include "lib/device/served_use.h"
#include "lib/machine/machine.h"
#include "lib/process/clock.h"
#include "lib/process/leaving.h"
#include "lib/process/threads.h"
#include "lib/serving/connection.h"
#include "lib/serving/device_served.h"
#include "lib/serving/greeting.h"
#include "lib/serving/pulse.h"
#include "lib/user/log.h"
#include "lib/user/options.h"

#include <stdatomic.h>

/* Another process has the devices up; is being asked; when it was asked last. */
static atomic_bool is_served, is_asked;
static _Atomic(double) looked;

/* ---- What a server has ------------------------------------------------------------------------------------ */

/* What a server has said of its devices. */
typedef struct served_devices {
    tb_known_devices known;
    const struct served_devices *before; /* another one's: who has read it may have it still */
    tb_chip chips[TB_WIRE_DEVICES];
    tb_clusters clusters[TB_WIRE_DEVICES];
    tb_device_description descriptions[TB_WIRE_DEVICES];
} served_devices;

static const served_devices *latest_served;

/* They are open, and have been measured. */
static void copy_welcome(served_devices *served, const tb_welcome *welcome)
{
    for (int index = 0; index < welcome->device_count; index++) {
        tb_chip *chip = &served->chips[index];
        *chip = welcome->chips[index];
        chip->device = TB_SERVED_FIRST + index;
        chip->open = chip->apart = true;
        chip->reached = 0;
        served->clusters[index] = welcome->clusters[index];
        chip->clusters = welcome->knows_clusters[index] ? &served->clusters[index] : NULL;
        served->descriptions[index] = welcome->descriptions[index];
    }
}

static bool take_served_devices(void)
{
    const tb_welcome *welcome = tb_server_welcome();
    served_devices *served = tb_make(sizeof *served);
    if (!served)
        return false;
    copy_welcome(served, welcome);
    served->known = (tb_known_devices){.chips = served->chips,
                                       .descriptions = served->descriptions,
                                       .first = TB_SERVED_FIRST,
                                       .count = welcome->device_count};
    served->before = latest_served;
    latest_served = served;
    tb_machine_publish(&served->known);
    return true;
}

/* ---- Looking for one -------------------------------------------------------------------------------------- */

/* Where there was no server, one may come: so long after. One that is being started is asked more often. */
#define LOOK_SECONDS   1.0
#define COMING_SECONDS 0.1

/* How long a call waits for a server's answer; and where the program has said that it waits for a device. */
enum { GREETING_MILLISECONDS = 2, GREETING_WAITED_FOR = 5000 };

static bool is_time_to_look(void)
{
    const double now = tb_seconds();
    if (now - atomic_load(&looked) < (tb_server_is_coming() ? COMING_SECONDS : LOOK_SECONDS) ||
        now < tb_server_is_left_alone_until())
        return false;
    atomic_store(&looked, now);
    return true;
}

/* A server's first product takes some milliseconds more than the next ones. It is looked for where the host would take so long for one
 * product, or for so many altogether; and for none that hardly takes longer than the look. */
#define MEET_SECONDS  0.2e-3
#define ONE_SECONDS   3e-3
#define WORTH_SECONDS 8e-3

static bool is_worth_a_server(const tb_plan *plan)
{
    static _Atomic(double) seconds;
    if (plan->start != TB_START_NOT || plan->reason == TB_REASON_NO_DEVICE)
        return true;
    if (plan->host_seconds < MEET_SECONDS)
        return false;
    double before = atomic_load(&seconds);
    while (!atomic_compare_exchange_weak(&seconds, &before, before + plan->host_seconds))
        ;
    return plan->host_seconds >= ONE_SECONDS || before + plan->host_seconds >= WORTH_SECONDS;
}

/* A process that has no device of its own may have been there before the server, or find the next one. */
static bool has_none_up(void)
{
    const tb_readiness readiness = tb_machine_facts().readiness;
    return readiness == TB_UNTRIED ? !tb_platform.in_process() : readiness == TB_ABSENT && tb_has_platform();
}

static bool may_look_for_server(const tb_plan *plan)
{
    return has_none_up() && tb_may_open_to_use() && tb_option_value(TB_OPTION_SERVER) != TB_SERVER_NEVER &&
           tb_option_value(TB_OPTION_START) != TB_START_OPTION_NEVER && is_worth_a_server(plan) &&
           is_time_to_look();
}

/* ---- Meeting one, and leaving it -------------------------------------------------------------------------- */

static bool greet_server(void)
{
    const bool waits = tb_option_value(TB_OPTION_START) == TB_START_OPTION_WAIT;
    if (!tb_may_open_to_use() || /* others may have met one meanwhile, and lost it */
        !tb_meet_server(tb_slot_bytes(), waits ? GREETING_WAITED_FOR : GREETING_MILLISECONDS))
        return false;
    const bool is_taken = take_served_devices();
    if (!is_taken)
        tb_close_to_use();
    return is_taken;
}

/* Once a process: the next server's devices are hardly others. */
static void prepare_once(tb_before_ready *prepare)
{
    static atomic_flag prepared = ATOMIC_FLAG_INIT;
    if (prepare && !atomic_flag_test_and_set(&prepared))
        prepare(tb_server_welcome()->descriptions[0].name);
}

/* A server can be left that is taken for one when the machine is ready. */
static void end_meeting(bool is_met, tb_before_ready *prepare)
{
    if (is_met) {
        prepare_once(prepare);
        tb_machine_settle(TB_READY);
        atomic_store(&is_served, true);
    } else {
        tb_machine_end_trial();
    }
    atomic_store(&is_asked, false);
}

/* The thread that has begun left by a jump, and before it could end: what it has of a connection nobody else uses. */
static void give_up_meeting(void *is_ours)
{
    if (!*(volatile bool *)is_ours)
        return;
    if (tb_may_open_to_use())
        tb_forget_server();
    else
        tb_close_to_use();
    end_meeting(false, NULL);
}

/* By the one thread that has begun, which leaves neither at the beginning nor at the end. */
static bool meet_server(tb_before_ready *prepare, volatile bool *is_ours)
{
    sigset_t signals;
    tb_hold_signals(&signals);
    *is_ours = tb_machine_begin_trial();
    if (*is_ours)
        atomic_store(&is_asked, true);
    tb_let_signals(&signals);
    if (!*is_ours)
        return false;
    const bool is_met = greet_server();
    tb_hold_signals(&signals);
    end_meeting(is_met, prepare);
    *is_ours = false;
    tb_let_signals(&signals);
    return is_met;
}

bool tb_machine_meet_server(const tb_plan *plan, tb_before_ready *prepare)
{
    volatile bool is_ours = false;
    tb_leaving leaving;
    if (!may_look_for_server(plan))
        return false;
    tb_when_left(&leaving, give_up_meeting, (void *)&is_ours);
    const bool is_met = meet_server(prepare, &is_ours);
    tb_not_left(&leaving);
    return is_met;
}

bool tb_machine_leave_server(void)
{
    const bool was_served = atomic_exchange(&is_served, false);
    if (was_served) {
        tb_machine_unsettle();
        tb_close_to_use();
    }
    return was_served;
}

/* It is there, and may be looked for at once. */
bool tb_machine_drop_server(void)
{
    atomic_store(&looked, 0);
    return tb_machine_leave_server() || !tb_may_open_to_use();
}

void tb_machine_lose_device(int device, const char *during)
{
    if (device < TB_SERVED_FIRST)
        tb_machine_lose(during);
    else if (tb_machine_leave_server() && !atomic_load(&tb_device_shut))
        tb_warn_once("the server of the devices was lost while %s; the CPU goes on until there is another",
                     during);
}

bool tb_machine_forget_server(void)
{
    const bool was_asked = atomic_exchange(&is_asked, false),
               was_served = atomic_exchange(&is_served, false) || was_asked;
    if (was_served || !tb_may_open_to_use())
        tb_forget_served_devices();
    if (was_served) {
        tb_machine_begin_anew();
        atomic_store(&looked, 0);
    }
    return was_served;
}
