#include "tests/conformance/cases.h"

#include "tests/conformance/arena.h"

#include <math.h>
#include <string.h>

#define MOST_VOLUME 2e6 /* multiply-adds of a case, for the oracle's sake */

static const char *const memory_names[] = {
    [TB_MEMORY_HOST] = "host",
    [TB_MEMORY_PINNED] = "pinned",
    [TB_MEMORY_MANAGED] = "managed",
    [TB_MEMORY_DEVICE] = "device",
};

int case_memory_named(const char *name)
{
    for (int memory = TB_MEMORY_HOST; memory <= TB_MEMORY_DEVICE; memory++)
        if (strcmp(memory_names[memory], name) == 0)
            return memory;
    return CASE_MIXED_MEMORY;
}

/* Sizes at and about the edges of every tile that kernels have. */
static int64_t random_size(check_random *random)
{
    static const int64_t edges[] = {0,  1,  2,  3,  4,  5,  7,   8,   9,   15,  16,  17,
                                    31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257};
    return check_between(random, 0, 3) == 0 ? check_between(random, 1, 400) : CHECK_PICK(random, edges);
}

/* Those of double precision may be no floats. */
static double random_scalar(check_random *random, tb_element element, bool exact)
{
    static const double scalars[] = {0, 1, 1, 1, -1, -2, 0.5, 1.5}, of_doubles[] = {0.1, -1 / 3.0, 1e200};
    return tb_real_of(element) == TB_FP64 && !exact && check_between(random, 0, 3) == 0
               ? CHECK_PICK(random, of_doubles)
               : CHECK_PICK(random, scalars);
}

/* Half of those of complex routines are real. */
static double random_imaginary(check_random *random, tb_element element, bool exact)
{
    return tb_is_complex(element) && check_between(random, 0, 1) == 0 ? random_scalar(random, element, exact)
                                                                      : 0;
}

/* With no step of k there is no product that a NaN could spoil. */
static double random_alpha(check_random *random, tb_element element, bool exact, int64_t k)
{
    static const double without_product[] = {NAN, INFINITY, -INFINITY};
    const double alpha = random_scalar(random, element, exact);
    return k == 0 && check_between(random, 0, 1) == 0 ? CHECK_PICK(random, without_product) : alpha;
}

static int64_t random_ld(check_random *random, int64_t length, bool aligned)
{
    static const int64_t gaps[] = {0, 0, 0, 1, 2, 3, 4, 29};
    int64_t least = length > 1 ? length : 1;
    int64_t ld = least + CHECK_PICK(random, gaps);
    return aligned || check_between(random, 0, 2) == 0 ? (ld + 3) / 4 * 4 : ld;
}

/* Its lines begin at multiples of four elements if they are to be aligned, as some kernels ask. */
static matrix random_matrix(check_random *random, const product *p, bool transposed, bool aligned,
                            int64_t rows, int64_t columns)
{
    bool lines_are_columns = p->row_major == transposed;
    int64_t length = lines_are_columns ? rows : columns, lines = lines_are_columns ? columns : rows;
    int64_t offset = aligned || check_between(random, 0, 1) == 0 ? 0 : check_between(random, 1, 3);
    return matrix_make_of(p->c.element, length, lines, random_ld(random, length, aligned), offset);
}

static tb_routine_class class_of_spelling(const spelling *spelling)
{
    return tb_routine_rows[spelling->routine].class;
}

static const tb_class_row *row_of(const spelling *spelling)
{
    return tb_class_of(spelling->routine);
}

static bool is_in_place(const tb_class_row *class)
{
    return class->in_place != TB_OUT_OF_PLACE;
}

/* A case in eight is of another element than is wished, or its real and imaginary parts are, and one in four is GEMM. */
static bool is_like(tb_element element, tb_element wish)
{
    return element == wish || tb_real_of(element) == wish;
}

static bool has_routine(tb_routine_class class, tb_element wish)
{
    for (tb_routine routine = 0; routine < TB_PRODUCT_ROUTINES; routine++)
        if (tb_routine_rows[routine].class == class && is_like(tb_routine_rows[routine].element, wish))
            return true;
    return false;
}

/* GEMM is three times as frequent as others; batches are called otherwise, and factorizations. */
static tb_routine_class random_class(check_random *random)
{
    int64_t class;
    do
        class = check_between(random, -2, TB_CLASSES - 1);
    while (class >= 0 && (tb_class_rows[class].is_batch || tb_class_rows[class].is_lapack));
    return class < 0 ? TB_CLASS_GEMM : (tb_routine_class) class;
}

