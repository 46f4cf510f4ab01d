#include "words/task.h"

size_t tb_task_bytes(tb_task task)
{
    if (tb_is_product(task))
        return tb_product_bytes(task.product);
    const size_t all = tb_matrix_bytes(&task.factor->a);
    return task.factor->stored == TB_FULL ? all : all / 2;
}

/* Of a triangle; TB_FULL has none. */
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

void tb_print_letters(tb_task task, char text[static TB_LETTERS_SIZE])
{
    if (tb_is_product(task))
        text = add_letters_of_product(task.product, text);
    else if (task.factor->stored != TB_FULL)
        *text++ = triangles[task.factor->stored];
    *text = '\0';
}
