#include "lib/machine.h"

#include "lib/linker.h"
#include "lib/log.h"
#include "lib/options.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Choices of the option START, in their order. */
enum { START_BACKGROUND, START_WAIT, START_NEVER };

static _Atomic(tb_readiness) readiness = TB_UNTRIED;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t settled = PTHREAD_COND_INITIALIZER;

/* Written by the helper thread before readiness becomes TB_READY, constant from then on. */
static tb_device_description *devices;
static int device_count;

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

tb_machine tb_machine_facts(void)
{
    tb_machine machine = {
        .readiness = atomic_load_explicit(&readiness, memory_order_acquire),
        .host_cores = host_cores(),
    };
    if (machine.readiness == TB_READY) {
        machine.architecture = devices[0].architecture;
        machine.multiprocessors = devices[0].multiprocessors;
    }
    return machine;
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

static tb_status bring_up(void)
{
    int count = 0;
    TB_TRY(tb_device.open(&count));
    devices = calloc((size_t)(count > 0 ? count : 1), sizeof *devices);
    if (!devices)
        return TB_OUT_OF_MEMORY;
    for (int device = 0; device < count; device++)
        TB_TRY(tb_device.describe(device, &devices[device]));
    device_count = count;
    return count > 0 ? TB_OK : TB_NO_DEVICE;
}

static void *start_device(void *unused)
{
    tb_status status = bring_up();
    if (tb_option_value(TB_OPTION_VERBOSE)) {
        if (status == TB_OK)
            tb_log("%d device(s); device 0 is %s, %d multiprocessors", device_count, devices[0].name,
                   devices[0].multiprocessors);
        else
            tb_log("no device: %s", tb_status_text(status));
    }
    settle(status == TB_OK ? TB_READY : TB_ABSENT);
    return unused;
}

/* A forked child has no CUDA context, and perhaps a lock held by a thread it does not have: it uses the CPU.
 * A driver that was being initialized may have been inside the linker.
 */
static void forget_device_in_child(void)
{
    if (atomic_exchange(&readiness, TB_LOST) == TB_STARTING)
        tb_distrust_linker();
}

/* The helper thread runs code of this library, which dlclose must therefore not unmap. */
static void pin_library(void)
{
    Dl_info self;
    if (dladdr((void *)&tb_machine_facts, &self) && self.dli_fname)
        dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

/* False when no thread could be had. */
static bool start_helper(void)
{
    /* The program's signals are for the program's threads. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    bool started = pthread_create(&thread, NULL, start_device, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        pthread_detach(thread);
    return started;
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
    if (!start_helper())
        settle(TB_ABSENT);
}

bool tb_machine_start(tb_start start)
{
    long mode = tb_option_value(TB_OPTION_START);
    if (start == TB_START_NOT || mode == START_NEVER)
        return false;
    start_once();
    if (start == TB_START_FOR_LATER && mode != START_WAIT)
        return false;
    pthread_mutex_lock(&lock);
    while (atomic_load(&readiness) == TB_STARTING)
        pthread_cond_wait(&settled, &lock);
    pthread_mutex_unlock(&lock);
    return true;
}

void tb_machine_lose(const char *during)
{
    if (atomic_exchange(&readiness, TB_LOST) == TB_READY)
        tb_log("the device was lost while %s; the CPU does the rest, this time and from now on", during);
}

int tb_machine_device_count(void)
{
    return atomic_load_explicit(&readiness, memory_order_acquire) == TB_READY ? device_count : 0;
}

const tb_device_description *tb_machine_device(int device)
{
    return device < tb_machine_device_count() ? &devices[device] : NULL;
}