static const spelling *random_spelling(check_random *random, const case_wishes *wishes)
{
    const bool any_element = wishes->element == CASE_MIXED_ELEMENTS || check_between(random, 0, 7) == 0;
    tb_routine_class class;
    do
        class = random_class(random);
    while (!any_element && !has_routine(class, (tb_element)wishes->element));
    const spelling *spelling;
    do
        spelling = &spellings[check_between(random, 0, (int64_t)spelling_count - 1)];
    while (
        (wishes->bits != 0 && spelling->bits != wishes->bits) || class_of_spelling(spelling) != class ||
        (!any_element && !is_like(tb_routine_rows[spelling->routine].element, (tb_element)wishes->element)));
    return spelling;
}

static int random_triangle(check_random *random, bool fortran, tb_triangle *triangle)
{
    static const int letters[] = {'U', 'u', 'L', 'l'}, numbers[] = {121, 122};
    const int value = fortran ? CHECK_PICK(random, letters) : CHECK_PICK(random, numbers);
    *triangle = value == 'U' || value == 'u' || value == 121 ? TB_UPPER : TB_LOWER;
    return value;
}

static int random_transpose(check_random *random, bool fortran, bool *transposed, bool *conjugated)
{
    static const int letters[] = {'N', 'n', 'T', 't', 'C', 'c'}, numbers[] = {111, 112, 113};
    int value = fortran ? CHECK_PICK(random, letters) : CHECK_PICK(random, numbers);
    *transposed = value != 'N' && value != 'n' && value != 111;
    *conjugated = value == 'C' || value == 'c' || value == 113;
    return value;
}

static int random_side(check_random *random, bool fortran, bool *left)
{
    static const int letters[] = {'L', 'l', 'R', 'r'}, numbers[] = {141, 142};
    const int value = fortran ? CHECK_PICK(random, letters) : CHECK_PICK(random, numbers);
    *left = value == 'L' || value == 'l' || value == 141;
    return value;
}

static int random_diagonal(check_random *random, bool fortran, bool *unit)
{
    static const int letters[] = {'N', 'n', 'U', 'u'}, numbers[] = {131, 132};
    const int value = fortran ? CHECK_PICK(random, letters) : CHECK_PICK(random, numbers);
    *unit = value == 'U' || value == 'u' || value == 132;
    return value;
}

/* One element of a factor becomes a NaN or an infinity: C must show it where arithmetic carries it. */
static void spoil(check_random *random, matrix *matrix)
{
    static const double spoilers[] = {NAN, INFINITY, -INFINITY};
    if (matrix->length > 0 && matrix->lines > 0)
        matrix_set(matrix, check_between(random, 0, matrix->lines - 1),
                   check_between(random, 0, matrix->length - 1), CHECK_PICK(random, spoilers));
}

/* Fills the matrices of a product in C's place. What is solved for comes out of any substitution without a rounding error
 * where it is to be exact: twice an integer, of alphas that are a multiple of a half. */
static void fill_in_place(check_random *random, product *p)
{
    const bool multiplies = p->alpha != 0 || p->alpha_im != 0, solves = p->in_place == TB_SOLVES;
    matrix *triangle = p->structure_a == TB_TRIANGULAR ? &p->a : &p->b;
    const matrix_family drawn = p->exact ? MATRIX_INTEGERS : MATRIX_UNIFORM,
                        solvable = p->exact ? MATRIX_INTEGERS_SOLVABLE : MATRIX_SOLVABLE;
    matrix_fill(triangle, !multiplies ? MATRIX_NANS : solves ? solvable : drawn, random);
    matrix_fill(&p->c, !multiplies ? MATRIX_NANS : solves && p->exact ? MATRIX_EVEN : drawn, random);
    if (solves && p->exact && multiplies)
        product_make_solved(p);
    if (check_between(random, 0, 5) == 0 && multiplies)
        spoil(random, check_between(random, 0, 1) == 0 ? triangle : &p->c);
}

/* A, B and C where there are three of them. */
static void fill(check_random *random, product *p)
{
    const matrix_family family = p->exact ? MATRIX_INTEGERS : MATRIX_UNIFORM;
    matrix_fill(&p->a, family, random);
    if (p->b.block != p->a.block)
        matrix_fill(&p->b, family, random);
    matrix_fill(&p->c, p->beta == 0 && p->beta_im == 0 ? MATRIX_NANS : family, random);
    if (check_between(random, 0, 5) == 0)
        spoil(random, check_between(random, 0, 1) == 0 ? &p->a : &p->b);
}

