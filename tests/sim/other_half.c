/* The triangle of a C that is not written: its pages, of a C that has just been allocated, are not touched,
 * as they would take memory, and may not even be there.
 */
#include "include/tileblas.h"
#include "tests/check.h"
#include "tests/sim/device_sim.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void cblas_dsyrk(int, int, int, int, int, double, const double *, int, double, double *, int);
void cblas_zherk(int, int, int, int, int, double, const void *, int, double, void *, int);

enum { N = 1024, K = 8, ROW_MAJOR = 101, COLUMN_MAJOR, NO_TRANSPOSE = 111, UPPER = 121, LOWER };

typedef struct triangle {
    bool is_complex, upper;
    char *c;
    size_t element, bytes;
} triangle;

/* Multiplies in column-major order. */
static void multiply(const triangle *t, const double *a, double beta)
{
    if (t->is_complex)
        cblas_zherk(COLUMN_MAJOR, t->upper ? UPPER : LOWER, NO_TRANSPOSE, N, K, 1, a, N, beta, t->c, N);
    else
        cblas_dsyrk(COLUMN_MAJOR, t->upper ? UPPER : LOWER, NO_TRANSPOSE, N, K, 1, a, N, beta,
                    (double *)(void *)t->c, N);
}

/* A column has whole pages. */
static bool is_written(const triangle *t, size_t at, size_t page)
{
    const size_t column_bytes = N * t->element, column = at / column_bytes,
                 first = at % column_bytes / t->element, last = first + page / t->element - 1;
    return t->upper ? first <= column : last >= column;
}

static size_t count_touched(const triangle *t, size_t page)
{
    unsigned char *present = malloc(t->bytes / page);
    size_t count = 0;
    if (!present || mincore(t->c, t->bytes, present) != 0)
        abort();
    for (size_t i = 0; i < t->bytes / page; i++)
        count += (present[i] & 1) && !is_written(t, i * page, page);
    free(present);
    return count;
}

static void take_away_other_half(const triangle *t, size_t page)
{
    for (size_t at = 0; at < t->bytes; at += page)
        if (!is_written(t, at, page) && mprotect(t->c + at, page, PROT_NONE) != 0)
            abort();
}

static void the_other_half_is_left_alone(bool is_complex, bool upper, const double *a)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), element = (is_complex ? 2 : 1) * sizeof(double);
    triangle t = {is_complex, upper, NULL, element, N * N * element};
    t.c = mmap(NULL, t.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (t.c == MAP_FAILED)
        abort();
    madvise(t.c, t.bytes, MADV_NOHUGEPAGE);
    multiply(&t, a, 0);
    const size_t touched = count_touched(&t, page);
    CHECK(touched == 0, "%s, %s: %zu pages of the other triangle were touched",
          is_complex ? "ZHERK" : "DSYRK", upper ? "upper" : "lower", touched);
    take_away_other_half(&t, page);
    multiply(&t, a, 1);
    CHECK(*(double *)(void *)t.c == 2 * K * (is_complex ? 2 : 1), "wrong");
    munmap(t.c, t.bytes);
}

int main(void)
{
    double *a = malloc(2 * N * K * sizeof *a);
    if (N * sizeof *a % (size_t)sysconf(_SC_PAGESIZE) != 0)
        SKIP("a page is longer than a column");
    tileblas_set_option("START", "wait");
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("COPY_THREADS", "4");
    for (int i = 0; a && i < 2 * N * K; i++)
        a[i] = 1;
    for (int i = 0; a && i < 4; i++)
        the_other_half_is_left_alone(i / 2, i % 2, a);
    CHECK(sim_operations("launch") > 0, "no device was used");
    free(a);
    return check_result();
}
