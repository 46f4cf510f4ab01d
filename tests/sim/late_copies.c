/* A streamed call is over when all of C is there, however long the device takes to copy, and wherever C lies:
 * nothing that is still on its way is taken for what has arrived.
 */
#include "include/tileblas.h"
#include "tests/check.h"
#include "tests/sim/known_product.h"

#include <unistd.h>

enum { M = 160, N = 120, K = 110, CALLS = 3, LATE_MICROSECONDS = 2000 };

static void copy_late(const void *source, size_t bytes)
{
    (void)source, (void)bytes;
    usleep(LATE_MICROSECONDS);
}

static float *place(tb_memory memory, const float *from, size_t bytes)
{
    float *block = memory == TB_MEMORY_HOST ? malloc(bytes) : sim_allocate(memory, 0, bytes);
    sim_copy(block, from, bytes);
    return block;
}

static void multiply(tb_memory memory, float beta)
{
    static float a[M * K], b[K * N], c[M * N];
    for (int i = 0; i < M * K; i++)
        a[i] = 1;
    for (int i = 0; i < K * N; i++)
        b[i] = 2;
    for (int i = 0; i < M * N; i++)
        c[i] = 3;
    float *operand = place(memory, c, sizeof c);
    const long launches = sim_operations("launch");
    cblas_sgemm(102, 111, 111, M, N, K, 1, a, M, b, K, beta, operand, M);
    sim_copy(c, operand, sizeof c); /* waits for nobody */
    int wrong = 0;
    for (int i = 0; i < M * N; i++)
        wrong += c[i] != 2 * K + 3 * beta;
    CHECK(wrong == 0, "C in memory %d, beta %g: %d elements have not come", (int)memory, (double)beta, wrong);
    CHECK(sim_operations("launch") > launches, "the device was not used");
    known_release(memory, operand);
}

int main(void)
{
    static const tb_memory memories[] = {TB_MEMORY_HOST, TB_MEMORY_PINNED, TB_MEMORY_MANAGED,
                                         TB_MEMORY_DEVICE};
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
    CHECK(known_multiply_once(M, N, K, 0, 2, TB_MEMORY_HOST) == 0, "wrong");
    sim_watch_copies(copy_late);
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++)
        for (int call = 0; call < CALLS; call++)
            for (int beta = 0; beta < 2; beta++)
                multiply(memories[i], (float)beta);
    return check_result();
}
