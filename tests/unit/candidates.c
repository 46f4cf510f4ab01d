/* Rows of the catalog as those see them who choose among them: on which devices they run, which products they serve, and what is
 * counted for serving them.
 */
#include "dispatch/plan.h"
#include "tests/check.h"
#include "tests/unit/decide_row.h"
#include "words/members.h"
#include "words/lowered.h"

#include <math.h>

/* Compute capabilities on which a row of sm_80 that gains there alone runs, and may be chosen. */
static void a_row_may_run_where_it_gains_nothing(void)
{
    const tb_kernel kernel = {
        .architecture = 80, .architecture_end = 100, .major_only = true, .chosen_end = 90};
    static const struct {
        int architecture;
        bool runs, is_chosen;
    } cases[] = {{75, false, false}, {80, true, true},  {86, false, false},
                 {89, false, false}, {90, true, false}, {100, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int architecture = cases[i].architecture;
        const bool runs = tb_kernel_runs_on(&kernel, architecture);
        CHECK(runs == cases[i].runs, "architecture %d", architecture);
        CHECK((runs && tb_kernel_is_free_on(&kernel, architecture)) == cases[i].is_chosen, "architecture %d",
              architecture);
    }
}

/* A masked product gets nothing of a row that knows no masks; one of the others serves it on every device. */
static void masked_products_get_kernels_that_mask(void)
{
    static const int architectures[] = {75, 80, 86, 90, 100, 120};
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++) {
        const tb_chip chip = {.architecture = architectures[i], .multiprocessors = 100};
        int serving[TB_REAL_ELEMENTS] = {0};
        for (size_t row = 0; row < tb_catalog_size; row++) {
            const tb_kernel *kernel = &tb_catalog[row];
            if (kernel->reads != TB_READS_PLAIN) /* for products that are not plain */
                continue;
            tb_product product =
                tb_gemm(TB_SGEMM, false, false, 20, 20, 20, 1, NULL, 20, NULL, 20, 0, NULL, 20);
            for (tb_role role = TB_A; role < TB_ROLES; role++)
                product.operands[role].element = kernel->element;
            const bool full = tb_kernel_serves(kernel, &product, &chip, true);
            product.mask = TB_UPPER;
            const bool masked = tb_kernel_serves(kernel, &product, &chip, true);
            CHECK(masked == (full && kernel->masks), "%s: %d without a mask, %d with one", kernel->name, full,
                  masked);
            serving[kernel->element] += masked && tb_kernel_is_free_on(kernel, chip.architecture);
        }
        for (int element = 0; element < TB_REAL_ELEMENTS; element++)
            CHECK(serving[element] > 0, "%d: no kernel for a masked product of element %d", architectures[i],
                  element);
    }
}

/* Rows that read complex numbers as they lie: of all that a product may be, what they serve. */
static void complex_rows_serve_one_general_product(void)
{
    static double memory[4] __attribute__((aligned(16)));
    enum { NOTHING, ALPHA, BETA, STRUCTURE_A, STRUCTURE_B, TERMS, ADDRESS, LONG_K, CHANGES };
    for (size_t row = 0; row < tb_catalog_size; row++)
        for (int change = NOTHING; tb_catalog[row].reads == TB_READS_COMPLEX && change < CHANGES; change++) {
            const tb_kernel *kernel = &tb_catalog[row];
            tb_product product =
                tb_gemm(TB_ZGEMM, false, false, 20, 20, 20, 1, memory, 20, memory, 20, 1, NULL, 20);
            product.alpha.im = change == ALPHA;
            product.beta.im = change == BETA;
            product.a.structure = change == STRUCTURE_A ? TB_SYMMETRIC : TB_GENERAL;
            product.b.structure = change == STRUCTURE_B ? TB_HERMITIAN : TB_GENERAL;
            product.terms = change == TERMS ? 2 : 1;
            product.b.data = change == ADDRESS ? memory + 1 : memory;
            product.k = change == LONG_K ? kernel->k_limit + 1 : 20;
            CHECK(tb_kernel_serves(kernel, &product, &h200s[0], false) == (change == NOTHING),
                  "%s, change %d", kernel->name, change);
        }
}

