/* Operands in files that are mapped and then truncated: the first access behind the file's new end raises
 * SIGBUS, and the program's handler jumps out of the call. It may do so because the thread that it runs in is
 * the one that called. Afterwards nobody touches the operands any more, and the device is used on.
 */
#include "include/tileblas.h"
#include "tests/sim/children.h"
#include "tests/sim/known_product.h"
#include "words/role.h"

#include <pthread.h>
#include <setjmp.h>
#include <string.h>
#include <sys/mman.h>

/* Each operand is several of what a thread copies at a time, and more than the calling thread copies alone. */
enum { M = 1100, N = 1000, K = 300, TRIALS = 2 };
#define TRIAL_SECONDS 60.0

typedef struct scenario {
    const char *name;
    tb_role mapped;
    float beta;
    int calls_before; /* so that copies of operands stay on the device, which later calls compare */
    const char *devices;
    bool keeps_half; /* of the file; else nothing */
} scenario;

static const scenario scenarios[] = {
    {"A", TB_A, 0, 0, "1", true},
    {"B", TB_B, 0, 0, "1", true},
    {"C is written", TB_C, 0, 0, "1", true},
    {"C is read, too", TB_C, 1, 0, "1", true},
    {"A has come before", TB_A, 0, 4, "1", true},
    {"all of A is gone", TB_A, 0, 0, "1", false},
    {"two devices", TB_A, 0, 0, "2", true},
    {"two devices, C", TB_C, 1, 0, "2", true},
};

static pthread_t caller;
static sigjmp_buf before_call;
static volatile sig_atomic_t is_calling;

static void jump(int signal)
{
    static const char message[] = "the fault is another thread's\n";
    if (is_calling && pthread_equal(pthread_self(), caller))
        siglongjmp(before_call, signal);
    (void)!write(STDERR_FILENO, message, sizeof message - 1);
    _exit(EXIT_FAILURE);
}

static void *map_file(int *file, size_t bytes)
{
    *file = memfd_create("operand", MFD_CLOEXEC);
    if (*file < 0 || ftruncate(*file, (off_t)bytes) != 0)
        SKIP("no file in memory");
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0);
    if (mapped == MAP_FAILED)
        abort();
    return mapped;
}

static void put_into_file(known_product *p, tb_role role, int *file, size_t *bytes)
{
    void **operands[] = {[TB_A] = &p->a, [TB_B] = &p->b, [TB_C] = &p->c};
    const int elements[] = {[TB_A] = M * K, [TB_B] = K * N, [TB_C] = M * N};
    *bytes = known_bytes(p, elements[role]);
    void *mapped = map_file(file, *bytes);
    memcpy(mapped, *operands[role], *bytes);
    free(*operands[role]);
    *operands[role] = mapped;
}

static bool multiply_and_jump(const known_product *p)
{
    caller = pthread_self();
    if (sigsetjmp(before_call, 1) == 0) {
        is_calling = 1;
        known_multiply(p);
        is_calling = 0;
        return false;
    }
    is_calling = 0;
    return true;
}

static void run_trial(void *argument)
{
    const scenario *scenario = argument;
    const struct sigaction action = {.sa_handler = jump};
    int file;
    size_t bytes;
    sigaction(SIGBUS, &action, NULL);
    sim_set("DEVICES", scenario->devices);
    tileblas_set_option("DEVICES", scenario->devices);
    tileblas_set_option("START", "wait");
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("COPY_THREADS", "8");
    tileblas_set_option("PINNED_MEMORY", "32"); /* slots of 2 MiB: more than a thread copies alone */
    known_product p = known_make(M, N, K, scenario->beta, 2, TB_MEMORY_HOST);
    put_into_file(&p, scenario->mapped, &file, &bytes);
    for (int call = 0; call < scenario->calls_before; call++) {
        known_fill_c(&p, KNOWN_BEFORE);
        known_multiply(&p);
        CHECK(known_errors(&p) == 0, "wrong from a file");
    }
    if (ftruncate(file, scenario->keeps_half ? (off_t)bytes / 2 : 0) != 0)
        abort();
    CHECK(multiply_and_jump(&p), "nobody jumped");
    if (scenario->mapped != TB_C) {
        known_fill_c(&p, KNOWN_FILLED);
        usleep(5000);
        CHECK(known_differ(&p, KNOWN_FILLED) == 0, "C was written after the jump");
    }
    const long launches = sim_operations("launch");
    CHECK(known_multiply_once(M, N, 10, 1, 2, TB_MEMORY_HOST) == 0, "wrong after the jump");
    CHECK(sim_operations("launch") > launches, "the device is used no more");
}

int main(void)
{
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        for (int trial = 0; trial < TRIALS; trial++) {
            const child_end end = child_run(run_trial, (void *)(uintptr_t)&scenarios[i], TRIAL_SECONDS);
            if (!CHECK(end == CHILD_RIGHT, "%s, trial %d: the process was %s", scenarios[i].name, trial,
                       child_end_text(end)))
                break;
        }
    return check_result();
}
