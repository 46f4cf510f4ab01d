/* Complex products by the structured rows on the host (block.h), by the real launch function: of integers,
 * exactly, batches and masks among them; and of numbers with all bits, of a few steps, whose errors are those
 * of several chains in single precision. Built once for each.
 */
#include "kernels/catalog.h"
#include "kernels/launch.h"
#include "tests/emulated/block.h"

#include <complex.h>

#ifdef EMULATED_SINGLE
typedef float real;
typedef float complex number;
static const bool chained = true;
#define ROUTINE TB_CGEMM
#define ROW     "cgemm_structured"
#else
typedef double real;
typedef double complex number;
static const bool chained = false; /* threads have no registers for more than one */
#define ROUTINE TB_ZGEMM
#define ROW     "zgemm_structured"
#endif
typedef double complex total;
#define EMULATED_COMPLEX
#define VOLUME_MOST 500000
#include "tests/emulated/gemm.h"
#include "tests/emulated/short_sums.h"

enum { PRODUCTS = 60, APART = 2 };

static tb_status run(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                     int shared_bytes, const void *argument)
{
    (void)launcher;
    emulated_kernel *kernel = emulated_find(entry->symbol);
    if (CHECK(kernel != NULL, "there is no %s", entry->symbol))
        emulated_run(kernel, blocks, 1, threads, shared_bytes, argument);
    return TB_OK;
}

int main(int count, char **arguments)
{
    const int products = count > 1 ? atoi(arguments[1]) : PRODUCTS;
    const tb_kernel *row = tb_find_kernel(ROW);
    const tb_launcher launcher = {.target = {.architecture = 90, .multiprocessors = 132}, .launch = run};
    check_random random = {check_seed()};
    for (int i = 0; i < products; i++) {
        static test t;
        emulated_seed(check_next(&random));
        if (i < APART)
            draw_apart(&t, &random);
        else
            draw(&t, &random);
        const tb_schedule schedule = tb_prepare(row, &t.given, launcher.target);
        char what[128];
        snprintf(what, sizeof what, "%lld of %lld x %lld x %lld", (long long)members_of(&t),
                 (long long)t.given.m, (long long)t.given.n, (long long)t.given.k);
        CHECK(row->launch(&launcher, row, &t.given, &schedule, NULL) == TB_OK, "%s", what);
        check_product(&t, what);
        release_operands(&t);
        if (i >= APART)
            release(&t.before);
    }
    if (chained)
        short_sums_are_of_chains(row, &launcher, &random);
    return check_result();
}
