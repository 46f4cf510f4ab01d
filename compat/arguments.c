/* The reference BLAS's argument rules; see arguments.h. Checks run in the order of Netlib's Fortran and of its
 * CBLAS, because with several irregular arguments the first one found is the one reported.
 */
#include "compat/arguments.h"

#include <stdbool.h>

static int64_t at_least_one(int64_t rows)
{
    return rows > 1 ? rows : 1;
}

/* Fortran's number of the first irregular size, 0 when all are regular. */
static int check_sizes(const tb_product *product)
{
    const tb_size_numbers *numbers = &tb_class_of(product->routine)->numbers;
    /* A symmetric or triangular matrix stands first in the call, on whichever side it is. */
    const bool b_first = product->b.structure != TB_GENERAL;
    const tb_operand *first = b_first ? &product->b : &product->a;
    const tb_operand *second = b_first ? &product->a : &product->b;
    if (numbers->m && product->m < 0)
        return numbers->m;
    if (product->n < 0)
        return numbers->n;
    if (numbers->k && product->k < 0)
        return numbers->k;
    if (first->ld < at_least_one(first->rows))
        return numbers->lda;
    if (numbers->ldb && second->ld < at_least_one(second->rows))
        return numbers->ldb;
    if (product->c.ld < at_least_one(product->c.rows))
        return numbers->ldc;
    return 0;
}

/* The same for CBLAS, where the layout comes before Fortran's arguments. The order of checks is that of the column-major
 * product, but what is reported is the caller's own argument: where the layout has exchanged two, the other one. */
static int check_cblas_sizes(const tb_product *product, bool exchanged)
{
    const tb_size_numbers *numbers = &tb_class_of(product->routine)->numbers;
    const bool exchanges_operands = exchanged && numbers->ldb && numbers->k && product->terms < 2;
    const int number = check_sizes(product);
    if (number == 0)
        return 0;
    if (exchanged && numbers->m && number == numbers->m)
        return numbers->n + 1;
    if (exchanged && numbers->m && number == numbers->n)
        return numbers->m + 1;
    if (exchanges_operands && number == numbers->lda)
        return numbers->ldb + 1;
    if (exchanges_operands && number == numbers->ldb)
        return numbers->lda + 1;
    return number + 1;
}

/* ---- Letters ---------------------------------------------------------------------------------------------- */

/* Complex updates of symmetric matrices are not conjugated, those of Hermitian ones not merely transposed. */
static bool is_of_class(tb_operation operation, tb_routine routine)
{
    const tb_class_row *class = tb_class_of(routine);
    return !class->turns_b || !tb_is_complex(tb_routine_rows[routine].element) || !operation.transposed ||
           operation.conjugated == class->is_hermitian;
}

static bool read_operation(int value, tb_routine routine, tb_operation *operation)
{
    operation->transposed = value != TB_NO_TRANSPOSE;
    operation->conjugated =
        value == TB_CONJUGATE_TRANSPOSE && tb_is_complex(tb_routine_rows[routine].element);
    return value >= TB_NO_TRANSPOSE && value <= TB_CONJUGATE_TRANSPOSE && is_of_class(*operation, routine);
}

/* What the value of an argument says; false where it is none. */
static bool read_value(char letter, bool is_second, int value, tb_arguments *read)
{
    switch (letter) {
    case 'S':
        read->right = value == TB_CBLAS_RIGHT;
        return value == TB_CBLAS_RIGHT || value == TB_CBLAS_LEFT;
    case 'U':
        read->triangle = value == TB_CBLAS_LOWER ? TB_LOWER : TB_UPPER;
        return value == TB_CBLAS_LOWER || value == TB_CBLAS_UPPER;
    case 'D':
        read->unit_diagonal = value == TB_CBLAS_UNIT;
        return value == TB_CBLAS_UNIT || value == TB_CBLAS_NON_UNIT;
    default:
        return read_operation(value, read->routine, is_second ? &read->operation_b : &read->operation_a);
    }
}

int tb_read_cblas(int layout, const int *values, const tb_arguments *given, tb_product *product)
{
    const char *letters = tb_class_of(given->routine)->letters;
    const bool row_major = layout == TB_ROW_MAJOR;
    tb_arguments read = *given;
    if (!row_major && layout != TB_COLUMN_MAJOR)
        return 1;
    for (int i = 0; letters[i]; i++)
        if (!read_value(letters[i], i > 0 && letters[i - 1] == letters[i], values[i], &read))
            return 2 + i;
    if (row_major)
        read = tb_arguments_by_columns(&read);
    *product = tb_product_of(&read);
    return check_cblas_sizes(product, row_major);
}

/* ---- Fortran ---------------------------------------------------------------------------------------------- */

/* CBLAS's value for what a letter says; 0, which is none, where it says nothing. */
static int value_of(char argument, char letter)
{
    static const struct {
        char argument, letter;
        int value;
    } values[] = {
        {'S', 'L', TB_CBLAS_LEFT},          {'S', 'R', TB_CBLAS_RIGHT},    {'U', 'U', TB_CBLAS_UPPER},
        {'U', 'L', TB_CBLAS_LOWER},         {'T', 'N', TB_NO_TRANSPOSE},   {'T', 'T', TB_TRANSPOSE},
        {'T', 'C', TB_CONJUGATE_TRANSPOSE}, {'D', 'N', TB_CBLAS_NON_UNIT}, {'D', 'U', TB_CBLAS_UNIT},
    };
    const char capital = letter >= 'a' && letter <= 'z' ? (char)(letter - 'a' + 'A') : letter;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (values[i].argument == argument && values[i].letter == capital)
            return values[i].value;
    return 0;
}

/* A call of Fortran's is a column-major one of CBLAS's, whose first argument it does not have. */
int tb_read_fortran(const char *letters, const tb_arguments *given, tb_product *product)
{
    const char *arguments = tb_class_of(given->routine)->letters;
    int values[TB_LETTERS_MOST] = {0};
    for (int i = 0; arguments[i]; i++)
        values[i] = value_of(arguments[i], letters[i]);
    const int number = tb_read_cblas(TB_COLUMN_MAJOR, values, given, product);
    return number > 0 ? number - 1 : 0;
}
