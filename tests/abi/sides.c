/* Routines with a side (PRODUCT_CLASS: SYMM or TRIANGULAR): a call is as large as the side makes it, in whichever letter or
 * number that comes. Calls that are too small to gain go on unlooked at and are not counted (tileblas_read_statistics), all
 * others are.
 */
#include "include/tileblas.h"
#include "tests/abi/product.h"
#include "tests/check.h"

/* With A on the long side a call is more than small, with A on the short one it is small: 80^3 multiply-adds lie in between. */
enum { LONG = 600, SHORT = 4 };

static unsigned long long counted_calls(void)
{
    tileblas_statistics now;
    tileblas_read_statistics(&now, sizeof now);
    return now.host.calls + now.resident.calls + now.streamed.calls;
}

/* Has the options read: until then every call is looked at. */
static void options_are_read(const product_call *call)
{
    static bool are_read;
    if (!are_read)
        product_make(call);
    are_read = true;
}

static bool is_counted(const product_call *call)
{
    const unsigned long long before = counted_calls();
    product_make(call);
    return counted_calls() > before;
}

typedef struct form {
    int layout, side;
    bool left;
} form;

static void check_call(const form *form, bool tall)
{
    const int layout = form->layout, side = form->side;
    const bool left = form->left;
    const integer m = tall ? LONG : SHORT, n = tall ? SHORT : LONG, order = left ? m : n;
    real *a = calloc((size_t)(order * order), sizeof *a), *b = calloc((size_t)(m * n), sizeof *b),
         *c = calloc((size_t)(m * n), sizeof *c);
    const integer line = layout == ROW_MAJOR ? n : m;
    for (integer i = 0; i < order; i++)
        a[i * (order + 1)] = 1;
    const product_call call = {.layout = layout,
                               .side = side,
                               .triangle = layout == FORTRAN ? 'u' : UPPER,
                               .transpose_a = layout == FORTRAN ? 'n' : NO_TRANSPOSE,
                               .diagonal = layout == FORTRAN ? 'n' : NON_UNIT,
                               .m = m,
                               .n = n,
                               .lda = order,
                               .ldb = line,
                               .ldc = line,
                               .alpha = 2,
                               .beta = 1,
                               .a = a,
                               .b = b,
                               .c = c};
    options_are_read(&call);
    const bool counted = is_counted(&call);
    CHECK(counted == (left == tall), "%s layout %d, %d x %d, side %d: a call that is %s", PRODUCT_ROUTINE,
          layout, (int)m, (int)n, side, counted ? "small was looked at" : "not small went on unlooked at");
    free(a);
    free(b);
    free(c);
}

int main(void)
{
    static const form forms[] = {
        {FORTRAN, 'L', true},    {FORTRAN, 'l', true},       {FORTRAN, 'R', false},
        {FORTRAN, 'r', false},   {COLUMN_MAJOR, LEFT, true}, {COLUMN_MAJOR, RIGHT, false},
        {ROW_MAJOR, LEFT, true}, {ROW_MAJOR, RIGHT, false},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (int tall = 0; tall < 2; tall++)
            check_call(&forms[i], tall);
    return check_result();
}
