/* Names that no library has. A call for a computation ends the program just as the dynamic linker ends one that calls an
 * undefined symbol: the same line, the same status, no exit handler, nothing flushed. Calls that control a library or
 * report an error go on: each such name is said once, whoever calls it and how often, and its calls return zero.
 */
#include "tests/check.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int idamax_(int a, int b, int c, int d, int e, int f);
long LAPACKE_dlange(long a, double b);
float cblas_sdot(float x, float y);
void caxpby_(void);
void cblas_zaxpby(void);
int openblas_get_num_threads(void);
int goto_get_num_procs(void);
char *openblas_get_config(void);
void LAPACKE_xerbla(const char *routine, int number);
void xerbla_(const char *routine, const int *number, size_t length);
void cblas_xerbla(int number, const char *routine, const char *format, ...);
void sgemm_(const char *transpose_a, const char *transpose_b, const int *m, const int *n, const int *k,
            const float *alpha, const float *a, const int *lda, const float *b, const int *ldb,
            const float *beta, float *c, const int *ldc);

/* missing_caller.c */
void call_name_that_nobody_defines(void);
void call_name_that_nobody_answers(void);

enum { THREADS = 4, STATUS = 127, LENGTH = 4096 };

/* ---- Computations ------------------------------------------------------------------------------------------ */

static void call_idamax(void)
{
    idamax_(1, 2, 3, 4, 5, 6);
}

static void call_lapacke(void)
{
    LAPACKE_dlange(-1, 2);
}

static void call_sdot(void)
{
    cblas_sdot(1, 2);
}

static void *call_in_thread(void *unused)
{
    caxpby_();
    return unused;
}

static void call_in_threads(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, call_in_thread, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void tell_exit(void)
{
    static const char line[] = "an exit handler has run\n";
    ssize_t written = write(STDERR_FILENO, line, sizeof line - 1);
    (void)written;
}

/* What a child prints, to either stream, that makes the call. */
static int run_child(void (*make_call)(void), char *printed)
{
    int ends[2];
    if (pipe(ends) != 0)
        return -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        atexit(tell_exit);
#if !defined __SANITIZE_THREAD__ /* its _exit flushes */
        printf("never flushed\n");
#endif
        make_call();
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t count;
    while ((count = read(ends[0], printed + length, LENGTH - 1 - length)) > 0)
        length += (size_t)count;
    printed[length] = '\0';
    close(ends[0]);
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void check_end(void (*make_call)(void), const char *name)
{
    char printed[LENGTH], line[LENGTH];
    int status = run_child(make_call, printed);
    snprintf(line, sizeof line, "%s: symbol lookup error: %s: undefined symbol: %s\n",
             program_invocation_name, program_invocation_name, name);
    CHECK(status == STATUS, "%s: status %d", name, status);
    /* Several threads may end the program at a time. */
    CHECK(strncmp(printed, line, strlen(line)) == 0, "%s: this was said: %s", name, printed);
    if (make_call != call_in_threads)
        CHECK(strcmp(printed, line) == 0, "%s: this was said besides: %s", name, printed);
}

/* A library makes a call of either kind: only the name differs. */
static void check_against_the_linker(void)
{
    static const char undefined[] = "name_that_nobody_defines", missing[] = "idamin_";
    char by_linker[LENGTH], by_us[LENGTH];
    int linkers = run_child(call_name_that_nobody_defines, by_linker);
    int ours = run_child(call_name_that_nobody_answers, by_us);
    CHECK(linkers == STATUS && ours == linkers, "status %d instead of %d", ours, linkers);
    char *linkers_name = strstr(by_linker, undefined), *our_name = strstr(by_us, missing);
    if (!CHECK(linkers_name && our_name, "instead of '%s' '%s'", by_linker, by_us))
        return;
    CHECK(strcmp(linkers_name + strlen(undefined), "\n") == 0 &&
              strcmp(our_name + strlen(missing), "\n") == 0,
          "instead of '%s' '%s'", by_linker, by_us);
    *linkers_name = *our_name = '\0';
    CHECK(strcmp(by_linker, by_us) == 0, "instead of '%s' '%s'", by_linker, by_us);
}

/* ---- Control and errors ---------------------------------------------------------------------------------------- */

static void *control(void *unused)
{
    for (int round = 0; round < 3; round++) {
        CHECK(openblas_get_num_threads() == 0, "an int");
        CHECK(goto_get_num_procs() == 0, "an int");
        CHECK(!openblas_get_config(), "a pointer");
        LAPACKE_xerbla("LAPACKE_dlange", -1);
    }
    return unused;
}

static void make_irregular_calls(void)
{
    const int number = 7, m = 4, n = 3, k = 2, lda = 3;
    const float one = 1, matrix[16] = {0};
    float result[16] = {0};
    xerbla_("DTRSM ", &number, 6);
    xerbla_("DGEMMDGEMV", &number, 5);
    cblas_xerbla(number, "cblas_dtrsm", "%d", 1);
    sgemm_("N", "N", &m, &n, &k, &one, matrix, &lda, matrix, &k, &one, result, &m);
}

static const char *const expected[] = {
    "tileblas: openblas_get_num_threads: no library here has it; the call does nothing\n",
    "tileblas: goto_get_num_procs: no library here has it; the call does nothing\n",
    "tileblas: openblas_get_config: no library here has it; the call does nothing\n",
    "tileblas: LAPACKE_xerbla: no library here has it; the call does nothing\n",
    "tileblas: DTRSM: argument 7 is irregular; the call does nothing\n",
    "tileblas: DGEMM: argument 7 is irregular; the call does nothing\n",
    "tileblas: cblas_dtrsm: argument 7 is irregular; the call does nothing\n",
    "tileblas: TILEBLAS_HOST_BLAS: no usable sgemm_ in /nonexistent\n",
    "tileblas: SGEMM: argument 8 is irregular; the call does nothing\n",
};
enum { EXPECTED = sizeof expected / sizeof *expected };

static void check_calls_that_go_on(void)
{
    FILE *lines = tmpfile();
    int kept_stderr = dup(STDERR_FILENO);
    dup2(fileno(lines), STDERR_FILENO);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, control, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    make_irregular_calls();
    dup2(kept_stderr, STDERR_FILENO);

    char line[1024];
    int count[EXPECTED] = {0};
    rewind(lines);
    while (fgets(line, sizeof line, lines)) {
        int i = 0;
        while (i < EXPECTED && strcmp(line, expected[i]) != 0)
            i++;
        if (CHECK(i < EXPECTED, "this was said besides: %s", line))
            count[i]++;
    }
    for (int i = 0; i < EXPECTED; i++)
        CHECK(count[i] == 1, "said %d times: %s", count[i], expected[i]);
}

int main(void)
{
    check_end(call_idamax, "idamax_");
    check_end(call_lapacke, "LAPACKE_dlange");
    check_end(call_sdot, "cblas_sdot");
    check_end(cblas_zaxpby, "cblas_zaxpby");
    check_end(call_in_threads, "caxpby_");
    check_against_the_linker();
    check_calls_that_go_on();
    return check_result();
}
