/* A caller jumps out of a call while a device is copying, for each copy of the call in turn: the jump is over when the device has
 * stopped reading and writing the program's memory, which the program may free then.
 *
 * The device's thread is held in the copy until the caller waits for the device, and has the caller jump. It goes on when
 * somebody waits for it on the caller's behalf, or when the caller has come out of the call all the same, which is what must not
 * happen.
 *
 * A caller that jumps while the host copies leaves no operation of the device in the middle, so that the device is used on. What
 * the call had taken of it is given back then, and memory that the device reads not before the device has stopped.
 *
 *   leaving_copies                         for each copy of the device, at many places
 *   leaving_copies while_the_host_copies   where the caller holds nothing, which sanitizers follow
 */
#include "include/tileblas.h"
#include "tests/sim/children.h"
#include "tests/sim/known_product.h"
#include "words/role.h"

#include <pthread.h>
#include <setjmp.h>
#include <string.h>
#include <sys/mman.h>

enum { M = 160, N = 120, K = 110, COPIES_MOST = 200 };

/* Signals that the caller handles on its way out, without a jump. */
enum { DISTURBANCES = 4, DISTURBANCE_MICROSECONDS = 10000 };

#define TRIAL_SECONDS 30.0

void cblas_cherk(int, int, int, int, int, float, const void *, int, float, void *, int);

/* What is multiplied, and where its operands lie: CHERK of A, or SGEMM. */
typedef struct scenario {
    const char *name, *places; /* of A, B and C, a letter each */
    float beta;
    const char *route;
    bool hermitian, without_kernels; /* where none can be launched the host fetches the operands */
} scenario;

static const scenario scenarios[] = {
    {"A is pinned", "PHH", 0, "streamed", false, false},
    {"B is pinned", "HPH", 0, "streamed", false, false},
    {"C is pinned and read", "HHP", 1, "streamed", false, false},
    {"C is pinned", "HHP", 0, "streamed", false, false},
    {"all is pinned", "PPP", 1, "streamed", false, false},
    {"A is on the device", "DHH", 0, "streamed", false, false},
    {"C is on the device", "HHD", 1, "streamed", false, false},
    {"C is on the device, without kernels", "HHD", 1, "streamed", false, true},
    {"C is on the device and Hermitian", "HHD", 1, "streamed", true, false},
    {"all is managed", "MMM", 1, "resident", false, false},
};

static tb_memory place_of(const scenario *scenario, tb_role role)
{
    const char letter = scenario->places[role];
    return letter == 'P'   ? TB_MEMORY_PINNED
           : letter == 'D' ? TB_MEMORY_DEVICE
           : letter == 'M' ? TB_MEMORY_MANAGED
                           : TB_MEMORY_HOST;
}

/* ---- The held copy ---------------------------------------------------------------------------------------- */

static long held_number; /* of the call's copies, from 1 */
static atomic_long copies;
static atomic_bool is_held, has_jumped, is_out;
static atomic_long waits_at_jump;
static pthread_t caller;
static sigjmp_buf before_call;

static void pause_briefly(void)
{
    usleep(100);
}

static void jump(int signal)
{
    atomic_store(&waits_at_jump, sim_operations("wait"));
    atomic_store(&has_jumped, true);
    siglongjmp(before_call, signal);
}

static void return_at_once(int signal)
{
    (void)signal;
}

static bool is_waited_for(void)
{
    return atomic_load(&has_jumped) && sim_operations("wait") > atomic_load(&waits_at_jump);
}

static void hold_copy(const void *source, size_t bytes)
{
    (void)source, (void)bytes;
    const long number = 1 + atomic_fetch_add(&copies, 1);
    if (number == held_number) {
        atomic_store(&is_held, true);
        while (sim_threads_waiting() == 0)
            pause_briefly();
        pthread_kill(caller, SIGUSR1);
        while (!is_waited_for() && !atomic_load(&is_out))
            pause_briefly();
        for (int i = 0; number == 1 && i < DISTURBANCES; i++) {
            usleep(DISTURBANCE_MICROSECONDS);
            pthread_kill(caller, SIGUSR2);
        }
    }
    CHECK(!atomic_load(&is_out), "copy %ld is made after the jump", number);
    if (number == held_number)
        atomic_store(&is_held, false);
}

/* ---- One call --------------------------------------------------------------------------------------------- */

/* What the largest operand takes, a complex C of M x M. */
#define BLOCK_BYTES (sizeof(float[2 * M * M]))