/* Where memory is what a product takes, that is of each complex number 16 bytes. */
static void complex_rows_read_operands_once(void)
{
    enum { M = 100000, N = 32, K = 1000 };
    tb_chip slow = h200s[0];
    slow.memory_rate /= 10;
    slow.memory_bytes_a_clock = 1.8; /* an H200 has ten times as many */
    const tb_product product = tb_gemm(TB_ZGEMM, false, false, M, N, K, 1, NULL, M, NULL, K, 0, NULL, M);
    const double least = (double)tb_matrix_bytes(&product.a.matrix) / slow.memory_rate;
    for (size_t row = 0; row < tb_catalog_size; row++) {
        const tb_kernel *kernel = &tb_catalog[row];
        if (kernel->reads != TB_READS_COMPLEX)
            continue;
        const double seconds = tb_kernel_seconds(kernel, &product, &slow);
        CHECK(seconds > least && seconds < 1.5 * least, "%s: %g s, of which reading takes %g", kernel->name,
              seconds, least);
    }
}

/* Structured rows serve what is not plain, and batches of what is; without memory nobody but they makes a Hermitian diagonal
 * real. */
static void structured_rows_serve_what_no_other_does(void)
{
    static double memory[4] __attribute__((aligned(128)));
    enum { N = 200 };
    const tb_kernel *structured = tb_find_kernel("sgemm_structured");
    tb_product product = tb_gemm(TB_SGEMM, false, false, N, N, N, 1, memory, N, memory, N, 0, memory, N);
    if (!CHECK(structured != NULL, "there is no sgemm_structured"))
        return;
    CHECK(!tb_kernel_serves(structured, &product, &h200s[0], false), "it serves a plain product");
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        tb_spread(&product, role, 2, N * N, NULL);
    CHECK(tb_kernel_serves(structured, &product, &h200s[0], false), "it serves no batch");

    const tb_product general =
                         tb_gemm(TB_ZGEMM, false, false, N, N, N, 1, memory, N, memory, N, 0, memory, N),
                     update = tb_rank_k(TB_ZHERK, TB_LOWER, false, N, N, 1, memory, N, 0, memory, N);
    const row row = row_on_device(N, N, N);
    const tb_facts facts = facts_of(&row);
    const tb_kernel *of_general = tb_decide_again(&general, &facts, TB_NO_MEMORY).kernel,
                    *of_update = tb_decide_again(&update, &facts, TB_NO_MEMORY).kernel;
    CHECK(of_general && of_general->reads == TB_READS_COMPLEX, "of ZGEMM: %s",
          of_general ? of_general->name : "none");
    CHECK(of_update && of_update->reads == TB_READS_STRUCTURED, "of ZHERK: %s",
          of_update ? of_update->name : "none");
}

/* What is written out for a kernel counts beside it; also for a structured row of real numbers, to which complex batches are
 * lowered. */
static void writing_operands_out_takes_time(void)
{
    static double memory[4] __attribute__((aligned(128)));
    enum { N = 1000 };
    const row row = row_on_device(N, N, N);
    const tb_facts facts = facts_of(&row);
    const tb_chip *chip = facts.machine.chips;
    const tb_product hermitian =
                         tb_symm(TB_ZHEMM, true, TB_LOWER, N, N, 1, memory, N, memory, N, 0, memory, N),
                     lowered = tb_lowered(&hermitian);
    const tb_plan plan = tb_decide(&hermitian, &facts);
    const double expanding = tb_expanding_seconds(&hermitian, &lowered, chip),
                 of_kernel = tb_kernel_seconds(plan.kernel, &lowered, chip);
    CHECK(expanding > 0 && fabs(tb_plan_seconds(&plan, &hermitian, chip) - of_kernel - expanding) < 1e-12,
          "%g s, of the kernel %g, of writing out %g", tb_plan_seconds(&plan, &hermitian, chip), of_kernel,
          expanding);

    tb_product batch = tb_gemm(TB_ZGEMM, false, false, N, N, N, 1, memory, N, memory, N, 0, memory, N);
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        tb_spread(&batch, role, 3, N * N, NULL);
    const tb_product real = tb_lowered(&batch);
    const tb_kernel *structured = tb_find_kernel("dgemm_structured");
    const double seconds = tb_resident_seconds(structured, &batch, chip),
                 least =
                     tb_kernel_seconds(structured, &real, chip) + tb_expanding_seconds(&batch, &real, chip);
    CHECK(fabs(seconds - least) < 1e-12, "%g s, not %g", seconds, least);
}

