/* Scenarios of a crowd, whose threads multiply whatever is drawn (failures_drawn.c). */
#include "tests/sim/scenario.h"

#include <stdlib.h>

/* C's triangle, by SYRK or SYR2K, HERK or HER2K. */
static void draw_triangle(scenario *one, check_random *random)
{
    one->m = one->n;
    one->triangle = check_between(random, 0, 1) ? TB_LOWER : TB_UPPER;
    one->two_terms = check_between(random, 0, 1);
    one->hermitian = tb_is_complex(one->element) && check_between(random, 0, 1);
    one->transposed = check_between(random, 0, 1);
    if (one->hermitian)
        one->beta_im = 0;
    if (one->hermitian && !one->two_terms)
        one->alpha_im = 0;
}

/* Beside a factor that leaves little of the device's memory C is made in thousands of small blocks, which takes longer than all
 * else that a session does. */
static bool leaves_little(const scenario *of_all, const scenario *one)
{
    const size_t room = of_all->device_memory != NULL ? (size_t)atol(of_all->device_memory) << 20 : 0,
                 factor = (size_t)one->k * (size_t)one->k * tb_bytes_of(one->element);
    return factor < room && factor > room - room / 4;
}

scenario scenario_draw(const scenario *of_all, check_random *random)
{
    static const tb_in_place kinds[] = {TB_OUT_OF_PLACE, TB_OUT_OF_PLACE, TB_MULTIPLIES, TB_SOLVES};
    static const tb_element elements[] = {TB_FP32, TB_FP64, TB_COMPLEX_FP32, TB_COMPLEX_FP64,
                                          TB_COMPLEX_FP64};
    static const tb_memory memories[] = {TB_MEMORY_HOST, TB_MEMORY_HOST, TB_MEMORY_HOST, TB_MEMORY_PINNED,
                                         TB_MEMORY_MANAGED};
    static const int most[] = {9, 70, 300};
    static const double betas[] = {0, 1, -2}, parts[] = {0, 0, 0.5};
    scenario one = {.element = CHECK_PICK(random, elements),
                    .m = (int)check_between(random, 1, CHECK_PICK(random, most)),
                    .n = (int)check_between(random, 1, CHECK_PICK(random, most)),
                    .k = (int)check_between(random, 1, CHECK_PICK(random, most)),
                    .beta = CHECK_PICK(random, betas),
                    .threads = 1,
                    .memory = CHECK_PICK(random, memories),
                    .managed_c = check_between(random, 0, 7) == 0};
    const bool is_complex = tb_is_complex(one.element);
    if (is_complex) {
        one.alpha_im = CHECK_PICK(random, parts);
        /* Products in host memory with a complex beta are the host's. */
        one.beta_im = one.memory == TB_MEMORY_MANAGED && check_between(random, 0, 3) == 0 ? 0.5 : 0;
    }
    if (of_all->drawn_on_device && check_between(random, 0, 3) == 0) {
        one.memory = TB_MEMORY_DEVICE;
        one.host_c = check_between(random, 0, 1);
        one.beta_im = is_complex && check_between(random, 0, 1) ? 0.5 : one.beta_im;
    }
    if (check_between(random, 0, 3) == 0) {
        draw_triangle(&one, random);
        return one;
    }
    one.in_place = CHECK_PICK(random, kinds);
    one.unit_diagonal = check_between(random, 0, 1);
    one.structure =
        one.in_place != TB_OUT_OF_PLACE
            ? TB_TRIANGULAR
            : (tb_structure)check_between(random, TB_GENERAL, is_complex ? TB_HERMITIAN : TB_SYMMETRIC);
    if (one.structure == TB_GENERAL || one.structure == TB_TRIANGULAR)
        one.transposed = check_between(random, 0, 1);
    if (one.structure != TB_GENERAL) {
        one.structured_right = check_between(random, 0, 1);
        one.stored = check_between(random, 0, 1) ? TB_LOWER : TB_UPPER;
        int *const side = one.structured_right ? &one.n : &one.m;
        one.k = *side;
        *side -= leaves_little(of_all, &one) ? *side / 4 : 0;
        one.k = *side;
    }
    return one;
}
