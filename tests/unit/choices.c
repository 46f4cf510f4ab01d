/* A choice of a kernel that is remembered (lib/call/facts.h) is the one that would be made. Deciding is pure: what was chosen anew
 * is told, and nothing is kept. */
#include "dispatch/plan.h"
#include "tests/check.h"
#include "tests/unit/decide_row.h"

#include <string.h>

static tb_choices choices;

/* Decides as a call does, and counts the answers that were not remembered. Deciding touches nothing but its answer,
 * which is the same a second time. */
static int decide_and_count(const tb_product *product, tb_facts *facts, tb_plan *plan)
{
    static tb_choices before;
    tb_new_choices chosen = {.count = 0}, again = {.count = 0};
    memcpy(&before, &choices, sizeof before);
    facts->choices = &choices;
    facts->chosen = &again;
    const tb_facts told = *facts;
    const tb_kernel *kernel = tb_decide(product, facts).kernel;
    CHECK(memcmp(&told, facts, sizeof told) == 0, "facts have changed");
    facts->chosen = &chosen;
    *plan = tb_decide(product, facts);
    CHECK(memcmp(&before, &choices, sizeof before) == 0, "what is remembered has changed");
    CHECK(plan->kernel == kernel && chosen.count == again.count &&
              memcmp(chosen.entries, again.entries, (size_t)chosen.count * sizeof *chosen.entries) == 0,
          "another answer to the same question");
    for (int i = 0; i < chosen.count; i++)
        choices.entries[tb_place_of_choice(chosen.entries[i])] = chosen.entries[i];
    facts->choices = NULL;
    facts->chosen = NULL;
    return chosen.count;
}

/* Whether all answers were remembered. */
static bool decide_with_memory(const tb_product *product, tb_facts *facts, tb_plan *plan)
{
    return decide_and_count(product, facts, plan) == 0;
}

/* A choice that is remembered is the one that would be made: whatever changes from one question to the next; of twenty
 * questions in turn most are, of which two may want the same place. */
static void what_is_remembered_is_what_would_be_chosen(void)
{
    static const int64_t extents[] = {3, 100, 1000, 1001, 4096};
    static const tb_accuracy accuracies[] = {TB_ACCURACY_IEEE, TB_ACCURACY_FP32, TB_ACCURACY_FAST};
    static const int64_t diagonals[] = {0, 0, -900, 900};
    enum { QUESTIONS = 3000, EXTENTS = sizeof extents / sizeof extents[0] };
    tb_chip chip = h200s[0];
    check_random random = {.state = 1};
    row row = row_on_device(1000, 1000, 1000);
    tb_accuracy accuracy = TB_ACCURACY_IEEE;
    tb_triangle mask = TB_FULL;
    int64_t diagonal = 0;
    int repeated = 0;
    for (int i = 0; i < QUESTIONS; i++) {
        /* One thing is another than before, or nothing. */
        int64_t *const changed[] = {&row.m, &row.n, &row.k};
        const int64_t change = check_between(&random, 0, 10);
        if (change < 3)
            *changed[change] = extents[check_between(&random, 0, EXTENTS - 1)];
        else if (change == 3)
            accuracy = accuracies[check_between(&random, 0, 2)];
        else if (change == 4)
            chip.multiprocessors = (int)check_between(&random, 20, 132);
        else if (change == 7)
            chip.memory_bytes_a_clock = (double)check_between(&random, 2, 19);
        else if (change == 8)
            mask = (tb_triangle)check_between(&random, TB_FULL, TB_UPPER);
        else if (change == 9)
            diagonal = CHECK_PICK(&random, diagonals);
        tb_product product = product_of(&row);
        product.mask = mask;
        product.diagonal = mask == TB_FULL ? 0 : diagonal;
        product.a.ld = product.b.ld = product.c.ld = 5000; /* which tells no extent */
        if (change == 5)
            product.a.data = tb_at(&product.a.matrix, 1, 0); /* off by one element */
        if (change == 6)
            product.beta = (tb_scalar){0};
        tb_facts facts = facts_of(&row);
        facts.accuracy = accuracy;
        facts.machine.chips = &chip;
        const tb_plan anew = tb_decide(&product, &facts);
        tb_plan plan;
        repeated += decide_with_memory(&product, &facts, &plan);
        CHECK(plan.kernel == anew.kernel, "m=%lld n=%lld k=%lld mask %d, diagonal %lld: %s, not %s",
              (long long)product.m, (long long)product.n, (long long)product.k, product.mask,
              (long long)product.diagonal, plan.kernel->name, anew.kernel->name);
    }
    CHECK(repeated > 0 && repeated < QUESTIONS, "%d of %d questions were answered as before", repeated,
          QUESTIONS);
    int forgotten = 0;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 20; i++) {
            row.m = 100 + i;
            const tb_product product = product_of(&row);
            tb_facts facts = facts_of(&row);
            tb_plan plan;
            const bool known = decide_with_memory(&product, &facts, &plan);
            forgotten += round == 1 && !known;
        }
    CHECK(forgotten <= 4, "%d of twenty questions were forgotten", forgotten);
}

