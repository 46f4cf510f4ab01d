/* A plug-in's life: TileBLAS is opened, used, closed and opened again, with a fork after each closing; the process then
 * ends as any other. What runs at a fork, at the end or on a thread of its own must not be left behind unmapped.
 *
 * usage: opened LIBRARY
 */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void sgemm(const char *transpose_a, const char *transpose_b, const int *m, const int *n, const int *k,
                   const float *alpha, const float *a, const int *lda, const float *b, const int *ldb,
                   const float *beta, float *c, const int *ldc);

enum { SIZE = 100, ROUNDS = 3 };

static int multiply(sgemm *function)
{
    static float a[SIZE * SIZE], b[SIZE * SIZE], c[SIZE * SIZE];
    int wrong = 0;
    for (int i = 0; i < SIZE * SIZE; i++) {
        a[i] = (float)(i % 7 - 3);
        b[i] = (float)(i % 5 - 2);
    }
    function("N", "N", &(int){SIZE}, &(int){SIZE}, &(int){SIZE}, &(float){1}, a, &(int){SIZE}, b,
             &(int){SIZE}, &(float){0}, c, &(int){SIZE});
    for (int j = 0; j < SIZE; j++)
        for (int i = 0; i < SIZE; i++) {
            float exact = 0;
            for (int l = 0; l < SIZE; l++)
                exact += a[l * SIZE + i] * b[j * SIZE + l];
            wrong += c[j * SIZE + i] != exact;
        }
    return wrong;
}

int main(int argc, char **argv)
{
    for (int round = 0; round < ROUNDS; round++) {
        void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
        sgemm *function;
        if (!library || !(*(void **)&function = dlsym(library, "sgemm_"))) {
            printf("%s\n", dlerror());
            return 2;
        }
        int wrong = multiply(function);
        if (wrong || dlclose(library) != 0) {
            printf("round %d: %d entries are wrong\n", round, wrong);
            return 1;
        }
        int status;
        pid_t child = fork();
        if (child == 0)
            return 0;
        if (waitpid(child, &status, 0) != child || status != 0) {
            printf("round %d: the child ended with %d\n", round, status);
            return 1;
        }
    }
    printf("products are right, and all is closed\n");
    return 0;
}
