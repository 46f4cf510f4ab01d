/* Buffers are kept while calls follow one another, and given back when none has come for a while. Those with names keep what
 * is known of their contents for as long as these last. */
#include "include/tileblas.h"
#include "lib/process/clock.h"
#include "lib/device/memory.h"
#include "lib/machine/machine.h"
#include "tests/check.h"
#include "tests/sim/device_sim.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N = 300, LARGE = 700, PATIENCE_SECONDS = 60 };

void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                 int);

void cblas_cgemm(int, int, int, int, int, int, const void *, const void *, int, const void *, int,
                 const void *, void *, int);

void cblas_ssyr2k(int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                  int);
void cblas_sgemm_batch(int, const int *, const int *, const int *, const int *, const int *, const float *,
                       const float **, const int *, const float **, const int *, const float *, float **,
                       const int *, int, const int *);

static float a[N * LARGE], b[N * LARGE], c[LARGE * LARGE];

static void multiply_square(int n)
{
    cblas_sgemm(102, 111, 111, n, n, N, 1, a, n, b, N, 0, c, n);
    CHECK(c[n + 1] == N, "%g", (double)c[n + 1]);
}

static void multiply(void)
{
    multiply_square(N);
}

static void start(const char *keep_seconds)
{
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
    tileblas_set_option("KEEP_SECONDS", keep_seconds);
    for (int i = 0; i < N * LARGE; i++)
        a[i] = b[i] = 1;
    multiply();
}

static void what_was_used_is_kept(void)
{
    start("3600");
    long allocations = sim_operations("allocate") + sim_operations("pinned");
    sim_usage usage = sim_get_usage();
    CHECK(allocations > 0 && usage.device_bytes > 0 && usage.pinned_bytes > 0, "the device was not used");
    const long asked = sim_operations("memory"), launched = sim_operations("launch");
    multiply();
    CHECK(sim_operations("allocate") + sim_operations("pinned") == allocations, "allocated again");
    CHECK(sim_operations("memory") == asked, "asked again how much is free");
    const long once = sim_operations("launch") - launched;

    multiply_square(LARGE);
    const long again = sim_operations("memory");
    multiply();
    CHECK(sim_operations("memory") > again, "did not ask, although other memory is kept than before");
    multiply();
    const long launched_again = sim_operations("launch");
    tileblas_set_option("DEVICE_MEMORY", "1");
    multiply();
    CHECK(sim_operations("launch") > launched_again + once, "what is kept counts for more than the limit");
}

/* Operands lie on the device: beside them are taken a workspace for each of two terms, and addresses of matrices that are not
 * equally far apart. */
static void what_was_taken_beside_operands_is_kept(void)
{
    enum { K = 4000, MEMBERS = 3, SIDE = 16, ROUNDS = 4, NUMBERS = 2 * N * K };
    static const int order[MEMBERS] = {0, 2, 1}, none = 111, side = SIDE, members = MEMBERS;
    static const float one = 1, zero = 0;
    start("3600");
    float *operands = sim_allocate(TB_MEMORY_DEVICE, 0, NUMBERS * sizeof(float)), *matrices[MEMBERS];
    for (int i = 0; i < MEMBERS; i++)
        matrices[i] = operands + SIDE * SIDE * order[i];
    tileblas_set_option("ROUTE", "auto");
    long allocations = 0;
    for (int round = 0; round < ROUNDS; round++) {
        if (round == 1)
            allocations = sim_operations("allocate");
        tileblas_set_option("KERNEL", "sgemm_simt_32x32_4");
        cblas_ssyr2k(102, 122, 111, SIDE, K, 1, operands, SIDE, operands + SIDE * K, SIDE, 0,
                     operands + 2 * SIDE * K, SIDE);
        tileblas_set_option("KERNEL", "auto");
        cblas_sgemm_batch(102, &none, &none, &side, &side, &side, &one, (const float **)matrices, &side,
                          (const float **)matrices, &side, &zero, matrices, &side, 1, &members);
    }
    CHECK(sim_operations("allocate") == allocations, "%ld times allocated again",
          sim_operations("allocate") - allocations);
    sim_release(operands);
}

