/* Every operation of the device fails in turn (failing.h), in products that are not plain.
 *
 *   failures_expanded FAILURE            operands are written out on the device
 *   failures_expanded FAILURE in_place   products and solves in C's place
 *   failures_expanded FAILURE folded     rank-2k updates where all lies on the device
 *
 * FAILURE: memory, lost or half (device_sim.h).
 */
#include "tests/sim/failing.h"

/* Complex numbers, and a factor of which one triangle is stored: what is multiplied is written out on the device first, and
 * what the device has done is counted in rows that are parts of numbers. */
static void fail_in_expanded(const char *failure)
{
    static const scenario scenarios[] = {
        {.element = TB_COMPLEX_FP64, .m = 35, .n = 33, .k = 20, .beta = -2},
        {.element = TB_COMPLEX_FP32, .m = 33, .n = 35, .k = 20, .transposed = true, .alpha_im = -0.5},
        {.element = TB_FP64, .m = 65, .n = 33, .k = 65, .structure = TB_SYMMETRIC, .beta = -2},
        {.element = TB_COMPLEX_FP64,
         .m = 35,
         .n = 43,
         .k = 43,
         .structure = TB_HERMITIAN,
         .structured_right = true},
        {.element = TB_COMPLEX_FP32,
         .m = 50,
         .n = 30,
         .k = 50,
         .structure = TB_SYMMETRIC,
         .alpha_im = 2,
         .beta = 1},
        /* Too large for the device, or for what is pinned. */
        {.element = TB_COMPLEX_FP64,
         .m = 150,
         .n = 130,
         .k = 200,
         .beta = -2,
         .device_memory = "1",
         .step = 53},
        {.element = TB_COMPLEX_FP64,
         .m = 130,
         .n = 150,
         .k = 200,
         .transposed = true,
         .device_memory = "1",
         .pinned_memory = "1",
         .step = 53},
        {.element = TB_COMPLEX_FP64,
         .m = 150,
         .n = 130,
         .k = 150,
         .structure = TB_HERMITIAN,
         .beta = -2,
         .device_memory = "1",
         .step = 53},
        {.element = TB_FP32,
         .m = 170,
         .n = 300,
         .k = 300,
         .structure = TB_SYMMETRIC,
         .structured_right = true,
         .beta = -2,
         .device_memory = "1",
         .pinned_memory = "1"},
        /* Bands of rows; columns longer than a slot. */
        {.element = TB_COMPLEX_FP64, .m = 700, .n = 20, .k = 60, .beta = -2, .pinned_memory = "1", .step = 5},
        {.element = TB_COMPLEX_FP64, .m = 3, .n = 4, .k = 70000, .beta = -2, .transposed = true, .step = 53},
        /* The device reads what is to be expanded, or writes C, in place. */
        {.element = TB_COMPLEX_FP64, .m = 40, .n = 30, .k = 50, .memory = TB_MEMORY_PINNED},
        {.element = TB_COMPLEX_FP32,
         .m = 30,
         .n = 40,
         .k = 50,
         .transposed = true,
         .beta = -2,
         .memory = TB_MEMORY_PINNED},
        {.element = TB_FP64,
         .m = 30,
         .n = 50,
         .k = 30,
         .structure = TB_SYMMETRIC,
         .memory = TB_MEMORY_PINNED},
        {.element = TB_COMPLEX_FP64, .m = 45, .n = 35, .k = 50, .beta = -2, .managed_c = true},
        {.element = TB_COMPLEX_FP64, .m = 45, .n = 35, .k = 50, .managed_c = true},
        {.element = TB_COMPLEX_FP64, .m = 45, .n = 35, .k = 50, .beta = -2, .memory = TB_MEMORY_MANAGED},
        {.element = TB_COMPLEX_FP64,
         .m = 45,
         .n = 35,
         .k = 50,
         .beta = -2,
         .beta_im = 0.5,
         .transposed = true,
         .memory = TB_MEMORY_MANAGED},
        {.element = TB_COMPLEX_FP32,
         .m = 45,
         .n = 35,
         .k = 45,
         .structure = TB_HERMITIAN,
         .beta = -2,
         .memory = TB_MEMORY_MANAGED},
        {.element = TB_COMPLEX_FP64, .m = 45, .n = 35, .k = 50, .beta = -2, .device_c = true},
        {.element = TB_FP64,
         .m = 45,
         .n = 35,
         .k = 45,
         .structure = TB_SYMMETRIC,
         .beta = -2,
         .device_c = true},
        /* All lies where the device reaches it, but is too large written out: a part of k at a time. */
        {.element = TB_COMPLEX_FP64,
         .m = 50,
         .n = 30,
         .k = 700,
         .beta = -2,
         .memory = TB_MEMORY_MANAGED,
         .device_memory = "1",
         .kernel = "dgemm_mma_64x64",
         .launches = 4},
        {.element = TB_COMPLEX_FP32,
         .m = 40,
         .n = 50,
         .k = 1400,
         .transposed = true,
         .alpha_im = 0.5,
         .memory = TB_MEMORY_MANAGED,
         .device_memory = "1",
         .kernel = "tiled",
         .launches = 6},
        {.element = TB_FP64,
         .m = 530,
         .n = 20,
         .k = 530,
         .structure = TB_SYMMETRIC,
         .beta = -2,
         .memory = TB_MEMORY_MANAGED,
         .device_memory = "2",
         .kernel = "dgemm_mma_64x64",
         .launches = 4},
        {.element = TB_COMPLEX_FP64,
         .m = 40,
         .n = 40,
         .k = 700,
         .triangle = TB_UPPER,
         .hermitian = true,
         .two_terms = true,
         .alpha_im = 0.5,
         .beta = -2,
         .memory = TB_MEMORY_MANAGED,
         .device_memory = "1",
         .kernel = "dgemm_mma_64x64",
         .launches = 7},
        {.element = TB_FP32,
         .m = 100,
         .n = 40,
         .k = 3000,
         .beta = -2,
         .memory = TB_MEMORY_MANAGED,
         .device_memory = "1",
         .kernel = "padded",
         .launches = 2},
        /* Triangles, by rows that are parts of numbers; diagonals that come back real; two terms. */
        {.element = TB_COMPLEX_FP64,
         .m = 60,
         .n = 60,
         .k = 50,
         .triangle = TB_LOWER,
         .hermitian = true,
         .beta = -2},
        {.element = TB_COMPLEX_FP32, .m = 50, .n = 50, .k = 40, .transposed = true, .triangle = TB_UPPER},
        {.element = TB_COMPLEX_FP64,
         .m = 50,
         .n = 50,
         .k = 40,
         .triangle = TB_UPPER,
         .hermitian = true,
         .two_terms = true,
         .alpha_im = 0.5,
         .beta = -2},
        {.element = TB_FP64, .m = 60, .n = 60, .k = 40, .triangle = TB_LOWER, .two_terms = true, .beta = 1},
        {.element = TB_COMPLEX_FP64,
         .m = 45,
         .n = 45,
         .k = 50,
         .triangle = TB_LOWER,
         .hermitian = true,
         .beta = -2,
         .memory = TB_MEMORY_MANAGED},
        {.element = TB_FP64,
         .m = 45,
         .n = 45,
         .k = 50,
         .triangle = TB_UPPER,
         .two_terms = true,
         .beta = -2,
         .memory = TB_MEMORY_MANAGED},
        /* Both terms at once, and then zeros to a Hermitian diagonal. */
        {.element = TB_FP64,
         .m = 60,
         .n = 60,
         .k = 64,
         .triangle = TB_UPPER,
         .two_terms = true,
         .alike = true,
         .memory = TB_MEMORY_MANAGED,
         .kernel = "dgemm_mma_64x64",
         .launches = 1},
        {.element = TB_COMPLEX_FP64,
         .m = 200,
         .n = 200,
         .k = 32,
         .triangle = TB_LOWER,
         .hermitian = true,
         .two_terms = true,
         .alike = true,
         .memory = TB_MEMORY_MANAGED,
         .kernel = "zgemm_mma_64x64",
         .launches = 2},
    };
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        scenario scenario = scenarios[i];
        scenario.threads = 1;
        if (scenario.structure != TB_GENERAL)
            scenario.stored = i % 2 == 0 ? TB_LOWER : TB_UPPER;
        if (!scenario.device_c)
            fail_everywhere(&scenario, strcmp(failure, "half") == 0 ? "launch" : "any", failure);
        /* What lies on a device that is gone is beyond help. */
        else if (strcmp(failure, "memory") == 0)
            fail_everywhere(&scenario, "copy", failure);
    }
}

