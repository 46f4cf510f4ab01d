/* bench/program N CALLS [WAKE [ELEMENT]]: a program as users have it, linked with OpenBLAS and not with
 * TileBLAS.
 *
 * CALLS products of N x N matrices, always the same three, and an ordinary exit. Prints the seconds that all
 * products took, the first one and the last one. WAKE is the size of a product that comes before, unless it
 * is 0; one of the size N follows it. ELEMENT is float, as without it, or double. bench/programs.py starts
 * this many times.
 */
#include "bench/operands.h"
#include "bench/timing.h"

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: program N CALLS [WAKE [ELEMENT]]\n");
        return 2;
    }
    const int n = atoi(argv[1]), calls = atoi(argv[2]), wake = argc > 3 ? atoi(argv[3]) : 0;
    const size_t elements = (size_t)n * (size_t)n;
    bench_choose_element(argc > 4 ? argv[4] : NULL);
    void *a = bench_make_matrix(elements, 1), *b = bench_make_matrix(elements, 2),
         *c = bench_make_matrix(elements, 3);
    if (wake > 0) {
        bench_wake(wake);
        bench_multiply(n, n, n, a, b, c);
    }
    const double start = tb_seconds();
    double first = 0, last = 0, before = start;
    for (int call = 0; call < calls; call++) {
        bench_multiply(n, n, n, a, b, c);
        const double now = tb_seconds();
        last = now - before;
        if (call == 0)
            first = last;
        before = now;
    }
    printf("%.9f %.9f %.9f\n", before - start, first, last);
    free(a);
    free(b);
    free(c);
    return 0;
}