/* A cut is chosen for what crosses the link: that of the real product that a complex one is lowered to is not its own. */
static void cuts_are_not_taken_for_others(void)
{
    const float one[2] = {1, 0}, zero[2] = {0, 0};
    start("3600");
    multiply();
    const long asked = sim_operations("memory");
    cblas_cgemm(102, 111, 111, N / 2, N, N / 2, one, a, N / 2, b, N / 2, zero, c, N / 2);
    CHECK(sim_operations("memory") > asked, "a complex product is cut as a real one was");
    CHECK(c[0] == 0 && c[1] == N, "%g %g", (double)c[0], (double)c[1]);
}

static void what_nobody_uses_is_given_back(void)
{
    start("1");
    double end = tb_seconds() + PATIENCE_SECONDS;
    sim_usage usage;
    do {
        usleep(10000);
        usage = sim_get_usage();
    } while (usage.device_bytes + usage.pinned_bytes > 0 && tb_seconds() < end);
    CHECK(usage.device_bytes == 0 && usage.pinned_bytes == 0, "%zu and %zu bytes are kept",
          usage.device_bytes, usage.pinned_bytes);
    multiply();
}

/* ---- Names ------------------------------------------------------------------------------------------------ */

/* An eighth of the device holds NAMED_MOST of them. */
enum { NAMED = 12, NAMED_MOST = 8, NAMED_BYTES = 1 << 20 };
#define MEMORY_BYTES "67108864"

struct tb_notes {
    atomic_bool dropped;
};

static tb_notes notes[NAMED];
static uint64_t names[NAMED];

static void drop(tb_notes *notes)
{
    CHECK(!atomic_exchange(&notes->dropped, true), "dropped twice");
}

static size_t device_bytes(void)
{
    return tb_machine_device(0)->memory_bytes;
}

static void give_named(int first, int count)
{
    tb_buffer buffers[NAMED];
    for (int i = first; i < first + count; i++)
        CHECK(tb_take_buffer(0, NAMED_BYTES, &buffers[i]) == TB_OK, "no memory");
    for (int i = first; i < first + count; i++) {
        atomic_store(&notes[i].dropped, false);
        names[i] = tb_give_buffer_named(&buffers[i], device_bytes(), &notes[i], drop);
    }
}

static bool is_there(int i)
{
    tb_buffer buffer;
    tb_notes *of_buffer;
    const bool there = tb_take_buffer_named(names[i], &buffer, &of_buffer);
    CHECK(there == !notes[i].dropped && (!there || of_buffer == &notes[i]), "buffer %d has not its notes", i);
    if (there)
        names[i] = tb_give_buffer_named(&buffer, device_bytes(), of_buffer, drop);
    return there;
}

static void names_are_few(void)
{
    give_named(0, NAMED);
    for (int i = 0; i < NAMED; i++)
        CHECK(is_there(i) == (i >= NAMED - NAMED_MOST), "buffer %d of %d", i, NAMED);
    /* Those that have lost their names are taken first. */
    tb_buffer others[NAMED - NAMED_MOST + 1];
    const long allocations = sim_operations("allocate");
    for (int i = 0; i < NAMED - NAMED_MOST; i++)
        tb_take_buffer(0, NAMED_BYTES, &others[i]);
    CHECK(sim_operations("allocate") == allocations, "nobody may have what has no name");
    tb_take_buffer(0, NAMED_BYTES, &others[NAMED - NAMED_MOST]);
    CHECK(sim_operations("allocate") == allocations + 1, "another one's contents were taken");
    for (int i = 0; i <= NAMED - NAMED_MOST; i++)
        tb_give_buffer(&others[i]);
    CHECK(is_there(NAMED - 1), "its contents are gone");
}

