/* A caller jumps out of a call while a device is copying, for each copy of the call in turn: the jump is over when the device has
 * stopped reading and writing the program's memory, which the program may free then.
 *
 * The device's thread is held in the copy until the caller waits for the device, and has the caller jump. It goes on when somebody
 * waits for it on the caller's behalf, or when the caller has come out of the call all the same, which is what must not happen.
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

/* As much as the largest operand takes, a complex C of M x M. */
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

int main(void)
{
    bool *jumped = mmap(NULL, sizeof *jumped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        leave_in_each_copy(&scenarios[i], jumped);
    return check_result();
}