/* Lines of operands along k that begin within sectors take longer, for their distance or for where the first one begins; with
 * other operands it makes no difference, nor where elements are copied one by one. */
static void lines_within_sectors_take_longer(void)
{
    enum { M = 76, N = 4262, K = 4692, LD = 8192, VECTOR = 4 };
    static float memory[64] __attribute__((aligned(128)));
    const tb_kernel *kernel = tb_find_kernel("sgemm_simt_16x128_2");
    for (int number = 0; number < 32; number++) {
        const bool a_along_k = number & 1, b_along_k = number & 2;
        const tb_role role = number & 4 ? TB_B : TB_A;
        const int64_t apart = number & 16 ? 1 : VECTOR;
        tb_product product =
            tb_gemm(TB_SGEMM, a_along_k, !b_along_k, M, N, K, 1, memory, LD, memory + 32, LD, 0, NULL, M);
        if (apart != VECTOR) /* the other one is copied so already */
            product.operands[role == TB_A ? TB_B : TB_A].ld += 1;
        const double even = tb_kernel_seconds(kernel, &product, &h200s[0]);
        tb_operand *operand = &product.operands[role];
        if (number & 8)
            operand->ld += apart;
        else
            operand->data = memory + apart;
        const bool longer = tb_kernel_seconds(kernel, &product, &h200s[0]) > even;
        CHECK(longer == (apart == VECTOR && (role == TB_A ? a_along_k : b_along_k)), "case %d: forecast %s",
              number, longer ? "longer" : "alike");
    }
}

/* Each column of an operand that is copied first takes time beside its bytes. */
static void copying_columns_takes_time(void)
{
    static float memory[64] __attribute__((aligned(128)));
    static const int64_t sizes[][2] = {{100, 10000}, {10000, 100}};
    int padded = 0;
    for (size_t row = 0; row < tb_catalog_size; row++) {
        const tb_kernel *kernel = &tb_catalog[row];
        double seconds[2];
        if (!kernel->pads || kernel->alignment == 1 || kernel->element != TB_FP32)
            continue;
        for (int i = 0; i < 2; i++) {
            tb_product product = tb_gemm(TB_SGEMM, false, false, sizes[i][0], 5000, sizes[i][1], 1, memory,
                                         10000, memory, 10000, 0, NULL, 10000);
            seconds[i] = -tb_kernel_seconds(kernel, &product, &h200s[0]);
            product.a.data = memory + 1;
            seconds[i] += tb_kernel_seconds(kernel, &product, &h200s[0]);
        }
        padded++;
        CHECK(seconds[1] > 0 && seconds[0] > 1.1 * seconds[1], "%s: 10000 columns take %g s, 100 %g s",
              kernel->name, seconds[0], seconds[1]);
    }
    CHECK(padded > 0, "no kernel has its operands copied");
}

int main(void)
{
    lines_within_sectors_take_longer();
    copying_columns_takes_time();
    a_row_may_run_where_it_gains_nothing();
    masked_products_get_kernels_that_mask();
    complex_rows_serve_one_general_product();
    complex_rows_read_operands_once();
    structured_rows_serve_what_no_other_does();
    writing_operands_out_takes_time();
    return check_result();
}