static void what_is_forgotten_is_free(void)
{
    const long allocations = sim_operations("allocate");
    tb_forget_buffer_name(names[NAMED - 1]);
    CHECK(notes[NAMED - 1].dropped && !is_there(NAMED - 1), "it is still there");
    CHECK(is_there(NAMED - 2), "another one was forgotten");
    CHECK(sim_operations("allocate") == allocations, "allocated");
}

/* Contents are dropped where there is no other memory, and where nothing is kept. */
static void notes_go_with_contents(void)
{
    tb_buffer all;
    CHECK(tb_take_buffer(0, (size_t)atol(MEMORY_BYTES) - NAMED_BYTES, &all) == TB_OK, "no memory");
    CHECK(!is_there(NAMED - 2) && notes[NAMED - 2].dropped, "its memory was taken");
    tb_give_buffer(&all);
    tileblas_set_option("KEEP_SECONDS", "0");
    give_named(0, 1);
    CHECK(notes[0].dropped && !is_there(0), "it is kept");
}

static void notes_expire(void)
{
    start("1");
    give_named(0, 1);
    CHECK(!notes[0].dropped, "it is not kept");
    for (double end = tb_seconds() + PATIENCE_SECONDS; !notes[0].dropped && tb_seconds() < end;)
        usleep(10000);
    CHECK(notes[0].dropped, "what is known of it stays for ever");
}

static void buffers_have_names(void)
{
    sim_set("MEMORY", MEMORY_BYTES);
    start("3600");
    names_are_few();
    what_is_forgotten_is_free();
    notes_go_with_contents();
}

/* ---- Pinned memory that cannot be had --------------------------------------------------------------------- */

/* The linker puts it in front of the real one: time can be made to pass. */
static _Atomic(time_t) seconds_ahead;

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    const int status = __real_clock_gettime(clock, now);
    now->tv_sec += atomic_load(&seconds_ahead);
    return status;
}

static void refusals_are_remembered(void)
{
    enum { CALLS = 10, LINES = 120, LONG_SECONDS = 60 };
    static char script[LINES * 24];
    for (int i = 0, length = 0; i < LINES; i++)
        length += sprintf(script + length, "%spinned:%d=memory", i > 0 ? "," : "", i + 1);
    sim_set("FAIL", script);
    start("3600");
    for (int i = 0; i < CALLS; i++)
        multiply();
    CHECK(sim_operations("pinned") == 1, "%ld attempts in %d calls", sim_operations("pinned"), CALLS + 1);
    tb_buffer buffer;
    CHECK(tb_take_buffer(0, (size_t)64 << 20, &buffer) == TB_OK, "memory of the device is refused, too");
    tb_give_buffer(&buffer);
    atomic_store(&seconds_ahead, LONG_SECONDS);
    multiply();
    CHECK(sim_operations("pinned") == 2, "not tried again after %d seconds", LONG_SECONDS);
    sim_set("FAIL", "");
    CHECK(tb_take_buffer(TB_PINNED, (size_t)64 << 20, &buffer) == TB_OUT_OF_MEMORY &&
              sim_operations("pinned") == 0,
          "more than what was refused is asked for");
    CHECK(tb_take_buffer(TB_PINNED, 1, &buffer) == TB_OK, "less than what was refused is refused, too");
    tb_give_buffer(&buffer);
}

static void in_a_process_of_its_own(void (*statement)(void))
{
    const pid_t child = fork();
    if (child == 0) {
        statement();
        exit(check_result());
    }
    int status;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS, "the process ended with %d", status);
}

int main(void)
{
    in_a_process_of_its_own(what_was_used_is_kept);
    in_a_process_of_its_own(what_was_taken_beside_operands_is_kept);
    in_a_process_of_its_own(cuts_are_not_taken_for_others);
    in_a_process_of_its_own(buffers_have_names);
    in_a_process_of_its_own(notes_expire);
    in_a_process_of_its_own(refusals_are_remembered);
    what_nobody_uses_is_given_back();
    return check_result();
}
