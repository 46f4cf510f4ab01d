/* Whether A and B are one matrix, read both ways, makes another product, cut another way: each is right whatever the library
 * remembers of the other. And where that matrix does not fit on the device, and C goes through it block by block.
 */
#include "tests/sim/triangle.h"

/* Slots of 128 KiB: A of the first products is longer than one. */
#define PINNED_MIB "1"

/* C alone has more than 1 MiB. */
enum { SHAPES = 8, ORDERS = 4, LARGE_N = 370, LARGE_K = 40 };

static void run_call(call *x, const char *when)
{
    put(x, x->c, x->before, x->elements_c);
    multiply(x);
    check_call(x, when);
}

/* B lies on the device, from where nothing has to come, as nothing has where it is A. */
static void one_is_not_cut_as_two(check_random *random)
{
    for (int i = 0; i < SHAPES; i++) {
        const bool transpose = i & 1;
        call x = {.second = A_ITSELF,
                  .lower = i & 2,
                  .transpose_a = transpose,
                  .transpose_b = !transpose,
                  .n = 140 + 10 * i,
                  .k = 240,
                  .alpha = 1,
                  .beta = i & 4 ? -2 : 0,
                  .memory_b = TB_MEMORY_DEVICE};
        x.lda = x.ldb = transpose ? x.k : x.n;
        x.ldc = x.n;
        place_call(&x, random);
        for (int order = 0; order < ORDERS; order++) {
            x.apart = order % 2 == 0;
            change_a(&x, random); /* what lies on the device from before is no longer A */
            run_call(&x, x.apart ? "two operands" : "one operand");
            x.lower ^= order == 1;
        }
        free_call(&x);
    }
}

static void blocks_are_of_two(check_random *random)
{
    tileblas_set_option("DEVICE_MEMORY", "1");
    for (int i = 0; i < 4; i++) {
        const bool transpose = i & 1;
        call x = {.second = i & 2 ? A_ITSELF : NO_B,
                  .doubles = true,
                  .lower = transpose,
                  .transpose_a = transpose,
                  .transpose_b = !transpose,
                  .n = LARGE_N,
                  .k = LARGE_K,
                  .alpha = 1,
                  .beta = -2};
        x.lda = x.ldb = transpose ? x.k : x.n;
        x.ldc = x.n;
        place_call(&x, random);
        run_call(&x, "block by block");
        free_call(&x);
    }
    tileblas_set_option("DEVICE_MEMORY", "0");
}

int main(void)
{
    check_random random = {.state = check_seed()};
    tileblas_statistics statistics;
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
    tileblas_set_option("PINNED_MEMORY", PINNED_MIB);
    one_is_not_cut_as_two(&random);
    blocks_are_of_two(&random);
    tileblas_read_statistics(&statistics, sizeof statistics);
    CHECK(statistics.streamed.calls == SHAPES * ORDERS + 4, "%llu calls on the device",
          (unsigned long long)statistics.streamed.calls);
    return check_result();
}