/* A forecast may depend on whether lines begin at 128 bytes. */
static void what_is_remembered_is_of_operands_aligned_alike(void)
{
    static float operand[64] __attribute__((aligned(128)));
    check_random random = {.state = 1};
    int differ = 0;
    for (int i = 0; i < 300; i++) {
        const int64_t m = check_between(&random, 20000, 70000), n = check_between(&random, 9, 16),
                      k = check_between(&random, 1000, 3000);
        const row row = row_on_device(m, n, k);
        const tb_kernel *kernels[2];
        for (int shifted = 0; shifted < 2; shifted++) {
            tb_product product = product_of(&row);
            lay_across(&product.a);
            product.a.ld = product.b.ld = 3200;
            product.a.data = operand + 4 * shifted;
            tb_facts facts = facts_of(&row);
            facts.accuracy = TB_ACCURACY_IEEE;
            facts.machine.chips = h200s;
            const tb_kernel *anew = tb_decide(&product, &facts).kernel;
            tb_plan plan;
            decide_with_memory(&product, &facts, &plan);
            kernels[shifted] = plan.kernel;
            CHECK(kernels[shifted] == anew, "%lld x %lld x %lld: %s, not %s", (long long)row.m,
                  (long long)row.n, (long long)row.k, kernels[shifted]->name, anew->name);
        }
        differ += kernels[0] != kernels[1];
    }
    CHECK(differ > 0, "alignment makes no difference");
}

/* A forecast may depend on which half of its square a triangle is, as does where the diagonal comes along k. */
static void what_is_remembered_is_of_triangles_alike(void)
{
    enum { ORDERS = 6000 };
    check_random random = {.state = 1};
    int differ = 0;
    for (int i = 0; i < ORDERS; i++) {
        const bool left = check_between(&random, 0, 1), transposed = check_between(&random, 0, 1);
        const int64_t m = check_between(&random, 1, left ? 700 : 9000),
                      n = check_between(&random, 1, left ? 9000 : 700);
        const row row = row_on_device(m, n, left ? m : n);
        const tb_kernel *kernels[2];
        for (int upper = 0; upper < 2; upper++) {
            const tb_product product =
                tb_triangular(TB_MULTIPLIES, TB_FP64, left, upper ? TB_UPPER : TB_LOWER, transposed, false,
                              false, m, n, (tb_scalar){1, 0}, NULL, 5000, NULL, 5000);
            tb_facts facts = facts_of(&row);
            const tb_kernel *anew = tb_decide(&product, &facts).kernel;
            tb_plan plan;
            decide_with_memory(&product, &facts, &plan);
            kernels[upper] = plan.kernel;
            CHECK(plan.kernel == anew, "a triangle, %s, %s%s, of %lld x %lld: %s, not %s",
                  left ? "left" : "right", upper ? "upper" : "lower", transposed ? ", transposed" : "",
                  (long long)m, (long long)n, plan.kernel->name, anew->name);
        }
        differ += kernels[0] != kernels[1];
    }
    CHECK(differ > 0, "the half makes no difference");
}

/* Complex products: rows for complex operands as they lie serve none whose alpha or beta is complex, or one of whose
 * operands lies where 16 bytes do not begin. */
