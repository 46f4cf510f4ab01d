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
    return element == TB_FP64 && !exact && check_between(random, 0, 3) == 0 ? CHECK_PICK(random, of_doubles)
                                                                            : CHECK_PICK(random, scalars);
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

/* A case in eight calls another routine than is wished. */
static const spelling *random_spelling(check_random *random, const case_wishes *wishes)
{
    const bool any_routine = wishes->routine == CASE_MIXED_ROUTINES || check_between(random, 0, 7) == 0;
    const spelling *spelling;
    do
        spelling = &spellings[check_between(random, 0, (int64_t)spelling_count - 1)];
    while ((wishes->bits != 0 && spelling->bits != wishes->bits) ||
           (!any_routine && spelling->routine != (tb_routine)wishes->routine));
    return spelling;
}

static int random_transpose(check_random *random, bool fortran, bool *transposed)
{
    static const int letters[] = {'N', 'n', 'T', 't', 'C', 'c'}, numbers[] = {111, 112, 113};
    int value = fortran ? CHECK_PICK(random, letters) : CHECK_PICK(random, numbers);
    *transposed = value != 'N' && value != 'n' && value != 111;
    return value;
}

/* One element of A or B becomes a NaN or an infinity: C must show it where arithmetic carries it. */
static void spoil(check_random *random, matrix *matrix)
{
    static const double spoilers[] = {NAN, INFINITY, -INFINITY};
    if (matrix->length > 0 && matrix->lines > 0)
        matrix_set(matrix, check_between(random, 0, matrix->lines - 1),
                   check_between(random, 0, matrix->length - 1), CHECK_PICK(random, spoilers));
}

static product random_product(check_random *random, tb_element element, bool row_major, bool transpose_a,
                              bool transpose_b)
{
    product p = {.row_major = row_major, .transpose_a = transpose_a, .transpose_b = transpose_b};
    p.c.element = element;
    do {
        p.m = random_size(random);
        p.n = random_size(random);
        p.k = random_size(random);
    } while ((double)p.m * (double)p.n * (double)p.k > MOST_VOLUME);
    p.exact = check_between(random, 0, 2) == 0;
    p.alpha = random_alpha(random, element, p.exact, p.k);
    p.beta = random_scalar(random, element, p.exact);
    bool aligned = check_between(random, 0, 2) == 0;
    p.a = random_matrix(random, &p, transpose_a, aligned, p.m, p.k);
    p.b = random_matrix(random, &p, transpose_b, aligned, p.k, p.n);
    p.c = random_matrix(random, &p, false, aligned, p.m, p.n);

    matrix_family family = p.exact ? MATRIX_INTEGERS : MATRIX_UNIFORM;
    matrix_fill(&p.a, family, random);
    matrix_fill(&p.b, family, random);
    matrix_fill(&p.c, p.beta == 0 ? MATRIX_NANS : family, random);
    if (check_between(random, 0, 5) == 0)
        spoil(random, check_between(random, 0, 1) == 0 ? &p.a : &p.b);
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

bool case_multiplies(const gemm_case *made)
{
    return made->product.alpha != 0 && made->product.k > 0;
}

gemm_case case_make(check_random *random, const case_wishes *wishes)
{
    gemm_case made = {.spelling = random_spelling(random, wishes)};
    bool fortran = made.spelling->fortran, transpose_a, transpose_b;
    gemm_arguments *x = &made.arguments;
    x->row_major = !fortran && check_between(random, 0, 1) == 1;
    x->transpose_a = random_transpose(random, fortran, &transpose_a);
    x->transpose_b = random_transpose(random, fortran, &transpose_b);

    product *p = &made.product;
    *p = random_product(random, tb_routine_rows[made.spelling->routine].element, x->row_major, transpose_a,
                        transpose_b);
    made.a = place_operand(random, wishes->memory, &p->a);
    made.b = place_operand(random, wishes->memory, &p->b);
    made.c = place_operand(random, wishes->memory, &p->c);
    if (!case_multiplies(&made) && check_between(random, 0, 1) == 0)
        made.a.start = made.b.start = NULL;

    x->m = p->m;
    x->n = p->n;
    x->k = p->k;
    x->lda = p->a.ld;
    x->ldb = p->b.ld;
    x->ldc = p->c.ld;
    x->alpha = p->alpha;
    x->beta = p->beta;
    x->a = made.a.start;
    x->b = made.b.start;
    x->c = made.c.start;
    return made;
}

void case_free(gemm_case *spent)
{
    matrix *matrices[] = {&spent->product.a, &spent->product.b, &spent->product.c};
    operand *operands[] = {&spent->a, &spent->b, &spent->c};
    for (int i = 0; i < 3; i++) {
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

bool case_holds(const gemm_case *made, char *message, size_t size)
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

void case_describe(const gemm_case *made, char *text, size_t size)
{
    const gemm_arguments *x = &made->arguments;
    snprintf(text, size,
             "%s %s-major transposes %d %d, m=%" PRId64 " n=%" PRId64 " k=%" PRId64 " lda=%" PRId64
             " ldb=%" PRId64 " ldc=%" PRId64
             " alpha=%g beta=%g, A in %s memory at %p, B in %s memory at %p, C in %s memory at %p",
             made->spelling->name, x->row_major ? "row" : "column", x->transpose_a, x->transpose_b, x->m,
             x->n, x->k, x->lda, x->ldb, x->ldc, x->alpha, x->beta, memory_names[made->a.memory], x->a,
             memory_names[made->b.memory], x->b, memory_names[made->c.memory], x->c);
}
