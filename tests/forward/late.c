/* A program linked with a TileBLAS, whose first calls come when no file can be opened any more:
 *
 *   late descriptors    there is none left
 *   late chroot         the root directory is an empty one; skipped where that is not permitted
 *   late HOW alone      besides, the machine's BLAS has not been loaded, as the program has one
 *
 * The machine's BLAS answers, as it would have if the program had been linked with it. Built with LATE_LAPACK
 * for the library that has LAPACK's names.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void sgemm_(const char *, const char *, const int *, const int *, const int *, const float *, const float *,
            const int *, const float *, const int *, const float *, float *, const int *, size_t, size_t);
void daxpy_(const int *, const double *, const double *, const int *, double *, const int *);
void dgesv_(const int *, const int *, double *, const int *, int *, double *, const int *, int *);

static int leave_files(const char *how)
{
    char folder[] = "/tmp/late.XXXXXX";
    if (strcmp(how, "descriptors") == 0) {
        while (open("/dev/null", O_RDONLY) >= 0)
            continue;
        return 0;
    }
    /* It is gone from where it was before anything can end the program, and stays empty. */
    if (!mkdtemp(folder) || chdir(folder) != 0 || rmdir(folder) != 0 || chroot(".") != 0)
        return puts("skipped: chroot is not permitted"), 77;
    return 0;
}

int main(int argc, char **argv)
{
    const int left = argc >= 2 ? leave_files(argv[1]) : 2;
    if (left != 0)
        return left;
    if (argc > 2 && dlopen("libopenblas.so.0", RTLD_LAZY | RTLD_NOLOAD))
        return fputs("the machine's BLAS was loaded\n", stderr), 1;
    const int n = 2, one = 1;
    const double alpha = 2, x[2] = {1, 2};
    double y[2] = {1, 1};
    const float two = 2, zero = 0, a[4] = {1, 1, 1, 1};
    float c[4] = {0};
    daxpy_(&n, &alpha, x, &one, y, &one);
    sgemm_("N", "N", &n, &n, &n, &two, a, &n, a, &n, &zero, c, &n, 1, 1);
    const int is_hosts = c[0] == 1, is_right = c[3] == 4;
    if (y[0] != 3 || y[1] != 5 || !is_hosts || !is_right)
        return fprintf(stderr, "y %g %g, c %g %g\n", y[0], y[1], (double)c[0], (double)c[3]), 1;
#ifdef LATE_LAPACK
    double matrix[4] = {1, 0, 0, 1};
    int pivots[2], info = -1;
    dgesv_(&n, &one, matrix, &n, pivots, y, &n, &info);
    if (info != 0 || y[0] != 42)
        return fprintf(stderr, "info %d, y %g\n", info, y[0]), 1;
#endif
    return 0;
}
