/* Regular calls become the canonical product, whichever way they are made. */
#include "tests/unit/argument_calls.h"

/* A matrix as the product reads it: its element (i, j) lies so far from its first one. */
static int64_t distance(const tb_operand *x, int64_t i, int64_t j)
{
    return x->transposed ? j + i * x->ld : i + j * x->ld;
}

/* The same of a caller's matrix. */
static int64_t distance_given(bool row_major, bool transposed, int64_t i, int64_t j, int64_t ld)
{
    return row_major != transposed ? j + i * ld : i + j * ld;
}

static bool is_same(tb_scalar x, tb_scalar y)
{
    return x.re == y.re && x.im == y.im;
}

static bool is_of_symm(void)
{
    return tb_class_of(routine)->is_symmetric;
}

/* One form of a call: the values of its arguments, and what they mean. */
typedef struct form {
    int value;
    bool set; /* transposed; the lower triangle */
} form;

static const form cblas_transposes[] = {{N, false}, {T, true}, {C, true}},
                  fortran_transposes[] = {{'N', false}, {'n', false}, {'T', true},
                                          {'t', true},  {'C', true},  {'c', true}},
                  cblas_triangles[] = {{U, false}, {L, true}},
                  fortran_triangles[] = {{'U', false}, {'u', false}, {'L', true}, {'l', true}};
#define SIZE(forms) (int)(sizeof(forms) / sizeof *(forms))

/* Whether the product's element (i, j) of C is the caller's, or the caller's (j, i) if the two are exchanged: it lies where
 * the caller has it, is made of the same elements of A and B, and belongs to the mask if it belongs to the
 * caller's triangle. */
static bool is_callers(const tb_product *p, const tb_arguments *g, const row *row, const form *triangle,
                       bool transpose_a, bool transpose_b, int64_t i, int64_t j)
{
    const bool row_major = row->layout == R, has_triangle = tb_class_of(routine)->updates;
    const bool exchanged = row_major;
    const int64_t row_of = exchanged ? j : i, column_of = exchanged ? i : j;
    if (distance(&p->c, i, j) != distance_given(row_major, false, row_of, column_of, g->ldc))
        return false;
    const bool belongs = !has_triangle || (triangle->set ? row_of >= column_of : row_of <= column_of);
    const tb_range rows = tb_masked_rows(p, j);
    if (belongs != (i >= rows.first && i < rows.first + rows.count))
        return false;
    const bool one_operand = has_one_operand();
    const void *b = one_operand ? g->a : g->b;
    const int64_t ldb = one_operand ? g->lda : g->ldb;
    const bool b_transposed = turns_b() ? !transpose_a : transpose_b;
    for (int64_t l = 0; l < p->k; l++) {
        const int64_t left = distance_given(row_major, transpose_a, row_of, l, g->lda),
                      right = distance_given(row_major, b_transposed, l, column_of, ldb);
        const bool same = p->a.data == g->a && p->b.data == b && distance(&p->a, i, l) == left &&
                          distance(&p->b, l, j) == right;
        const bool crossed = p->a.data == b && p->b.data == g->a && distance(&p->a, i, l) == right &&
                             distance(&p->b, l, j) == left;
        if (!same && !crossed)
            return false;
    }
    return true;
}

/* op(A) and op(B) are conjugated where the caller says so, which complex routines alone do: a row-major call's op(A) is op(B). */
static bool conjugates_as_asked(const tb_product *p, const row *row)
{
    const bool is_complex = tb_is_complex(tb_routine_rows[routine].element);
    const bool a = is_complex && strchr("Cc\161", row->transpose_a) != NULL,
               b = is_complex && strchr("Cc\161", row->transpose_b) != NULL;
    if (turns_b()) {
        const bool hermitian = tb_is_hermitian_routine(routine);
        return p->a.conjugated == (hermitian && p->a.transposed) &&
               p->b.conjugated == (hermitian && p->b.transposed);
    }
    return p->a.conjugated == (row->layout == R ? b : a) && p->b.conjugated == (row->layout == R ? a : b);
}

