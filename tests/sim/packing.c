/* Operands that cross the link packed: what cannot be packed crosses as it is, from whichever column on, and every bit of the
 * operands arrives.
 */
#include "include/tileblas.h"
#include "lib/packing.h"
#include "tests/check.h"
#include "tests/sim/device_sim.h"

#include <stdlib.h>
#include <string.h>

enum { M = 600, K = 500, SLOT_COLUMNS = 51, SLOTS = (K + SLOT_COLUMNS - 1) / SLOT_COLUMNS };

void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                 int);

static float a[M * K], b[K * K], c[M * K];
static int moved_to[K];

/* Any that is finite, so that exponents are far apart. */
static float draw_any(check_random *random)
{
    const uint32_t sign = (uint32_t)check_between(random, 0, 1),
                   exponent = (uint32_t)check_between(random, 1, 254);
    const uint32_t bits = sign << 31 | exponent << 23 | (uint32_t)check_between(random, 0, (1 << 23) - 1);
    float any;
    memcpy(&any, &bits, sizeof any);
    return any;
}

/* A's columns from first_any on cannot be packed; B moves columns to other places. */
static void fill(check_random *random, int first_any)
{
    for (int i = 0; i < M * K; i++)
        a[i] = i < M * first_any ? check_uniform(random) : draw_any(random);
    memset(b, 0, sizeof b);
    for (int j = 0; j < K; j++)
        moved_to[j] = j;
    for (int j = K - 1; j > 0; j--) {
        const int other = (int)check_between(random, 0, j), place = moved_to[j];
        moved_to[j] = moved_to[other];
        moved_to[other] = place;
    }
    for (int j = 0; j < K; j++)
        b[j + moved_to[j] * K] = 1;
}

/* How many slots of packed columns there were. */
static long multiply(void)
{
    const long before = sim_operations("unpack");
    cblas_sgemm(102, 111, 111, M, K, K, 1, a, M, b, K, 0, c, M);
    for (int j = 0; j < K; j++)
        CHECK(memcmp(c + moved_to[j] * M, a + j * M, M * sizeof(float)) == 0, "column %d has changed", j);
    return sim_operations("unpack") - before;
}

/* A large matrix in pinned memory: packed where that is asked for, and not for a while after it could not be. */
static void pack_pinned(check_random *random)
{
    enum { LARGE = 2600, FEW = 4, PAUSE = 15 };
    float *large = sim_allocate(TB_MEMORY_PINNED, 0, sizeof(float) * LARGE * LARGE);
    float *few = calloc(LARGE * FEW, sizeof *few), *result = calloc(LARGE * FEW, sizeof *result);
    for (int j = 0; j < FEW; j++)
        few[j * LARGE + 600 * j] = 1;
    for (int i = 0; i < LARGE * LARGE; i++)
        large[i] = check_uniform(random);
    float *odd = large + LARGE * 900; /* where the device takes it up last or in between */
    for (int call = 0; call < PAUSE + 5; call++) {
        const bool is_odd = call == 2, pauses = call > 2 && call <= 2 + PAUSE;
        for (int i = 0; i < LARGE * 300 && (is_odd || call == 3); i++)
            odd[i] = is_odd ? draw_any(random) : check_uniform(random);
        tileblas_set_option("PACKING", call == 0 ? "auto" : "pinned");
        const long before = sim_operations("unpack");
        cblas_sgemm(102, 111, 111, LARGE, FEW, LARGE, 1, large, LARGE, few, LARGE, 0, result, LARGE);
        const long unpacked = sim_operations("unpack") - before;
        CHECK(is_odd || (unpacked > 0) == (call > 0 && !pauses), "call %d: %ld slots were packed", call,
              unpacked);
        for (int j = 0; j < FEW; j++)
            CHECK(memcmp(result + j * LARGE, large + (size_t)LARGE * 600 * (size_t)j,
                         LARGE * sizeof *result) == 0,
                  "call %d: column %d has changed", call, j);
    }
    sim_release(large);
    free(few);
    free(result);
}

int main(void)
{
    check_random random = {.state = check_seed()};
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
    tileblas_set_option("KERNEL", "tiled");
    tileblas_set_option("PINNED_MEMORY", "1");
    fill(&random, K);
    CHECK(multiply() == 0, "packed without being asked");
    tileblas_set_option("PACKING", "auto");
    CHECK(multiply() == 0, "so little was packed");
    if (tb_packs_fast())
        pack_pinned(&random);
    tileblas_set_option("PACKING", "always");
    multiply();
    const long all = multiply();
    CHECK(all >= 2 * SLOTS - 2, "%ld slots were packed", all);
    for (int first_any = 0; first_any < 400; first_any += 60) {
        fill(&random, first_any);
        const long some = multiply();
        CHECK(some < all, "%ld slots were packed, with columns from %d on that cannot be", some, first_any);
        fill(&random, K);
        CHECK(multiply() == all, "what comes after what cannot be packed");
    }
    return check_result();
}