static void what_is_remembered_is_of_numbers_alike(void)
{
    enum { QUESTIONS = 2000, MEMBERS = 3 };
    static double memory[64] __attribute__((aligned(128)));
    static const int64_t extents[] = {30, 100, 300, 1000};
    check_random random = {.state = 1};
    int by_complex_rows = 0;
    for (int i = 0; i < QUESTIONS; i++) {
        const row row = row_on_device(CHECK_PICK(&random, extents), CHECK_PICK(&random, extents), 300);
        tb_product product = tb_gemm(TB_ZGEMM, false, false, row.m, row.n, row.k, 1, memory, 1000, memory,
                                     1000, 1, memory, 1000);
        const bool is_batch = check_between(&random, 0, 1);
        product.alpha.im = check_between(&random, 0, 3) == 0;
        product.beta.im = check_between(&random, 0, 3) == 0;
        for (tb_role role = TB_A; role < TB_ROLES && is_batch; role++) {
            const bool is_apart = role == TB_C || check_between(&random, 0, 3) > 0;
            product.batch.count = MEMBERS;
            product.batch.members[role] = (tb_members){.stride = is_apart ? 1000000 : 0, .uneven = !is_apart};
        }
        tb_facts facts = facts_of(&row);
        const tb_kernel *anew = tb_decide(&product, &facts).kernel;
        tb_plan plan;
        decide_with_memory(&product, &facts, &plan);
        by_complex_rows += anew->reads == TB_READS_COMPLEX;
        CHECK(plan.kernel == anew, "%lld x %lld, alpha 1%+gi, beta 1%+gi, %s: %s, not %s", (long long)row.m,
              (long long)row.n, product.alpha.im, product.beta.im,
              product.batch.members[TB_A].uneven || product.batch.members[TB_B].uneven ? "uneven" : "even",
              plan.kernel->name, anew->name);
    }
    CHECK(by_complex_rows > 0 && by_complex_rows < QUESTIONS, "%d of %d by rows for complex operands",
          by_complex_rows, QUESTIONS);
}

/* Several questions are asked of two terms: each has a place of its own. */
static void what_is_asked_of_terms_is_remembered(void)
{
    static double memory[4] __attribute__((aligned(128)));
    static const tb_routine routines[] = {TB_SSYR2K, TB_DSYR2K, TB_CSYR2K, TB_ZHER2K};
    enum { N = 1000 };
    for (size_t i = 0; i < sizeof routines / sizeof *routines; i++) {
        const row row = row_on_device(N, N, N);
        const tb_product product =
            tb_rank_2k(routines[i], TB_LOWER, false, N, N, 1, memory, N, memory, N, 1, memory, N);
        tb_facts facts = facts_of(&row);
        tb_plan plan;
        decide_with_memory(&product, &facts, &plan);
        CHECK(decide_with_memory(&product, &facts, &plan), "%s: asked anew",
              tb_routine_rows[routines[i]].name);
    }
}

/* Rows that compute the steps of a sequence are remembered, too, and its schedule is the one that would be made. Two questions
 * of one sequence rarely want the same place. */
static void what_is_asked_of_steps_is_remembered(void)
{
    static const tb_in_place kinds[] = {TB_MULTIPLIES, TB_SOLVES};
    static const int64_t extents[] = {300, 512, 1024, 5000};
    check_random random = {.state = 1};
    int sequences = 0, asked = 0, asked_again = 0;
    for (int i = 0; i < 300; i++) {
        const int64_t m = CHECK_PICK(&random, extents), n = CHECK_PICK(&random, extents);
        const bool left = check_between(&random, 0, 1);
        const row row = row_on_device(m, n, left ? m : n);
        const tb_product product = tb_triangular(
            CHECK_PICK(&random, kinds), (tb_element)check_between(&random, 0, TB_ELEMENTS - 1), left,
            check_between(&random, 0, 1) ? TB_UPPER : TB_LOWER, check_between(&random, 0, 1), false, false, m,
            n, (tb_scalar){1, 0}, NULL, 5000, NULL, 5000);
        tb_facts facts = facts_of(&row);
        const tb_plan anew = tb_decide(&product, &facts);
        tb_plan first, second;
        memset(&choices, 0, sizeof choices);
        const int questions = decide_and_count(&product, &facts, &first),
                  more = decide_and_count(&product, &facts, &second);
        const bool is_sequence = anew.kernel->sequence != TB_NO_SEQUENCE;
        CHECK(questions > is_sequence, "%s of %lld x %lld asks %d questions", anew.kernel->name, (long long)m,
              (long long)n, questions);
        CHECK(!is_sequence || (memcmp(&anew.schedule, &first.schedule, sizeof anew.schedule) == 0 &&
                               memcmp(&anew.schedule, &second.schedule, sizeof anew.schedule) == 0),
              "%s of %lld x %lld has another schedule", anew.kernel->name, (long long)m, (long long)n);
        sequences += is_sequence;
        asked += questions;
        asked_again += more;
    }
    CHECK(sequences > 0 && 50 * asked_again < asked, "%d sequences ask %d questions, and %d of them again",
          sequences, asked, asked_again);
}

int main(void)
{
    what_is_remembered_is_what_would_be_chosen();
    what_is_remembered_is_of_operands_aligned_alike();
    what_is_remembered_is_of_triangles_alike();
    what_is_remembered_is_of_numbers_alike();
    what_is_asked_of_terms_is_remembered();
    what_is_asked_of_steps_is_remembered();
    return check_result();
}
