/* A thread that writes into an operand while a call reads it gets what it deserves from that call, and from that call alone:
 * when the operand is as it was, later calls are right. The writer's moment is chosen: an element changes after it has been
 * read so many times, or just before the link reads it, and is put back when the call has returned.
 */
#include "include/tileblas.h"
#include "tests/check.h"
#include "tests/oracle.h"
#include "tests/sim/device_sim.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A column of A is a piece of 4 KiB that has a fingerprint, and lies in the second half of one page and the first of the
 * next. Slots of 128 KiB hold 32 columns, which the calling thread copies alone. */
enum { PAGE = 4096, M = 1024, N = 520, K = 64, PAGES = K + 1, READINGS = 4 };
#define PINNED_MIB "1"

/* The element: in the first page of this column, of which no sample is taken. The other one is in the same slot. */
enum { COLUMN = 9, OTHER_COLUMN = 3 };
#define CHANGED 1000.0f

void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                 int);

static check_random generator;
static product p;
static float *a; /* where the library reads A */

static float *element(float *start, int column)
{
    return start + (size_t)column * M;
}

/* ---- The moment ------------------------------------------------------------------------------------------- */

/* Ordinary memory is mapped twice, and the test writes into the second mapping. Of the column's two pages one is closed: to
 * read the second is to have read the first. */
static char *pages, *pages_to_write;
static atomic_int readings; /* of the column's first page, until which it changes; 0: never */

static void protect(int page, int protection)
{
    mprotect(pages + (size_t)page * PAGE, PAGE, protection);
}

static float *written(void)
{
    return (float *)(void *)(pages_to_write + PAGE / 2);
}

static void open_page(int number, siginfo_t *info, void *unused)
{
    (void)number, (void)unused;
    const long page = ((char *)info->si_addr - pages) / PAGE;
    if (page != COLUMN && page != COLUMN + 1) {
        signal(SIGSEGV, SIG_DFL);
        return;
    }
    protect((int)page, PROT_READ);
    protect(page == COLUMN ? COLUMN + 1 : COLUMN, PROT_NONE);
    if (page == COLUMN + 1 && atomic_fetch_sub(&readings, 1) == 1)
        *element(written(), COLUMN) = CHANGED;
}

static void map_twice(void)
{
    const int file = memfd_create("operand", MFD_CLOEXEC);
    const size_t bytes = (size_t)PAGES * PAGE;
    CHECK(file >= 0 && ftruncate(file, (off_t)bytes) == 0, "no memory");
    pages = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
    pages_to_write = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    a = (float *)(void *)(pages + PAGE / 2);
    sigaction(SIGSEGV, &(struct sigaction){.sa_sigaction = open_page, .sa_flags = SA_SIGINFO}, NULL);
}

/* Pinned memory, which the link may read by itself. */
static void change_before_copying(const void *source, size_t bytes)
{
    if (bytes > (size_t)((char *)element(a, COLUMN) - (char *)source))
        *element(a, COLUMN) = CHANGED;
}

/* ---- Calls ------------------------------------------------------------------------------------------------ */

static void multiply(const char *when)
{
    char wrong[256];
    matrix c = matrix_clone(&p.c);
    cblas_sgemm(102, 111, 111, M, N, K, (float)p.alpha, a, M, matrix_elements(&p.b), (int)p.b.ld, 0,
                matrix_elements(&c), (int)c.ld);
    CHECK(when == NULL || product_holds(&p, &c, wrong, sizeof wrong), "%s: %s", when, wrong);
    matrix_free(&c);
}

/* Stores A as p has it, by the mapping that may be written. */
static void store(float *start)
{
    memcpy(start, matrix_elements(&p.a), (size_t)M * K * sizeof(float));
}

static void set(float *start, int column, float value)
{
    *element(matrix_elements(&p.a), column) = *element(start, column) = value;
}

static void check_later_calls(float *start)
{
    const float before = *element(matrix_elements(&p.a), COLUMN);
    *element(start, COLUMN) = before;
    multiply("the element is as it was");
    multiply("and again");
    set(start, COLUMN, CHANGED);
    multiply("it is what it had been meanwhile");
    set(start, COLUMN, before);
    multiply("it is as it was at first");
}

static void start_anew(float *start)
{
    matrix_fill(&p.a, MATRIX_UNIFORM, &generator);
    store(start);
    multiply("first");
}

static void race_in_ordinary_memory(int after)
{
    atomic_store(&readings, after);
    protect(COLUMN, PROT_NONE);
    multiply(NULL);
    CHECK(after > 1 || atomic_load(&readings) < after, "the call has not read the operand");
    atomic_store(&readings, 0);
    protect(COLUMN, PROT_READ);
    protect(COLUMN + 1, PROT_READ);
}

static void race_in_pinned_memory(int unused)
{
    (void)unused;
    sim_watch_copies(change_before_copying);
    multiply(NULL);
    sim_watch_copies(NULL);
}

/* While the copy is made that is kept, and while it is made anew as something else has changed. */
static void later_calls_are_right(float *start, void (*race)(int), int after)
{
    start_anew(start);
    race(after);
    check_later_calls(start);
    set(start, OTHER_COLUMN, check_uniform(&generator));
    race(after);
    check_later_calls(start);
}

int main(void)
{
    generator.state = check_seed();
    if (sysconf(_SC_PAGESIZE) != PAGE)
        SKIP("pages of another size");
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
    tileblas_set_option("KEEP_SECONDS", "3600");
    tileblas_set_option("PINNED_MEMORY", PINNED_MIB);
    p = (product){.m = M, .n = N, .k = K, .alpha = 1};
    p.a = matrix_make(M, K, M, 0);
    p.b = matrix_make(K, N, K, 0);
    p.c = matrix_make(M, N, M, 0);
    matrix_fill(&p.b, MATRIX_UNIFORM, &generator);
    matrix_fill(&p.c, MATRIX_NANS, &generator);
    map_twice();
    for (int after = 1; after <= READINGS; after++)
        later_calls_are_right(written(), race_in_ordinary_memory, after);
    a = sim_allocate(TB_MEMORY_PINNED, 0, (size_t)M * K * sizeof(float));
    later_calls_are_right(a, race_in_pinned_memory, 0);
    return check_result();
}