/* form: what the call's layout, side, triangle, diagonal and transposes say. A square C has a triangle; SYRK's and HERK's B is
 * A; where C is multiplied or solved for in its place, nothing is there of one factor. */
static product random_product(check_random *random, tb_routine routine, const product *form)
{
    const tb_element element = tb_routine_rows[routine].element;
    const tb_class_row *class = tb_class_of(routine);
    const bool one_operand = class->has_one_operand;
    product p = *form;
    p.c.element = element;
    do {
        p.n = random_size(random);
        p.m = p.mask == TB_FULL ? random_size(random) : p.n;
        p.k = p.structure_a != TB_GENERAL ? p.m : p.structure_b != TB_GENERAL ? p.n : random_size(random);
    } while ((double)p.m * (double)p.n * (double)p.k * (p.terms == 2 ? 2 : 1) > MOST_VOLUME);
    p.exact = check_between(random, 0, 2) == 0;
    p.alpha = random_alpha(random, element, p.exact, p.k);
    p.alpha_im = one_operand && p.hermitian ? 0 : random_imaginary(random, element, p.exact);
    p.beta = is_in_place(class) ? 1 : random_scalar(random, element, p.exact);
    p.beta_im = p.hermitian || is_in_place(class) ? 0 : random_imaginary(random, element, p.exact);
    bool aligned = check_between(random, 0, 2) == 0;
    p.a = p.structure_b == TB_TRIANGULAR ? matrix_make_of(element, 0, 0, 1, 0)
                                         : random_matrix(random, &p, p.transpose_a, aligned, p.m, p.k);
    p.b = p.structure_a == TB_TRIANGULAR ? matrix_make_of(element, 0, 0, 1, 0)
          : one_operand                  ? p.a
                                         : random_matrix(random, &p, p.transpose_b, aligned, p.k, p.n);
    p.c = random_matrix(random, &p, false, aligned, p.m, p.n);
    (is_in_place(class) ? fill_in_place : fill)(random, &p);
    product_hide_the_rest(&p);
    return p;
}

static operand place_operand(check_random *random, int wish, const matrix *matrix)
{
    tb_memory memory = wish != CASE_MIXED_MEMORY
                           ? (tb_memory)wish
                           : (tb_memory)check_between(random, TB_MEMORY_HOST, TB_MEMORY_DEVICE);
    void *block = arena_allocate(memory, matrix->bytes);
    arena_copy(block, matrix->block, matrix->bytes);
    return (operand){.memory = memory, .block = block, .start = matrix_start_in(matrix, block)};
}

/* The memory of a factor, beside one of that structure: C's, where the other one is in C's place. */
static int memory_of(const routine_call *made, int wish, tb_structure other)
{
    return other == TB_TRIANGULAR ? (int)made->c.memory : wish;
}

bool case_multiplies(const routine_call *made)
{
    const product *p = &made->product;
    return (p->alpha != 0 || p->alpha_im != 0) && p->k > 0;
}

static bool has_one_operand(const routine_call *made)
{
    return made->product.b.block == made->product.a.block;
}

/* The transposition of an update of rank k, or 2 k: complex ones of symmetric matrices are not conjugated, those of Hermitian
 * ones not merely transposed. */
static void draw_update(check_random *random, const tb_class_row *class, bool fortran, bool is_complex,
                        call_arguments *x, product *form)
{
    form->hermitian = class->is_hermitian;
    form->terms = class->has_two_terms ? 2 : 1;
    do
        x->transpose_a = random_transpose(random, fortran, &form->transpose_a, &form->conjugate_a);
    while (is_complex && form->transpose_a && form->conjugate_a != form->hermitian);
    form->transpose_b = !form->transpose_a;
    form->conjugate_a = form->hermitian && form->transpose_a;
    form->conjugate_b = form->hermitian && form->transpose_b;
}

