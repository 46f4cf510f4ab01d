/* Triangular products on the streamed route, of integers, so that they are exact: the triangle on either side of matrices of one
 * size, one after the other, whose cuts are not each other's; and, with little device memory, in blocks of which the last one is
 * lower than the others. Pages of a triangle that lie wholly beyond what is stored of it are not there.
 */
#include "tests/check.h"
#include "tests/sim/device_sim.h"
#include "tileblas.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void dtrmm_(const char *, const char *, const char *, const char *, const int *, const int *, const double *,
            const double *, const int *, double *, const int *);

enum { ROUNDS = 12, MOST = 420 };

static void fill(check_random *random, double *matrix, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        matrix[i] = (double)check_between(random, -9, 9);
}

/* Element (i, j) of a lower triangle times C, or of C times it. */
static double expected(const double *a, const double *c, int m, int n, bool left, int i, int j)
{
    double sum = 0;
    for (int l = left ? 0 : j; l < (left ? i + 1 : n); l++)
        sum += left ? a[i + (int64_t)l * m] * c[l + (int64_t)j * m]
                    : c[i + (int64_t)l * m] * a[l + (int64_t)j * n];
    return sum;
}

/* Whether the option leaves the device memory for the triangle, as it is stored and as it is multiplied, and for some of C. */
static bool has_room(int order)
{
    const char *mib = getenv("TILEBLAS_DEVICE_MEMORY");
    const double most = mib ? atof(mib) * (1 << 20) : 0;
    return most == 0 || 2.0 * sizeof(double) * order * order < 0.85 * most;
}

static void multiply(check_random *random, int m, int n, bool left)
{
    const int order = left ? m : n;
    const int64_t elements = (int64_t)m * n;
    const double one = 1;
    double *a = malloc(sizeof *a * (size_t)order * (size_t)order),
           *c = malloc(sizeof *c * (size_t)elements * 2), *before = c + elements;
    tileblas_statistics earlier, later;
    fill(random, a, (int64_t)order * order);
    fill(random, before, elements);
    tileblas_read_statistics(&earlier, sizeof earlier);
    memcpy(c, before, sizeof *c * (size_t)elements);
    dtrmm_(left ? "L" : "R", "L", "N", "N", &m, &n, &one, a, &order, c, &m);
    tileblas_read_statistics(&later, sizeof later);
    /* What the device cannot return the host computes, all of it or the rest, and nobody would know. */
    const double crossing = sizeof *c * (0.5 * order * (order + 1) + 2.0 * (double)elements);
    const bool streams = later.streamed.calls > earlier.streamed.calls;
    CHECK(streams || !has_room(order), "%d x %d, triangle on the %s: the host has computed it", m, n,
          left ? "left" : "right");
    CHECK(!streams || later.streamed.link_bytes - earlier.streamed.link_bytes >= crossing,
          "%d x %d, triangle on the %s: not all of C has come from the device", m, n,
          left ? "left" : "right");
    int64_t wrong = 0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            wrong += c[i + (int64_t)j * m] != expected(a, before, m, n, left, i, j);
    CHECK(wrong == 0, "%d x %d, triangle on the %s: %lld elements are wrong", m, n, left ? "left" : "right",
          (long long)wrong);
    free(a);
    free(c);
}

/* What is stored of a unit triangle in this column of it: without the diagonal. */
static bool is_stored(int order, bool lower, int row, int column)
{
    return row < order && (lower ? row > column : row < column);
}

/* A triangle of ones, each column of which begins a page, so that all but the other half and the diagonal can be closed; times
 * a column of ones. */
static void multiply_beside_closed_pages(bool lower, bool left, int order)
{
    enum { IN_PAGE = 4096 / sizeof(double) };
    const int ld = (order + IN_PAGE - 1) / IN_PAGE * IN_PAGE, elements = ld * order, columns = 1;
    const int m = left ? order : columns, n = left ? columns : order;
    const double one = 1;
    double *a = mmap(NULL, sizeof *a * (size_t)elements, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                     -1, 0),
           *c = malloc(sizeof *c * (size_t)order);
    for (int i = 0; i < elements; i++)
        a[i] = 1;
    for (int i = 0; i < order; i++)
        c[i] = 1;
    for (int page = 0; page < elements; page += IN_PAGE) {
        bool closed = true;
        for (int i = page; i < page + IN_PAGE; i++)
            closed = closed && !is_stored(order, lower, i % ld, i / ld);
        if (closed)
            mprotect(a + page, sizeof *a * IN_PAGE, PROT_NONE);
    }
    dtrmm_(left ? "L" : "R", lower ? "L" : "U", "N", "U", &m, &n, &one, a, &ld, c, &m);
    int wrong = 0;
    for (int i = 0; i < order; i++)
        wrong += c[i] != (lower == left ? i + 1 : order - i);
    CHECK(wrong == 0, "%s triangle of %d on the %s: %d elements are wrong", lower ? "lower" : "upper", order,
          left ? "left" : "right", wrong);
    munmap(a, sizeof *a * (size_t)elements);
    free(c);
}

/* The full slots of a band that takes all of them take so long over the link: longer than it takes to compute what they hold. */
enum { SLOT_BYTES = 128 << 10, SLOT_MICROSECONDS = 40000 };

static void carry_slowly(const void *source, size_t bytes)
{
    (void)source;
    if (bytes == SLOT_BYTES)
        usleep(SLOT_MICROSECONDS);
}

/* Each band takes all slots on its way back, and its last columns wait for a slot of the band before it. Bands come later than
 * they are computed, so that who brings the next one looks meanwhile whether one has come back. */
static void multiply_in_bands(check_random *random)
{
    sim_watch_copies(carry_slowly);
    multiply(random, 192, 1700, false);
    sim_watch_copies(NULL);
}

int main(int count, char **arguments)
{
    if (count > 1 && strcmp(arguments[1], "bands") == 0) {
        multiply_in_bands(&(check_random){.state = check_seed()});
        return check_result();
    }
    for (int form = 0; form < 4; form++)
        multiply_beside_closed_pages(form & 1, form & 2, 600);
    check_random random = {.state = check_seed()};
    multiply(&random, 130, 1800, false); /* bands that take all slots, where these are small */
    for (int round = 0; round < ROUNDS; round++) {
        const int size = (int)check_between(&random, 200, MOST / 2);
        for (int side = 0; side < 4; side++)
            multiply(&random, size, size, side % 2);
        multiply(&random, (int)check_between(&random, 200, MOST), (int)check_between(&random, 150, 290),
                 false);
    }
    return check_result();
}
