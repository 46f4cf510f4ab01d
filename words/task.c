#include "words/task.h"

#include <stdio.h>
#include <string.h>

size_t tb_task_bytes(tb_task task)
{
    if (tb_is_product(task))
        return tb_product_bytes(task.product);
    const size_t all = tb_matrix_bytes(&task.factor->a),
                 solved = tb_solves(task.factor) ? tb_matrix_bytes(&task.factor->b) : 0;
    return (task.factor->stored == TB_FULL ? all : all / 2) + solved;
}

/* A triangle's letter; TB_FULL has none. */
static const char triangles[] = {[TB_LOWER] = 'L', [TB_UPPER] = 'U'};

static char operation_letter(const tb_operand *operand)
{
    if (operand->conjugated)
        return operand->transposed ? 'C' : 'R';
    return operand->transposed ? 'T' : 'N';
}

static char *add_letters_of_product(const tb_product *product, char *text)
{
    const bool left = tb_is_symmetric_left(product);
    const tb_operand *structured = left ? &product->a : &product->b;
    if (left || product->b.structure != TB_GENERAL) {
        *text++ = left ? 'L' : 'R';
        *text++ = triangles[structured->stored];
        if (product->in_place != TB_OUT_OF_PLACE) {
            *text++ = operation_letter(structured);
            *text++ = structured->unit_diagonal ? 'U' : 'N';
        }
    } else {
        if (product->mask != TB_FULL)
            *text++ = triangles[product->mask];
        *text++ = operation_letter(&product->a);
        *text++ = operation_letter(&product->b);
    }
    return text;
}

static char *add_letters_of_factor(const tb_factor *factor, char *text)
{
    const tb_class_row *class = tb_class_of(factor->routine);
    if (strchr(class->letters, 'S'))
        *text++ = factor->on_the_right ? 'R' : 'L';
    if (factor->stored != TB_FULL)
        *text++ = triangles[factor->stored];
    if (strchr(class->letters, 'T'))
        *text++ = factor->conjugated ? 'C' : factor->transposed ? 'T' : 'N';
    if (strchr(class->letters, 'D'))
        *text++ = factor->unit_diagonal ? 'U' : 'N';
    return text;
}

void tb_print_letters(tb_task task, char text[static TB_LETTERS_SIZE])
{
    if (tb_is_product(task))
        text = add_letters_of_product(task.product, text);
    else
        text = add_letters_of_factor(task.factor, text);
    *text = '\0';
}

static int add_integer(char *text, int length, const char *key, int64_t value)
{
    return length +
           snprintf(text + length, (size_t)(TB_TASK_TEXT_SIZE - length), " %s=%lld", key, (long long)value);
}

/* Both parts where the task's numbers are complex. */
static int add_scalar(char *text, int length, const char *key, tb_scalar scalar, bool is_complex)
{
    char *end = text + length;
    const size_t left = (size_t)(TB_TASK_TEXT_SIZE - length);
    return length + (is_complex ? snprintf(end, left, " %s=(%g,%g)", key, scalar.re, scalar.im)
                                : snprintf(end, left, " %s=%g", key, scalar.re));
}

void tb_print_task(tb_task task, char text[static TB_TASK_TEXT_SIZE])
{
    const tb_extents extents = tb_task_extents(task);
    const bool is_complex = tb_is_complex(tb_task_element(task));
    char letters[TB_LETTERS_SIZE];
    tb_print_letters(task, letters);
    int length = snprintf(text, TB_TASK_TEXT_SIZE, "%s%s%s", tb_routine_rows[tb_task_routine(task)].name,
                          *letters ? " " : "", letters);
    if (tb_task_members(task) > 1)
        length = add_integer(text, length, "products", tb_task_members(task));
    for (int i = 0; i < extents.count; i++)
        length = add_integer(text, length, (const char[]){extents.names[i], '\0'}, extents.of[i]);
    for (int i = 0; i < tb_task_matrices(task); i++)
        length = add_integer(text, length, (const char[]){'l', 'd', (char)('a' + i), '\0'},
                             tb_task_matrix(task, i)->ld);
    if (tb_is_product(task)) {
        length = add_scalar(text, length, "alpha", task.product->alpha, is_complex);
        add_scalar(text, length, "beta", task.product->beta, is_complex);
    }
}