routine_call case_make(check_random *random, const case_wishes *wishes)
{
    routine_call made = {.spelling = random_spelling(random, wishes)};
    const bool fortran = made.spelling->fortran;
    const tb_class_row *class = row_of(made.spelling);
    product form = {.row_major = !fortran && check_between(random, 0, 1) == 1};
    call_arguments *x = &made.arguments;
    x->row_major = form.row_major;
    bool left = true;
    if (is_in_place(class)) {
        form.in_place = class->in_place;
        x->side = random_side(random, fortran, &left);
        *(left ? &form.structure_a : &form.structure_b) = TB_TRIANGULAR;
        x->triangle = random_triangle(random, fortran, left ? &form.stored_a : &form.stored_b);
        x->transpose_a = random_transpose(random, fortran, left ? &form.transpose_a : &form.transpose_b,
                                          left ? &form.conjugate_a : &form.conjugate_b);
        x->diagonal = random_diagonal(random, fortran, &form.unit_diagonal);
    } else if (class->is_symmetric) {
        const tb_structure structure = class->is_hermitian ? TB_HERMITIAN : TB_SYMMETRIC;
        x->side = random_side(random, fortran, &left);
        *(left ? &form.structure_a : &form.structure_b) = structure;
        x->triangle = random_triangle(random, fortran, left ? &form.stored_a : &form.stored_b);
    } else {
        x->transpose_a = random_transpose(random, fortran, &form.transpose_a, &form.conjugate_a);
        x->transpose_b = random_transpose(random, fortran, &form.transpose_b, &form.conjugate_b);
        if (class->updates)
            x->triangle = random_triangle(random, fortran, &form.mask);
    }
    if (class->turns_b)
        draw_update(random, class, fortran, tb_is_complex(tb_routine_rows[made.spelling->routine].element), x,
                    &form);

    product *p = &made.product;
    *p = random_product(random, made.spelling->routine, &form);
    made.c = place_operand(random, wishes->memory, &p->c);
    made.a = place_operand(random, memory_of(&made, wishes->memory, p->structure_b), &p->a);
    made.b = has_one_operand(&made)
                 ? made.a
                 : place_operand(random, memory_of(&made, wishes->memory, p->structure_a), &p->b);
    if (!case_multiplies(&made) && check_between(random, 0, 1) == 0)
        made.a.start = made.b.start = NULL;

    x->m = p->m;
    x->n = p->n;
    x->k = p->k;
    x->lda = left ? p->a.ld : p->b.ld;
    x->ldb = left ? p->b.ld : p->a.ld;
    x->ldc = p->c.ld;
    x->alpha = p->alpha;
    x->beta = p->beta;
    x->alpha_im = p->alpha_im;
    x->beta_im = p->beta_im;
    x->a = left ? made.a.start : made.b.start;
    x->b = left ? made.b.start : made.a.start;
    x->c = made.c.start;
    return made;
}

void case_free(routine_call *spent)
{
    matrix *matrices[] = {&spent->product.c, &spent->product.a, &spent->product.b};
    operand *operands[] = {&spent->c, &spent->a, &spent->b};
    const int count = has_one_operand(spent) ? 2 : 3;
    for (int i = 0; i < count; i++) {
        matrix_free(matrices[i]);
        arena_release(operands[i]->memory, operands[i]->block);
    }
}

/* The operand's matrix as it is now. */
static matrix fetch(const matrix *before, const operand *operand)
{
    matrix now = matrix_clone(before);
    arena_copy(now.block, operand->block, now.bytes);
    return now;
}

static bool unchanged(const matrix *before, const operand *operand)
{
    matrix now = fetch(before, operand);
    bool same = matrix_equals(before, &now);
    matrix_free(&now);
    return same;
}

bool case_holds(const routine_call *made, char *message, size_t size)
{
    if (!unchanged(&made->product.a, &made->a) || !unchanged(&made->product.b, &made->b)) {
        snprintf(message, size, "A or B was written");
        return false;
    }
    matrix c = fetch(&made->product.c, &made->c);
    bool holds = product_holds(&made->product, &c, message, size);
    matrix_free(&c);
    return holds;
}

void case_describe(const routine_call *made, char *text, size_t size)
{
    const call_arguments *x = &made->arguments;
    snprintf(text, size,
             "%s %s-major side %d triangle %d transposes %d %d diagonal %d, m=%" PRId64 " n=%" PRId64
             " k=%" PRId64 " lda=%" PRId64 " ldb=%" PRId64 " ldc=%" PRId64
             " alpha=%g%+gi beta=%g%+gi, A in %s memory at %p, B in %s memory at %p, C in %s memory at %p",
             made->spelling->name, x->row_major ? "row" : "column", x->side, x->triangle, x->transpose_a,
             x->transpose_b, x->diagonal, x->m, x->n, x->k, x->lda, x->ldb, x->ldc, x->alpha, x->alpha_im,
             x->beta, x->beta_im, memory_names[made->a.memory], x->a, memory_names[made->b.memory], x->b,
             memory_names[made->c.memory], x->c);
}