/* Products and solves in C's place, of which nothing can be done twice: what has come back is whole columns, or rows where the
 * triangle is on the right, and the rest is as the program left it. */
static void fail_in_c_place(const char *failure)
{
    static const scenario scenarios[] = {
        {.element = TB_FP64, .m = 60, .n = 50},
        {.element = TB_FP32,
         .m = 50,
         .n = 60,
         .transposed = true,
         .unit_diagonal = true,
         .memory = TB_MEMORY_PINNED},
        {.element = TB_COMPLEX_FP64, .m = 45, .n = 35, .structured_right = true, .alpha_im = 0.5},
        {.element = TB_COMPLEX_FP32,
         .m = 35,
         .n = 45,
         .structured_right = true,
         .transposed = true,
         .memory = TB_MEMORY_PINNED},
        /* More than a slot at a time, or than the device has room for. */
        {.element = TB_FP64, .m = 300, .n = 900, .pinned_memory = "1", .step = 7},
        {.element = TB_FP64, .m = 1300, .n = 120, .structured_right = true, .pinned_memory = "1", .step = 7},
        {.element = TB_FP64, .m = 200, .n = 430, .device_memory = "1", .step = 7},
        {.element = TB_FP64, .m = 430, .n = 200, .structured_right = true, .device_memory = "1", .step = 7},
        {.element = TB_FP32, .m = 60, .n = 130, .devices = "3", .step = 3},
        {.element = TB_FP32, .m = 130, .n = 60, .structured_right = true, .devices = "3", .step = 3},
        /* The device writes in place. */
        {.element = TB_FP64, .m = 45, .n = 35, .managed_c = true},
        {.element = TB_FP32, .m = 45, .n = 35, .structured_right = true, .managed_c = true},
        {.element = TB_FP64, .m = 45, .n = 35, .transposed = true, .memory = TB_MEMORY_MANAGED},
        {.element = TB_COMPLEX_FP64, .m = 35, .n = 45, .structured_right = true, .memory = TB_MEMORY_MANAGED},
        {.element = TB_FP64, .m = 45, .n = 35, .device_c = true},
        {.element = TB_FP64, .m = 45, .n = 35, .structured_right = true, .device_c = true},
        {.element = TB_FP64, .m = 45, .n = 35, .memory = TB_MEMORY_DEVICE, .kernel = "auto"},
        {.element = TB_COMPLEX_FP32, .m = 45, .n = 35, .structured_right = true, .memory = TB_MEMORY_DEVICE},
        /* C could be saved, and the call has to do without if it cannot. */
        {.element = TB_FP64,
         .m = 45,
         .n = 35,
         .memory = TB_MEMORY_DEVICE,
         .managed_c = true,
         .kernel = "auto"},
    };
    const bool loses = strcmp(failure, "lost") == 0, goes_half_way = strcmp(failure, "half") == 0;
    for (size_t i = 0; i < 2 * sizeof scenarios / sizeof scenarios[0]; i++) {
        scenario scenario = scenarios[i / 2];
        const bool on_device = scenario.device_c || scenario.memory == TB_MEMORY_DEVICE;
        scenario.threads = 1;
        scenario.in_place = i % 2 == 0 ? TB_SOLVES : TB_MULTIPLIES;
        scenario.structure = TB_TRIANGULAR;
        scenario.stored = i / 2 % 2 == 0 ? TB_LOWER : TB_UPPER;
        scenario.k = scenario.structured_right ? scenario.n : scenario.m;
        if (!on_device)
            fail_everywhere(&scenario, goes_half_way ? "launch" : "any", failure);
        /* What lies on a device that is gone, or that has been written half of, is beyond help. */
        else if (!loses && !goes_half_way)
            fail_everywhere(&scenario, scenario.device_c || scenario.managed_c ? "copy" : "launch", failure);
    }
}

