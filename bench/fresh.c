/* bench/fresh N reused|new reused|new SECONDS [WAKE [ELEMENT]]: products into memory that no one has touched
 * yet.
 *
 * The first word is for C. New memory comes from the kernel before the product and goes back to it behind the
 * product, both within the clock, as in A @ B of NumPy; but here it is mapped each time, where the heap may
 * hand out pages again. The second word is for A and B. New ones are copied from others outside the clock.
 * Prints the medians of the seconds of all that is timed and of the product alone, and the number of turns.
 * They go on for SECONDS. WAKE is the size of a product that comes before, unless it is 0; ELEMENT is float,
 * as without it, or double. bench/fresh.py starts this many times; bench/fresh_numpy.py is the same in NumPy.
 */
#include "bench/operands.h"
#include "bench/timing.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

enum { WARM_UPS = 2, TURNS_LEAST = 3, TURNS_MOST = 101 };

static void *map_matrix(size_t elements)
{
    void *matrix =
        mmap(NULL, bench_bytes(elements), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (matrix == MAP_FAILED) {
        fprintf(stderr, "fresh: out of memory\n");
        exit(1);
    }
    return matrix;
}

static void *copy_matrix(const void *from, size_t elements)
{
    void *copy = map_matrix(elements);
    memcpy(copy, from, bench_bytes(elements));
    return copy;
}

/* The seconds of one turn; *inside are those of the product alone. */
static double time_turn(int n, const void *a, const void *b, void *reused, double *inside)
{
    const size_t elements = (size_t)n * (size_t)n;
    const double start = tb_seconds();
    void *c = reused ? reused : map_matrix(elements);
    const double mapped = tb_seconds();
    bench_multiply(n, n, n, a, b, c);
    *inside = tb_seconds() - mapped;
    if (!reused)
        munmap(c, bench_bytes(elements));
    return tb_seconds() - start;
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: fresh N reused|new reused|new SECONDS [WAKE [ELEMENT]]\n");
        return 2;
    }
    const int n = atoi(argv[1]);
    const bool new_c = strcmp(argv[2], "new") == 0, new_operands = strcmp(argv[3], "new") == 0;
    const double limit = atof(argv[4]);
    const size_t elements = (size_t)n * (size_t)n;
    double all[TURNS_MOST], inside[TURNS_MOST], spent = 0;
    bench_choose_element(argc > 6 ? argv[6] : NULL);
    void *a = bench_make_matrix(elements, 1), *b = bench_make_matrix(elements, 2),
         *c = new_c ? NULL : bench_make_matrix(elements, 3);
    if (argc > 5 && atoi(argv[5]) > 0)
        bench_wake(atoi(argv[5]));
    int turns = 0;
    for (int turn = -WARM_UPS; turn < TURNS_MOST && (turn < TURNS_LEAST || spent < limit); turn++) {
        void *turn_a = new_operands ? copy_matrix(a, elements) : a,
             *turn_b = new_operands ? copy_matrix(b, elements) : b;
        double product;
        const double seconds = time_turn(n, turn_a, turn_b, c, &product);
        spent += seconds;
        if (turn >= 0) {
            all[turn] = seconds;
            inside[turn] = product;
            turns = turn + 1;
        }
        if (new_operands) {
            munmap(turn_a, bench_bytes(elements));
            munmap(turn_b, bench_bytes(elements));
        }
    }
    printf("%.9f %.9f %d\n", bench_median(all, (size_t)turns), bench_median(inside, (size_t)turns), turns);
    free(a);
    free(b);
    free(c);
    return 0;
}