static void check_form(row row, form triangle, form a, form b)
{
    static float memory[3];
    tb_arguments given = arguments_of(&row);
    given.a = &memory[0];
    given.b = &memory[1];
    given.c = &memory[2];
    const bool is_complex = tb_is_complex(tb_routine_rows[routine].element);
    given.alpha = (tb_scalar){2, is_complex ? 5 : 0};
    given.beta = (tb_scalar){3, is_complex ? 7 : 0};
    row.triangle = triangle.value;
    row.transpose_a = a.value;
    row.transpose_b = b.value;
    tb_product p;
    if (refuses(a.value))
        return;
    const int number = read_call(&row, &given, &p);
    if (!CHECK(number == 0, "%s: a regular call, %d", tb_routine_rows[routine].name, number))
        return;
    const tb_class_row *class = tb_class_of(routine);
    const int64_t m = class->updates ? row.n : row.m;
    CHECK(p.routine == routine && tb_element_of(&p) == tb_routine_rows[routine].element, "routine");
    CHECK(p.m == (row.layout == R ? row.n : m) && p.n == (row.layout == R ? m : row.n) && p.k == row.k,
          "sizes");
    const bool turns_alpha = row.layout == R && class->has_two_terms && class->is_hermitian;
    const tb_scalar alpha = {given.alpha.re, turns_alpha ? -given.alpha.im : given.alpha.im};
    CHECK(p.c.data == given.c && is_same(p.alpha, alpha) && is_same(p.beta, given.beta), "C and scalars");
    CHECK((p.mask == TB_FULL) == !class->updates && p.diagonal == 0 && (p.terms == 2) == is_two_term(),
          "mask");
    CHECK(conjugates_as_asked(&p, &row), "%s, layout %d, transposes %d %d: conjugated otherwise",
          tb_routine_rows[routine].name, row.layout, a.value, b.value);
    CHECK(has_one_operand() == tb_has_one_operand(&p), "one operand");
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        const tb_operand *x = &p.operands[role];
        const int64_t rows = role == TB_B ? p.k : p.m, columns = role == TB_A ? p.k : p.n;
        CHECK(x->rows == (x->transposed ? columns : rows) && x->columns == (x->transposed ? rows : columns),
              "the operand's own rows and columns");
    }
    long wrong = 0;
    for (int64_t i = 0; i < p.m; i++)
        for (int64_t j = 0; j < p.n; j++)
            wrong += !is_two_term() && !is_callers(&p, &given, &row, &triangle, a.set, b.set, i, j);
    CHECK(wrong == 0, "%s, layout %d, triangle %d, transposes %d %d: %ld elements are others'",
          tb_routine_rows[routine].name, row.layout, triangle.value, a.value, b.value, wrong);
}

static const form cblas_sides[] = {{LEFT, true}, {RIGHT, false}},
                  fortran_sides[] = {{'L', true}, {'l', true}, {'R', false}, {'r', false}},
                  cblas_diagonals[] = {{NON_UNIT, false}, {UNIT, true}},
                  fortran_diagonals[] = {{'N', false}, {'n', false}, {'U', true}, {'u', true}};

/* SYMM's operand is on the side and in the triangle that the caller's matrix has, by columns. Nothing is transposed or
 * conjugated. */
static void check_symm_form(row row, form triangle, form side)
{
    static float memory[3];
    tb_arguments given = arguments_of(&row);
    given.a = &memory[0];
    given.b = &memory[1];
    given.c = &memory[2];
    given.alpha = (tb_scalar){2, 5};
    given.beta = (tb_scalar){3, 7};
    row.triangle = triangle.value;
    row.transpose_a = side.value;
    tb_product p;
    const int number = read_call(&row, &given, &p);
    if (!CHECK(number == 0, "%s: a regular call, %d", tb_routine_rows[routine].name, number))
        return;
    const bool exchanged = row.layout == R, left = side.set != exchanged, lower = triangle.set != exchanged;
    const tb_operand *a = left ? &p.a : &p.b, *b = left ? &p.b : &p.a;
    const tb_structure structure = tb_class_of(routine)->is_hermitian ? TB_HERMITIAN : TB_SYMMETRIC;
    const bool sizes = p.m == (exchanged ? row.n : row.m) && p.n == (exchanged ? row.m : row.n) &&
                       p.k == (left ? p.m : p.n) && a->rows == p.k && a->columns == p.k && b->rows == p.m &&
                       b->columns == p.n && p.c.rows == p.m && p.c.columns == p.n;
    const bool places = a->data == given.a && a->ld == row.lda && b->data == given.b && b->ld == row.ldb &&
                        p.c.data == given.c && p.c.ld == row.ldc;
    const bool reading = a->structure == structure && a->stored == (lower ? TB_LOWER : TB_UPPER) &&
                         b->structure == TB_GENERAL && a->diagonal == 0 && !a->transposed && !a->conjugated &&
                         !b->transposed && !b->conjugated && p.mask == TB_FULL;
    CHECK(p.routine == routine && sizes && places && reading && is_same(p.alpha, given.alpha) &&
              is_same(p.beta, given.beta),
          "%s, layout %d, triangle %d, side %d: sizes %d, places %d, reading %d",
          tb_routine_rows[routine].name, row.layout, triangle.value, side.value, sizes, places, reading);
}

static bool is_triangular(void)
{
    return tb_class_of(routine)->in_place != TB_OUT_OF_PLACE;
}