/* A and B on the device and C in the host's memory, or the other way round, and a complex beta, of which no streamed product is
 * made: the host computes what is fetched, and nothing else can be done. */
static void fail_to_fetch(void)
{
    static const scenario scenarios[] = {
        {.element = TB_COMPLEX_FP32,
         .m = 40,
         .n = 40,
         .k = 30,
         .triangle = TB_LOWER,
         .two_terms = true,
         .host_c = true},
        {.element = TB_COMPLEX_FP64, .m = 40, .n = 30, .k = 30, .host_c = true},
        {.element = TB_COMPLEX_FP64,
         .m = 40,
         .n = 30,
         .k = 40,
         .structure = TB_SYMMETRIC,
         .stored = TB_LOWER,
         .host_c = true},
        {.element = TB_COMPLEX_FP64, .m = 40, .n = 30, .k = 30, .device_c = true},
        {.element = TB_COMPLEX_FP32, .m = 40, .n = 40, .k = 30, .triangle = TB_UPPER, .device_c = true},
    };
    stride = 1; /* there are few operations */
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        scenario scenario = scenarios[i];
        scenario.threads = 1;
        scenario.beta = -2;
        scenario.beta_im = 0.5;
        scenario.memory = scenario.host_c ? TB_MEMORY_DEVICE : TB_MEMORY_HOST;
        scenario.fetched = true;
        fail_everywhere(&scenario, "copy", "memory");
        fail_everywhere(&scenario, "stream", "memory");
    }
}

/* Rank-2k updates that are folded, of operands that all lie where the device reaches them: until what is folded has been
 * computed C is as it was, so that nothing but work that was done by halves is beyond help. */
