/* A caller with 32-bit integers whose BLAS is searched for between the linker's showing a library with 64-bit
 * ones, which is being loaded for another thread's call, and its being noted as that. */
#include "tests/check.h"
#include "compat/arguments.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

void *__real_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags);

/* Next to an integer of 32 bits there may be anything, which makes this negative where 64 are read. */
#define NARROW(value) (INT64_MIN | (value))

extern char cblas_sgemm[], cblas_sgemm64_[];
typedef void cblas_function(int layout, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k,
                            float alpha, const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                            float *c, int64_t ldc);

static atomic_bool is_loaded, has_called;

static void wait_for(atomic_bool *event, const atomic_bool *given_up)
{
    while (!atomic_load(event) && !atomic_load(given_up))
        usleep(1000);
}

/* The load that the 64-bit call asks for ends after the other one's call. */
void *__wrap_dlopen(const char *name, int flags)
{
    static const atomic_bool never;
    void *library = __real_dlopen(name, flags);
    if (library && name && strstr(name, "64") && !atomic_exchange(&is_loaded, true))
        wait_for(&has_called, &never);
    return library;
}

static float product(char *address, int64_t one)
{
    const float two = 2, three = 3;
    float c = 0;
    ((cblas_function *)(void *)address)(TB_COLUMN_MAJOR, TB_NO_TRANSPOSE, TB_NO_TRANSPOSE, one, one, one, 1,
                                        &two, one, &three, one, 0, &c, one);
    return c;
}

static atomic_bool has_ended;

static void *call_wide(void *unused)
{
    CHECK(product(cblas_sgemm64_, 1) == 6, "the call with 64-bit integers");
    atomic_store(&has_ended, true);
    return unused;
}

int main(void)
{
    pthread_t wide;
    pthread_create(&wide, NULL, call_wide, NULL);
    wait_for(&is_loaded, &has_ended);
    const bool is_between = !atomic_load(&has_ended);
    if (is_between)
        CHECK(product(cblas_sgemm, NARROW(1)) == 6, "the call with 32-bit integers");
    atomic_store(&has_called, true);
    pthread_join(wide, NULL);
    if (!is_between)
        SKIP("no BLAS with 64-bit integers is there to be loaded");
    return check_result();
}
