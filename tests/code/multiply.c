/* multiply [LIBRARY]: one product through the library, or, without, through the preloaded one; from another folder than the one
 * that it was loaded in. Integers are as wide as in any library: those of 32 bits take the lower half.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { N = 64, ROW_MAJOR = 101, NO_TRANSPOSE = 111 };

static float a[N * N], b[N * N], c[N * N];

int main(int argc, char **argv)
{
    union {
        void *address;
        void (*call)(int, int, int, int64_t, int64_t, int64_t, float, const float *, int64_t, const float *,
                     int64_t, float, float *, int64_t);
    } sgemm;
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : RTLD_DEFAULT;
    if ((argc > 1 && !library) || !(sgemm.address = dlsym(library, "cblas_sgemm")) || chdir("/") != 0) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    for (int i = 0; i < N * N; i++) {
        a[i] = (float)(i % 7);
        b[i] = (float)(i % 5);
        c[i] = -1;
    }
    sgemm.call(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, N, N, N, 1, a, N, b, N, 0, c, N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[i * N + k] * b[k * N + j];
            if (c[i * N + j] != sum) {
                fprintf(stderr, "C[%d, %d] is %g, not %g\n", i, j, (double)c[i * N + j], (double)sum);
                return 1;
            }
        }
    return 0;
}
