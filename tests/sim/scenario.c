/* One call of a scenario. */
#include "tests/sim/scenario.h"

#include "tests/conformance/spellings.h"
#include "tests/oracle.h"

#include <string.h>

static void *place(const matrix *matrix, tb_memory memory)
{
    void *block = arena_allocate(memory, matrix->bytes);
    arena_copy(block, matrix->block, matrix->bytes);
    return block;
}

/* "cblas_zhemm": by class and element. */
static const spelling *spelling_of(const scenario *scenario, tb_element element)
{
    static const char letters[TB_ELEMENTS] = {
        [TB_FP32] = 's', [TB_FP64] = 'd', [TB_COMPLEX_FP32] = 'c', [TB_COMPLEX_FP64] = 'z'};
    static const char *const structured[] = {
        [TB_GENERAL] = "gemm", [TB_SYMMETRIC] = "symm", [TB_HERMITIAN] = "hemm"};
    char name[16];
    static const char *const updates[2][2] = {{"syrk", "syr2k"}, {"herk", "her2k"}};
    static const char *const in_place[] = {[TB_MULTIPLIES] = "trmm", [TB_SOLVES] = "trsm"};
    snprintf(name, sizeof name, "cblas_%c%s", letters[element],
             scenario->in_place != TB_OUT_OF_PLACE ? in_place[scenario->in_place]
             : scenario->triangle != TB_FULL       ? updates[scenario->hermitian][scenario->two_terms]
                                                   : structured[scenario->structure]);
    return spelling_named(name);
}

static matrix make_factor(tb_element element, bool transposed, int64_t rows, int64_t columns, int64_t more,
                          int64_t offset)
{
    return transposed ? matrix_make_of(element, columns, rows, columns + more, offset)
                      : matrix_make_of(element, rows, columns, rows + more, offset);
}

/* Makes the triangle of a product or solve in C's place, and nothing beside it. */
static void make_triangle(const scenario *scenario, tb_element element, check_random *random, product *p)
{
    const bool right = scenario->structured_right,
               conjugated = scenario->transposed && tb_is_complex(element);
    p->in_place = scenario->in_place;
    p->unit_diagonal = scenario->unit_diagonal;
    p->beta = 1;
    p->transpose_a = scenario->transposed && !right;
    p->transpose_b = scenario->transposed && right;
    p->conjugate_a = conjugated && !right;
    p->conjugate_b = conjugated && right;
    *(right ? &p->b : &p->a) = make_factor(element, false, p->k, p->k, 3, 1);
    *(right ? &p->a : &p->b) = matrix_make_of(element, 0, 0, 1, 0);
    matrix_fill(right ? &p->b : &p->a, MATRIX_SOLVABLE, random);
}

/* What the scenario multiplies, filled. */
static product make_product(const scenario *scenario, tb_element element, check_random *random)
{
    product p = {.m = scenario->m, .n = scenario->n, .k = scenario->k, .alpha = 1.5, .beta = scenario->beta};
    p.transpose_a = p.transpose_b = scenario->transposed;
    p.conjugate_a = scenario->transposed && tb_is_complex(element);
    if (scenario->triangle != TB_FULL) {
        p.transpose_b = !p.transpose_a;
        p.hermitian = scenario->hermitian;
        p.conjugate_a = p.hermitian && p.transpose_a;
        p.conjugate_b = p.hermitian && p.transpose_b;
        p.terms = scenario->two_terms ? 2 : 1;
        p.mask = scenario->triangle;
    }
    p.alpha_im = scenario->alpha_im;
    p.beta_im = scenario->beta_im;
    *(scenario->structured_right ? &p.structure_b : &p.structure_a) = scenario->structure;
    *(scenario->structured_right ? &p.stored_b : &p.stored_a) = scenario->stored;
    p.c = matrix_make_of(element, p.m, p.n, p.m + 1, 2);
    if (scenario->in_place != TB_OUT_OF_PLACE) {
        make_triangle(scenario, element, random, &p);
    } else {
        p.a = make_factor(element, p.transpose_a, p.m, p.k, 3, 1);
        p.b = make_factor(element, p.transpose_b, p.k, p.n, scenario->alike ? 3 : 0, 0);
        matrix_fill(&p.a, MATRIX_UNIFORM, random);
        matrix_fill(&p.b, MATRIX_UNIFORM, random);
    }
    if (scenario->triangle != TB_FULL && !scenario->two_terms) {
        matrix_free(&p.b);
        p.b = matrix_clone(&p.a);
    }
    matrix_fill(&p.c, p.beta == 0 && p.beta_im == 0 ? MATRIX_NANS : MATRIX_UNIFORM, random);
    if (scenario->structure != TB_GENERAL || scenario->hermitian)
        product_hide_the_rest(&p);
    return p;
}

