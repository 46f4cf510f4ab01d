/* Operands that come again: what their copies take of the device, what is left of them when a call fails, and memory that the
 * host does not read.
 */
#include "include/tileblas.h"
#include "lib/streaming/operand_cache.h"
#include "tests/check.h"
#include "tests/oracle.h"
#include "tests/sim/device_sim.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Slots of 128 KiB: operands from 64 KiB on are cached. */
#define PINNED_MIB "1"

enum { M = 200, N = 150, K = 240, GENERATIONS = 12, CALLS = 3 };

void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                 int);
void cblas_ssyrk(int, int, int, int, int, float, const float *, int, float, float *, int);
void cblas_ssymm(int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
void cblas_strmm(int, int, int, int, int, int, int, float, const float *, int, float *, int);
void cblas_strsm(int, int, int, int, int, int, int, float, const float *, int, float *, int);

static check_random generator;
static product p;

/* C's block is c, in any memory, and is as p has it. */
static void multiply(const float *a, const float *b, float *c, const char *when, long number)
{
    char wrong[256];
    cblas_sgemm(102, 111, 111, M, N, K, (float)p.alpha, a, (int)p.a.ld, b, (int)p.b.ld, (float)p.beta,
                c + p.c.first, (int)p.c.ld);
    matrix result = matrix_clone(&p.c);
    sim_copy(result.block, c, result.bytes);
    CHECK(product_holds(&p, &result, wrong, sizeof wrong), "%s, %ld: %s", when, number, wrong);
    matrix_free(&result);
}

static void call(const char *when, long number)
{
    matrix c = matrix_clone(&p.c);
    multiply(matrix_elements(&p.a), matrix_elements(&p.b), c.block, when, number);
    matrix_free(&c);
}

static void make_anew(void)
{
    matrix_fill(&p.a, MATRIX_UNIFORM, &generator);
    matrix_fill(&p.b, MATRIX_UNIFORM, &generator);
}

/* Changes what is no sample: for the cache it is the same operand. */
static void change_one_element(matrix *matrix)
{
    matrix_elements(matrix)[matrix->ld + 1] = 100 * check_uniform(&generator);
}

/* Their copies come, and are given up, with all of what they took. */
static void what_is_given_up_is_used_again(void)
{
    sim_usage settled = {0};
    for (int i = 0; i < GENERATIONS; i++) {
        make_anew();
        for (int j = 0; j < CALLS; j++)
            call("weights that change at every third call", i);
        if (i == 1)
            settled = sim_get_usage();
    }
    const sim_usage usage = sim_get_usage();
    CHECK(usage.device_blocks <= settled.device_blocks, "%ld blocks on the device, not %ld",
          usage.device_blocks, settled.device_blocks);
}

/* The copies that would have been kept are made by the call that fails: of each of them a part has not come, and the memory holds
 * what was there before. */
static void calls_that_fail_leave_no_copies(const char *failure)
{
    for (long n = 1;; n++) {
        char script[64];
        make_anew();
        call("first", n);
        change_one_element(&p.a);
        change_one_element(&p.b);
        snprintf(script, sizeof script, "copy:%ld=%s", n, failure);
        sim_set("FAIL", script);
        call("a copy fails", n);
        const bool failed = sim_failures("any") > 0;
        sim_set("FAIL", "");
        for (int i = 0; i < CALLS; i++)
            call("a copy has failed", n);
        if (!failed) {
            CHECK(n > 1, "there are no copies");
            return;
        }
    }
}

static float *write_combined(const matrix *matrix)
{
    float *block = sim_allocate_write_combined(matrix->bytes);
    sim_copy(block, matrix->block, matrix->bytes);
    return block;
}

/* An update reads one operand, of which the cache keeps one copy: as many operands stay as there is room for. */
static void updates_keep_one_operand(void)
{
    matrix operands[TB_OPERANDS_CACHED];
    matrix c = matrix_make(M, M, M, 0);
    tileblas_statistics before, after;
    for (int i = 0; i < TB_OPERANDS_CACHED; i++) {
        operands[i] = matrix_make(M, K, M, 0);
        matrix_fill(&operands[i], MATRIX_UNIFORM, &generator);
    }
    for (int round = 0; round <= CALLS; round++) {
        tileblas_read_statistics(&before, sizeof before);
        for (int i = 0; i < TB_OPERANDS_CACHED; i++)
            cblas_ssyrk(102, 121, 111, M, K, 1, matrix_elements(&operands[i]), M, 0, matrix_elements(&c), M);
    }
    tileblas_read_statistics(&after, sizeof after);
    const double loaded = after.streamed.link_bytes - before.streamed.link_bytes -
                          TB_OPERANDS_CACHED * (double)sizeof(float) * M * M;
    CHECK(loaded < 0.5 * (double)operands[0].bytes, "%g bytes crossed the link again", loaded);
    for (int i = 0; i < TB_OPERANDS_CACHED; i++)
        matrix_free(&operands[i]);
    matrix_free(&c);
}

/* A host that did would fault, as would its BLAS. */
static void write_combined_memory_is_not_read(void)
{
    make_anew();
    float *a = write_combined(&p.a), *b = write_combined(&p.b), *c = write_combined(&p.c);
    for (int i = 0; i < 2 * CALLS; i++)
        multiply(a + p.a.first, b + p.b.first, c, "write-combined memory", i);
    sim_release(a);
    sim_release(b);
    sim_release(c);
}

/* Nor are triangles, which elsewhere go through slots. */
static void write_combined_triangles_are_not_read(void)
{
    matrix a = matrix_make(M, M, M + 1, 0), x = matrix_make(M, N, M, 0);
    matrix_fill(&a, MATRIX_NANS, &generator);
    matrix_fill(&x, MATRIX_UNIFORM, &generator);
    for (int64_t j = 0; j < M; j++)
        for (int64_t i = 0; i <= j; i++)
            matrix_elements(&a)[i + j * a.ld] = i == j ? 2 : 0;
    matrix c = matrix_clone(&x);
    float *block = write_combined(&a), *twice = block + a.first;
    const int lda = (int)a.ld;
    const long launches = sim_operations("launch");
    cblas_strmm(102, 141, 121, 111, 131, M, N, 1, twice, lda, matrix_elements(&c), M);
    cblas_ssymm(102, 141, 121, M, N, 1, twice, lda, matrix_elements(&x), M, 1, matrix_elements(&c), M);
    cblas_strsm(102, 141, 121, 111, 131, M, N, 1, twice, lda, matrix_elements(&c), M);
    CHECK(sim_operations("launch") >= launches + 3, "the device was not used");
    int wrong = 0;
    for (int i = 0; i < M * N; i++)
        wrong += matrix_elements(&c)[i] != 2 * matrix_elements(&x)[i];
    CHECK(wrong == 0, "%d elements are wrong", wrong);
    sim_release(block);
    matrix_free(&a);
    matrix_free(&x);
    matrix_free(&c);
}

static float *pinned(const matrix *matrix)
{
    float *block = sim_allocate(TB_MEMORY_PINNED, 0, matrix->bytes);
    memcpy(block, matrix->block, matrix->bytes);
    return block;
}

/* Where the library can have no pinned memory of its own, the link reads the program's. */
static void pinned_operands_need_no_slots(void)
{
    tileblas_statistics statistics;
    make_anew();
    float *a = pinned(&p.a), *b = pinned(&p.b), *c = pinned(&p.c);
    sim_set("FAIL", "pinned:1=memory");
    for (int i = 0; i < CALLS; i++)
        multiply(a + p.a.first, b + p.b.first, c, "no slots", i);
    CHECK(sim_failures("pinned") == 1, "slots were not asked for");
    tileblas_read_statistics(&statistics, sizeof statistics);
    CHECK(statistics.streamed.calls == CALLS, "%llu calls on the device, not %d",
          (unsigned long long)statistics.streamed.calls, CALLS);
}

/* All pinned memory that is kept; so many buffers. */
static int hold_pinned(tb_buffer *held, int most)
{
    int count = 0;
    while (count < most && tb_kept_bytes(TB_PINNED) > 0)
        CHECK(tb_take_buffer(TB_PINNED, 1, &held[count++]) == TB_OK, "kept memory is not to be had");
    return count;
}

/* What the link read by itself, for want of slots, has no prints: those of the copy before are not the copy's any more. */
static void what_went_past_slots_has_no_prints(void)
{
    enum { MOST = 64 };
    tb_buffer held[MOST];
    make_anew();
    float *a = pinned(&p.a), *b = pinned(&p.b), *c = pinned(&p.c),
          *element = matrix_elements(&p.a) + p.a.ld + 1;
    for (int i = 0; i < CALLS; i++)
        multiply(a + p.a.first, b + p.b.first, c, "slots", i);
    const int count = hold_pinned(held, MOST);
    sim_set("FAIL", "pinned:1=memory");
    const float before = *element;
    change_one_element(&p.a);
    sim_copy(a, p.a.block, p.a.bytes);
    multiply(a + p.a.first, b + p.b.first, c, "no slots any more", 0);
    CHECK(sim_failures("pinned") == 1, "slots were not asked for");
    for (int i = 0; i < count; i++)
        tb_give_buffer(&held[i]);
    *element = before;
    sim_copy(a, p.a.block, p.a.bytes);
    const long asked = sim_operations("pinned");
    multiply(a + p.a.first, b + p.b.first, c, "slots again, and what was there before", 0);
    CHECK(count > 0 && sim_operations("pinned") == asked, "there were no slots");
}

/* The statement has the process's devices, options and caches for itself. */
static void in_a_process_of_its_own(void (*statement)(void))
{
    const pid_t child = fork();
    if (child == 0) {
        statement();
        exit(check_result());
    }
    int status;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS, "the process ended with %d", status);
}

int main(void)
{
    generator.state = check_seed();
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
    tileblas_set_option("KEEP_SECONDS", "3600");
    tileblas_set_option("PINNED_MEMORY", PINNED_MIB);
    p = (product){.m = M, .n = N, .k = K, .alpha = 1.5f};
    p.a = matrix_make(M, K, M + 3, 1);
    p.b = matrix_make(K, N, K, 0);
    p.c = matrix_make(M, N, M + 1, 2);
    matrix_fill(&p.c, MATRIX_NANS, &generator);
    in_a_process_of_its_own(pinned_operands_need_no_slots);
    in_a_process_of_its_own(what_went_past_slots_has_no_prints);
    in_a_process_of_its_own(updates_keep_one_operand);
    write_combined_memory_is_not_read();
    write_combined_triangles_are_not_read();
    what_is_given_up_is_used_again();
    calls_that_fail_leave_no_copies("memory");
    calls_that_fail_leave_no_copies("unsupported");
    return check_result();
}
