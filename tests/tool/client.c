/* A program that knows nothing of TileBLAS. Its arguments are done one after the other:
 *
 *   calls N        N products of 128 x 128 matrices
 *   threads N      the same from 4 threads at once, N each
 *   children N     in 3 forked children, N each, which end by exit
 *   open PATH      opens the library RTLD_DEEPBIND and lets its function `work` make a call
 *   environment X  prints the variable
 *   copy           standard input to standard output
 *   term           waits for SIGTERM, for 10 s at most, and says so
 *   raise N        the signal
 *   exit N, _exit N
 *
 * Built against a BLAS in single precision (CLIENT_SINGLE), in double (CLIENT_DOUBLE), or none. As a library
 * (CLIENT_WORK) it is what `open` opens.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 128, THREADS = 4, CHILDREN = 3 };

void cblas_sgemm(int layout, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
void cblas_dgemm(int layout, int transpose_a, int transpose_b, int m, int n, int k, double alpha,
                 const double *a, int lda, const double *b, int ldb, double beta, double *c, int ldc);

static void *make_calls(void *count)
{
#if defined(CLIENT_SINGLE)
    float *matrices = calloc(3 * SIZE * SIZE, sizeof *matrices);
    for (int i = 0; i < *(int *)count; i++)
        cblas_sgemm(102, 111, 111, SIZE, SIZE, SIZE, 1, matrices, SIZE, matrices + SIZE * SIZE, SIZE, 0,
                    matrices + 2 * SIZE * SIZE, SIZE);
    free(matrices);
#elif defined(CLIENT_DOUBLE)
    double matrices[3] = {1, 2, 0};
    for (int i = 0; i < *(int *)count; i++)
        cblas_dgemm(102, 111, 111, 1, 1, 1, 1, matrices, 1, matrices + 1, 1, 0, matrices + 2, 1);
#endif
    return count;
}

#ifdef CLIENT_WORK
void work(void)
{
    make_calls(&(int){1});
}
#else

static volatile sig_atomic_t terminated;

static void note(int signal)
{
    terminated = signal;
}

static void in_threads(int count)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, make_calls, &count);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void in_children(int count)
{
    for (int i = 0; i < CHILDREN; i++)
        if (fork() == 0) {
            make_calls(&count);
            exit(EXIT_SUCCESS);
        }
    while (wait(NULL) > 0)
        ;
}

static void open_and_work(const char *path)
{
    union {
        void *address;
        void (*call)(void);
    } function = {NULL};
    void *library = dlopen(path, RTLD_NOW | RTLD_DEEPBIND);
    if (!library || !(function.address = dlsym(library, "work"))) {
        fprintf(stderr, "%s\n", dlerror());
        exit(EXIT_FAILURE);
    }
    function.call();
}

static void copy_input(void)
{
    for (int c; (c = getchar()) != EOF;)
        putchar(c);
}

static void wait_for_term(void)
{
    signal(SIGTERM, note);
    puts("ready");
    fflush(stdout);
    for (int i = 0; i < 1000 && !terminated; i++)
        usleep(10000);
    puts(terminated ? "terminated" : "not terminated");
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *action = argv[i];
        if (strcmp(action, "copy") == 0) {
            copy_input();
            continue;
        }
        if (strcmp(action, "term") == 0) {
            wait_for_term();
            continue;
        }
        const char *word = argv[++i];
        int number = word ? atoi(word) : 0;
        if (strcmp(action, "calls") == 0)
            make_calls(&number);
        else if (strcmp(action, "threads") == 0)
            in_threads(number);
        else if (strcmp(action, "children") == 0)
            in_children(number);
        else if (strcmp(action, "open") == 0 && word)
            open_and_work(word);
        else if (strcmp(action, "environment") == 0 && word)
            puts(getenv(word) ? getenv(word) : "");
        else if (strcmp(action, "raise") == 0)
            raise(number);
        else if (strcmp(action, "exit") == 0)
            exit(number);
        else if (strcmp(action, "_exit") == 0)
            _exit(number);
        fflush(stdout);
    }
    return EXIT_SUCCESS;
}
#endif