static void *place(tb_memory memory)
{
    void *zeros = known_host_block(BLOCK_BYTES);
    if (memory == TB_MEMORY_HOST)
        return zeros;
    void *block = sim_allocate(memory, 0, BLOCK_BYTES);
    sim_copy(block, zeros, BLOCK_BYTES);
    free(zeros);
    return block;
}

static void call(const scenario *scenario, void *const *operands)
{
    if (scenario->hermitian)
        cblas_cherk(102, 122, 111, M, K, 1, operands[TB_A], M, scenario->beta, operands[TB_C], M);
    else
        cblas_sgemm(102, 111, 111, M, N, K, 1, operands[TB_A], M, operands[TB_B], K, scenario->beta,
                    operands[TB_C], M);
}

static void call_and_jump(const scenario *scenario, void *const *operands)
{
    const struct sigaction action = {.sa_handler = jump}, disturbance = {.sa_handler = return_at_once};
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &disturbance, NULL);
    caller = pthread_self();
    sim_watch_copies(hold_copy);
    if (sigsetjmp(before_call, 1) == 0)
        call(scenario, operands);
    else
        atomic_store(&is_out, true);
}

static void set_up(const scenario *scenario)
{
    enum { LAUNCHES = 20 };
    char script[32 * LAUNCHES] = "";
    tileblas_set_option("START", "wait");
    tileblas_set_option("PINNED_MEMORY", "1");
    tileblas_set_option("ROUTE", "streamed");
    CHECK(known_multiply_once(300, 200, 30, 0, 3, TB_MEMORY_HOST) == 0, "wrong");
    tileblas_set_option("ROUTE", scenario->route);
    for (int i = 1; scenario->without_kernels && i <= LAUNCHES; i++)
        snprintf(script + strlen(script), sizeof script - strlen(script), "%slaunch:%d=unsupported",
                 i > 1 ? "," : "", i);
    sim_set("FAIL", script);
}

typedef struct trial {
    const scenario *scenario;
    long held_number;
    bool *jumped; /* the call has so many copies */
} trial;

static void run_trial(void *argument)
{
    const trial *trial = argument;
    const scenario *scenario = trial->scenario;
    void *operands[TB_ROLES];
    set_up(scenario);
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        operands[role] = place(place_of(scenario, role));
    held_number = trial->held_number;
    call_and_jump(scenario, operands);
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        known_release(place_of(scenario, role), operands[role]);
    *trial->jumped = atomic_load(&has_jumped);
    while (atomic_load(&is_held))
        pause_briefly();
    usleep(2000); /* for what else the device still does */
    sim_watch_copies(NULL);
    CHECK(known_multiply_once(M, N, K, 1, 2, TB_MEMORY_HOST) == 0, "wrong after the jump");
}

/* ---- Left while the host copies --------------------------------------------------------------------------- */

/* There are more columns than rows, so that two devices share A, and the first one has the first columns of B to itself. Each
 * operand fits into a slot. */
enum { WIDE = 200, CALLS_MOST = 200 };

/* Many times what the caller takes from its jump until it gives memory back. */
#define AFTER_WAIT_MICROSECONDS 5000

static sim_usage at_jump;

static void jump_when_held(int signal)
{
    while (!atomic_load(&is_held))
        pause_briefly();
    at_jump = sim_get_usage();
    jump(signal);
}

static bool has_given_memory_back(void)
{
    const sim_usage usage = sim_get_usage();
    return usage.pinned_blocks < at_jump.pinned_blocks || usage.device_blocks < at_jump.device_blocks;
}

/* The copy is held a little longer than until the caller waits, as it may be waiting for another stream. */
static void hold_first_copy(const void *source, size_t bytes)
{
    (void)source, (void)bytes;
    if (atomic_fetch_add(&copies, 1) > 0)
        return;
    atomic_store(&is_held, true);
    while (!atomic_load(&has_jumped) || (!is_waited_for() && !has_given_memory_back()))
        pause_briefly();
    usleep(AFTER_WAIT_MICROSECONDS);
    CHECK(!has_given_memory_back(), "the device copies from memory that the caller has given back");
    atomic_store(&is_held, false);
}

static void map_operands(void **operands)
{
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        operands[role] = mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (operands[role] == MAP_FAILED)
            abort();
    }
}

static void multiply_wide(void *const *operands)
{
    cblas_sgemm(102, 111, 111, M, WIDE, K, 1, operands[TB_A], M, operands[TB_B], K, 1, operands[TB_C], M);
}