/* TRMM's likewise, and transposed, conjugated and with the diagonal that the caller says. B is C, and nothing else is. */
static void check_triangular_form(row row, form triangle, form side, form a, form diagonal)
{
    static float memory[2];
    const bool is_complex = tb_is_complex(tb_routine_rows[routine].element);
    tb_arguments given = arguments_of(&row);
    given.a = &memory[0];
    given.c = &memory[1];
    given.alpha = (tb_scalar){2, is_complex ? 5 : 0};
    row.triangle = triangle.value;
    row.transpose_a = a.value;
    row.transpose_b = side.value;
    row.k = diagonal.value;
    tb_product p;
    const int number = read_call(&row, &given, &p);
    if (!CHECK(number == 0, "%s: a regular call, %d", tb_routine_rows[routine].name, number))
        return;
    const bool exchanged = row.layout == R, left = side.set != exchanged, lower = triangle.set != exchanged;
    const tb_operand *x = left ? &p.a : &p.b, *none = left ? &p.b : &p.a;
    const bool sizes = p.m == (exchanged ? row.n : row.m) && p.n == (exchanged ? row.m : row.n) &&
                       p.k == (left ? p.m : p.n) && x->rows == p.k && x->columns == p.k && p.c.rows == p.m &&
                       p.c.columns == p.n && none->rows == 0 && none->columns == 0;
    const bool places = x->data == given.a && x->ld == row.lda && p.c.data == given.c && p.c.ld == row.ldc;
    const bool reading = x->structure == TB_TRIANGULAR && x->stored == (lower ? TB_LOWER : TB_UPPER) &&
                         x->diagonal == 0 && x->transposed == a.set && x->unit_diagonal == diagonal.set &&
                         x->conjugated == (is_complex && strchr("Cc\161", a.value) != NULL) &&
                         none->structure == TB_GENERAL && p.mask == TB_FULL;
    CHECK(p.routine == routine && tb_element_of(&p) == tb_routine_rows[routine].element &&
              p.in_place == tb_class_of(routine)->in_place && sizes && places && reading &&
              is_same(p.alpha, given.alpha) && tb_is_one(p.beta),
          "%s, layout %d, triangle %d, side %d, transpose %d, diagonal %d: sizes %d, places %d, reading %d",
          tb_routine_rows[routine].name, row.layout, triangle.value, side.value, a.value, diagonal.value,
          sizes, places, reading);
}

/* Calls are made in every layout, triangle, side and transposition, and with either diagonal. */
static void regular_calls_become_the_same_product(void)
{
    static const int layouts[] = {F, R, K};
    for (int i = 0; i < 3; i++) {
        const bool fortran = layouts[i] == F;
        const form *transposes = fortran ? fortran_transposes : cblas_transposes;
        const form *triangles = fortran ? fortran_triangles : cblas_triangles;
        const int transpose_count = fortran ? SIZE(fortran_transposes) : SIZE(cblas_transposes);
        const int triangle_count = fortran ? SIZE(fortran_triangles) : SIZE(cblas_triangles);
        const row row = {.layout = layouts[i], .m = 3, .n = 4, .k = 5, .lda = 13, .ldb = 14, .ldc = 15};
        const form *sides = fortran ? fortran_sides : cblas_sides;
        const int side_count = fortran ? SIZE(fortran_sides) : SIZE(cblas_sides);
        for (int triangle = 0; is_of_symm() && triangle < triangle_count; triangle++)
            for (int side = 0; side < side_count; side++)
                check_symm_form(row, triangles[triangle], sides[side]);
        const form *diagonals = fortran ? fortran_diagonals : cblas_diagonals;
        const int diagonal_count = fortran ? SIZE(fortran_diagonals) : SIZE(cblas_diagonals);
        for (int triangle = 0; is_triangular() && triangle < triangle_count; triangle++)
            for (int side = 0; side < side_count; side++)
                for (int a = 0; a < transpose_count; a++)
                    for (int diagonal = 0; diagonal < diagonal_count; diagonal++)
                        check_triangular_form(row, triangles[triangle], sides[side], transposes[a],
                                              diagonals[diagonal]);
        for (int triangle = 0; !is_of_symm() && !is_triangular() && triangle < triangle_count; triangle++)
            for (int a = 0; a < transpose_count; a++)
                for (int b = 0; b < transpose_count; b++)
                    check_form(row, triangles[triangle], transposes[a], transposes[b]);
    }
}

int main(void)
{
    for (routine = 0; routine < TB_PRODUCT_ROUTINES; routine++)
        if (!tb_class_rows[class_of_routine()].is_batch)
            regular_calls_become_the_same_product();
    return check_result();
}