bool scenario_multiply(const scenario *of_all, uint64_t seed, uint64_t number, char *wrong, size_t size)
{
    check_random random = {.state = seed + number};
    const struct scenario one = of_all->drawn ? scenario_draw(of_all, &random) : *of_all, *scenario = &one;
    const tb_element element = scenario->threads > 1 && number % 2 == 1 && !tb_is_complex(scenario->element)
                                   ? TB_FP64
                                   : scenario->element;
    product p = make_product(scenario, element, &random);
    const tb_memory memory_of_c = scenario->managed_c  ? TB_MEMORY_MANAGED
                                  : scenario->device_c ? TB_MEMORY_DEVICE
                                  : scenario->host_c   ? TB_MEMORY_HOST
                                  : scenario->pinned_c ? TB_MEMORY_PINNED
                                                       : scenario->memory;
    void *a = place(&p.a, scenario->memory), *b = place(&p.b, scenario->memory),
         *c = place(&p.c, memory_of_c);
    const bool right = scenario->structured_right, in_place = p.in_place != TB_OUT_OF_PLACE;
    const int transposition = scenario->transposed ? 112 : 111;
    const bool conjugates = p.conjugate_a || (in_place && p.conjugate_b);
    const matrix *first = right ? &p.b : &p.a, *second = right ? &p.a : &p.b;
    const tb_triangle triangle = scenario->triangle != TB_FULL ? scenario->triangle : scenario->stored;
    const call_arguments arguments = {.side = right ? 142 : 141,
                                      .triangle = triangle == TB_UPPER ? 121 : 122,
                                      .transpose_a = conjugates ? 113 : transposition,
                                      .transpose_b = transposition,
                                      .diagonal = p.unit_diagonal ? 132 : 131,
                                      .m = p.m,
                                      .n = p.n,
                                      .k = p.k,
                                      .lda = first->ld,
                                      .ldb = second->ld,
                                      .ldc = p.c.ld,
                                      .alpha = p.alpha,
                                      .beta = p.beta,
                                      .alpha_im = p.alpha_im,
                                      .beta_im = p.beta_im,
                                      .a = matrix_start_in(first, right ? b : a),
                                      .b = matrix_start_in(second, right ? a : b),
                                      .c = matrix_start_in(&p.c, c)};
    call_routine(spelling_of(scenario, element), &arguments);
    matrix result = matrix_clone(&p.c);
    arena_copy(result.block, c, result.bytes);
    const bool holds = product_holds(&p, &result, wrong, size);
    if (!holds && of_all->drawn) {
        const size_t length = strlen(wrong);
        snprintf(wrong + length, size - length,
                 " of %s m=%d n=%d k=%d, right %d, stored %d, transposed %d, memory %d, %d",
                 spelling_of(scenario, element)->name, one.m, one.n, one.k, right, (int)one.stored,
                 one.transposed, (int)one.memory, one.managed_c);
    }

    void *blocks[] = {a, b, c};
    for (int i = 0; i < 3; i++)
        arena_release(i < 2 ? scenario->memory : memory_of_c, blocks[i]);
    matrix *spent[] = {&p.a, &p.b, &p.c, &result};
    for (int i = 0; i < 4; i++)
        matrix_free(spent[i]);
    return holds;
}
