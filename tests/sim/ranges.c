/* A profiler sees every call that is looked at as a range of the calling thread, by routine, shape and route; where none is
 * there nothing is opened.
 *
 *   ranges listening PROFILER    names, routes, threads, a failure
 *   ranges left PROFILER         callers that leave in the middle
 *   ranges alone PROFILER        with no profiler
 *   ranges broken PROFILER       with one that cannot be loaded
 */
#include "include/tileblas.h"
#include "tests/check.h"
#include "tests/sim/known_product.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#define VARIABLE "NVTX_INJECTION64_PATH"

/* ---- What the profiler saw ---------------------------------------------------------------------------------- */

static int (*profiler_opened)(void);
static int (*profiler_open_now)(void);
static const char *(*profiler_name)(int number);

static bool find_profiler(const char *path)
{
    void *profiler = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (!profiler)
        return false;
    *(void **)&profiler_opened = dlsym(profiler, "profiler_opened");
    *(void **)&profiler_open_now = dlsym(profiler, "profiler_open_now");
    *(void **)&profiler_name = dlsym(profiler, "profiler_name");
    return profiler_opened && profiler_open_now && profiler_name;
}

static int seen;

static void check_new_ranges(const char *const *names, int count)
{
    CHECK(profiler_opened() == seen + count, "%d ranges were opened, not %d", profiler_opened() - seen,
          count);
    for (int i = 0; i < count; i++)
        CHECK(strcmp(profiler_name(seen + i), names[i]) == 0, "a range is '%s', not '%s'",
              profiler_name(seen + i), names[i]);
    CHECK(profiler_open_now() == 0, "%d ranges are open", profiler_open_now());
    seen = profiler_opened();
}

/* ---- Calls -------------------------------------------------------------------------------------------------- */

static void multiply(int m, int n, int k, bool of_doubles, tb_memory memory)
{
    known_product p = {.m = m, .n = n, .k = k, .factor = 1, .memory = memory, .of_doubles = of_doubles};
    known_place(&p);
    known_multiply(&p);
    CHECK(known_errors(&p) == 0, "%d elements are wrong", known_errors(&p));
    known_free(&p);
}

static void multiply_batch(void)
{
    enum { N = 32, COUNT = 3 };
    known_product products[COUNT];
    const void *a[COUNT], *b[COUNT];
    void *c[COUNT];
    const int n = N, none = 111;
    const double one = 1, zero = 0;
    extern void cblas_dgemm_batch(int, const int *, const int *, const int *, const int *, const int *,
                                  const double *, const void **, const int *, const void **, const int *,
                                  const double *, void **, const int *, int, const int *);
    for (int i = 0; i < COUNT; i++) {
        products[i] = (known_product){
            .m = N, .n = N, .k = N, .factor = 1, .memory = TB_MEMORY_DEVICE, .of_doubles = true};
        known_place(&products[i]);
        a[i] = products[i].a, b[i] = products[i].b, c[i] = products[i].c;
    }
    cblas_dgemm_batch(102, &none, &none, &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n, 1, &(int){COUNT});
    for (int i = 0; i < COUNT; i++) {
        CHECK(known_errors(&products[i]) == 0, "%d elements are wrong", known_errors(&products[i]));
        known_free(&products[i]);
    }
}

static sigjmp_buf before_call;

static void jump(int signal)
{
    siglongjmp(before_call, signal);
}

/* Whether a call was left while the device was multiplying. */
static bool leave_a_call(void)
{
    sigset_t alarm;
    const struct itimerval soon = {.it_value = {.tv_usec = 3000}}, never = {0};
    known_product p = known_make(300, 300, 300, 0, 1, TB_MEMORY_HOST);
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    if (sigsetjmp(before_call, 1) != 0)
        return true; /* the device may be at work on the matrices: they stay */
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = jump}, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
    known_multiply(&p);
    setitimer(ITIMER_REAL, &never, NULL);
    known_free(&p);
    return false;
}

static void *multiply_twice(void *name)
{
    (void)name;
    for (int call = 0; call < 2; call++)
        multiply(50, 60, 70, true, TB_MEMORY_HOST);
    CHECK(profiler_open_now() == 0, "%d ranges of a thread are open", profiler_open_now());
    return NULL;
}

/* ---- With a profiler, and without --------------------------------------------------------------------------- */

static void listening(const char *path)
{
    setenv(VARIABLE, path, 1);
    multiply(90, 80, 70, true, TB_MEMORY_HOST);
    if (!CHECK(find_profiler(path), "the profiler was not loaded"))
        return;
    check_new_ranges((const char *[]){"dgemm 90x80x70 streamed"}, 1);
    tileblas_set_option("ROUTE", "auto");
    multiply(40, 50, 60, false, TB_MEMORY_DEVICE);
    check_new_ranges((const char *[]){"sgemm 40x50x60 resident"}, 1);
    multiply_batch();
    check_new_ranges((const char *[]){"dgemm_batch 3 of 32x32x32 resident"}, 1);
    tileblas_set_option("ROUTE", "host");
    multiply(40, 50, 61, true, TB_MEMORY_HOST);
    check_new_ranges((const char *[]){"dgemm 40x50x61 host"}, 1);
    tileblas_set_option("ROUTE", "streamed");

    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, multiply_twice, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    const char *const same = "dgemm 50x60x70 streamed";
    check_new_ranges((const char *[]){same, same, same, same}, 4);

    /* One that the device declines is the host's afterwards. */
    sim_set("FAIL", "launch:1=lost");
    multiply(91, 81, 71, true, TB_MEMORY_HOST);
    check_new_ranges((const char *[]){"dgemm 91x81x71 streamed", "dgemm 91x81x71 host"}, 2);
}

static void left(const char *path)
{
    setenv(VARIABLE, path, 1);
    multiply(90, 80, 70, true, TB_MEMORY_HOST);
    if (!CHECK(find_profiler(path), "the profiler was not loaded"))
        return;
    bool was_left = false;
    for (int trial = 0; trial < 100 && !was_left; trial++)
        was_left = leave_a_call();
    CHECK(was_left, "no call was left");
    CHECK(profiler_open_now() == 0, "after a jump %d ranges are open", profiler_open_now());
}

static void alone(const char *path)
{
    unsetenv(VARIABLE);
    multiply(90, 80, 70, true, TB_MEMORY_HOST);
    setenv(VARIABLE, path, 1); /* too late: it has been looked for */
    multiply(90, 80, 70, true, TB_MEMORY_HOST);
    CHECK(!find_profiler(path), "a profiler was loaded");
}

static void broken(const char *path)
{
    setenv(VARIABLE, "/nonexistent/profiler.so", 1);
    for (int call = 0; call < 2; call++)
        multiply(90, 80, 70, true, TB_MEMORY_HOST);
    CHECK(!find_profiler(path), "a profiler was loaded");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(const char *profiler);
    } modes[] = {{"listening", listening}, {"left", left}, {"alone", alone}, {"broken", broken}};
    for (size_t i = 0; argc == 3 && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(argv[1], modes[i].name) == 0)
            modes[i].run(argv[2]);
    return check_result();
}