static void fail_in_folded(const char *failure)
{
    static const scenario scenarios[] = {
        {.element = TB_FP64, .m = 150, .n = 150, .k = 90, .triangle = TB_UPPER, .beta = -2},
        {.element = TB_FP32, .m = 190, .n = 190, .k = 70, .triangle = TB_LOWER, .transposed = true},
        {.element = TB_COMPLEX_FP64,
         .m = 90,
         .n = 90,
         .k = 70,
         .triangle = TB_LOWER,
         .alpha_im = 0.5,
         .beta = -2,
         .beta_im = 0.5},
        {.element = TB_COMPLEX_FP32,
         .m = 130,
         .n = 130,
         .k = 250,
         .triangle = TB_UPPER,
         .hermitian = true,
         .transposed = true,
         .alpha_im = -0.5,
         .beta = 1},
        /* There is no room for it. */
        {.element = TB_FP64,
         .m = 380,
         .n = 380,
         .k = 9,
         .triangle = TB_LOWER,
         .beta = 1,
         .device_memory = "1",
         .foldings = -1},
        /* Nor for all of A, written out, of either term. */
        {.element = TB_COMPLEX_FP32,
         .m = 370,
         .n = 370,
         .k = 180,
         .triangle = TB_UPPER,
         .transposed = true,
         .beta = -2,
         .device_memory = "1",
         .foldings = -1,
         .kernel = "naive",
         .launches = 8},
    };
    const bool goes_half_way = strcmp(failure, "half") == 0;
    for (size_t i = 0; i < 2 * sizeof scenarios / sizeof scenarios[0]; i++) {
        scenario scenario = scenarios[i / 2];
        scenario.threads = 1;
        scenario.two_terms = true;
        scenario.foldings = scenario.foldings != 0 ? scenario.foldings : 1;
        scenario.kernel = scenario.kernel != NULL ? scenario.kernel : "auto";
        scenario.memory = i % 2 == 0 ? TB_MEMORY_MANAGED : TB_MEMORY_DEVICE;
        if (scenario.memory == TB_MEMORY_MANAGED) {
            fail_everywhere(&scenario, goes_half_way ? "launch" : "any", failure);
        } else if (strcmp(failure, "memory") == 0) {
            fail_everywhere(&scenario, "launch", failure);
            if (scenario.foldings > 0)
                fail_everywhere(&scenario, "allocate", failure);
        }
    }
}

/* Without memory for what is to be folded, kernels that can do without are asked to add one term after the other: the copy is
 * that of zeros to a Hermitian C's diagonal, which those that need no memory at all clear themselves. */
static void add_terms_where_there_is_no_room(void)
{
    static const scenario scenario = {.element = TB_COMPLEX_FP64,
                                      .m = 130,
                                      .n = 130,
                                      .k = 250,
                                      .triangle = TB_UPPER,
                                      .hermitian = true,
                                      .two_terms = true,
                                      .beta = -2,
                                      .threads = 1,
                                      .memory = TB_MEMORY_DEVICE};
    const report folded = run_scenario(&scenario, ""),
                 by_terms = run_scenario(&scenario, "allocate:1=memory");
    CHECK(folded.foldings == 1 && folded.copies == 0, "%ld foldings, %ld copies", folded.foldings,
          folded.copies);
    CHECK(by_terms.foldings == 0 && by_terms.copies == 1 && by_terms.failures == 1,
          "without memory %ld foldings, %ld copies, %ld failures", by_terms.foldings, by_terms.copies,
          by_terms.failures);
}

/* What is to be folded counts among what a product takes: the device has room for it and for all of A, written out, but not for
 * both. */
static void fold_beside_a_part_of_a(void)
{
    static const scenario scenario = {.element = TB_COMPLEX_FP64,
                                      .m = 120,
                                      .n = 120,
                                      .k = 250,
                                      .triangle = TB_UPPER,
                                      .two_terms = true,
                                      .transposed = true,
                                      .beta = -2,
                                      .threads = 1,
                                      .memory = TB_MEMORY_DEVICE,
                                      .device_memory = "1",
                                      .kernel = "dgemm_naive"};
    const report report = run_scenario(&scenario, "");
    CHECK(report.foldings == 1 && report.launches == 5, "%ld foldings, %ld launches", report.foldings,
          report.launches);
}

int main(int count, char **arguments)
{
    const char *failure = count > 1 ? arguments[1] : "lost";
    const char *what = count > 2 ? arguments[2] : "";
    begin_failing();
    if (strcmp(what, "in_place") == 0)
        fail_in_c_place(failure);
    else if (strcmp(what, "folded") == 0)
        fail_in_folded(failure);
    else
        fail_in_expanded(failure);
    if (strcmp(what, "folded") == 0) {
        add_terms_where_there_is_no_room();
        fold_beside_a_part_of_a();
    }
    if (*what == '\0' && strcmp(failure, "memory") == 0)
        fail_to_fetch();
    return check_result();
}