/* The caller jumps where it comes to what is closed to it, which it does between two operations of the device. */
static void jump_out_at(void *closed, size_t bytes, void (*handler)(int), void *const *operands)
{
    const struct sigaction action = {.sa_handler = handler};
    sigaction(SIGSEGV, &action, NULL);
    mprotect(closed, bytes, PROT_NONE);
    if (sigsetjmp(before_call, 1) == 0)
        multiply_wide(operands);
    mprotect(closed, bytes, PROT_READ | PROT_WRITE);
    CHECK(atomic_load(&has_jumped), "nobody jumped");
}

static void set_up_streams(const char *devices)
{
    const scenario streamed = {.route = "streamed"};
    sim_set("DEVICES", devices);
    tileblas_set_option("DEVICES", devices);
    tileblas_set_option("COPY_THREADS", "1");
    tileblas_set_option("OPERAND_CACHE", "0");
    tileblas_set_option("KEEP_SECONDS", "0");
    set_up(&streamed);
}

static void check_that_the_device_is_used(void)
{
    const long launches = sim_operations("launch");
    CHECK(known_multiply_once(M, N, K, 1, 2, TB_MEMORY_HOST) == 0, "wrong after the jump");
    CHECK(sim_operations("launch") > launches, "the device is used no more");
}

/* C is on its way, and B lies in a slot, when the caller comes to A. */
static void what_the_device_reads_is_kept(void *unused)
{
    void *operands[TB_ROLES];
    (void)unused;
    set_up_streams("1");
    map_operands(operands);
    sim_watch_copies(hold_first_copy);
    jump_out_at(operands[TB_A], BLOCK_BYTES, jump_when_held, operands);
    CHECK(!atomic_load(&is_held), "the device is copying after the jump");
    sim_watch_copies(NULL);
    const sim_usage usage = sim_get_usage();
    CHECK(usage.streams == 0 && usage.events == 0 && usage.pinned_blocks == 0 && usage.device_blocks == 0,
          "%ld streams, %ld events, %ld and %ld blocks of pinned and device memory are left", usage.streams,
          usage.events, usage.pinned_blocks, usage.device_blocks);
    check_that_the_device_is_used();
}

/* There are two devices, each of which has a stream for what it copies from the other, when they have once met. */
static void all_streams_are_given_back(void *unused)
{
    enum { STREAMS = 4 };
    void *operands[TB_ROLES];
    (void)unused;
    set_up_streams("2");
    map_operands(operands);
    for (int call = 0; call < CALLS_MOST && sim_get_usage().streams < 2 * STREAMS; call++)
        multiply_wide(operands);
    CHECK(sim_get_usage().streams == 2 * STREAMS, "%ld streams of two devices", sim_get_usage().streams);
    jump_out_at(operands[TB_B], (size_t)sysconf(_SC_PAGESIZE), jump, operands);
    CHECK(sim_get_usage().streams == STREAMS, "%ld streams are left, %d of them the other device's",
          sim_get_usage().streams, STREAMS);
    check_that_the_device_is_used();
}

/* ---- All of them ------------------------------------------------------------------------------------------ */

static void leave_in_each_copy(const scenario *scenario, bool *jumped)
{
    long number = 0;
    child_end end;
    do {
        trial trial = {.scenario = scenario, .held_number = ++number, .jumped = jumped};
        *jumped = false;
        end = child_run(run_trial, &trial, TRIAL_SECONDS);
        CHECK(end == CHILD_RIGHT, "%s: left in copy %ld: %s", scenario->name, number, child_end_text(end));
    } while (*jumped && number < COPIES_MOST);
    printf("%s: %ld copies\n", scenario->name, number - 1);
    CHECK(number > 1 && number < COPIES_MOST, "%s: nobody jumped", scenario->name);
}

static void leave_in_copies_of_the_device(void)
{
    bool *jumped = mmap(NULL, sizeof *jumped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        leave_in_each_copy(&scenarios[i], jumped);
}

static void leave_while_the_host_copies(void)
{
    child_end end = child_run(what_the_device_reads_is_kept, NULL, TRIAL_SECONDS);
    CHECK(end == CHILD_RIGHT, "what the device reads is kept: %s", child_end_text(end));
    end = child_run(all_streams_are_given_back, NULL, TRIAL_SECONDS);
    CHECK(end == CHILD_RIGHT, "all streams are given back: %s", child_end_text(end));
}

int main(int count, char **arguments)
{
    if (count > 1 && strcmp(arguments[1], "while_the_host_copies") == 0)
        leave_while_the_host_copies();
    else
        leave_in_copies_of_the_device();
    return check_result();
}
