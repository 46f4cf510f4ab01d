#include "tests/conformance/batch_calls.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { SPELLINGS = 12, GROUPS_MOST = 8 };

void *batch_library = RTLD_DEFAULT;

/* What a spelling has before and behind the routine's name. The last two are in capitals. */
static const struct {
    const char *before, *behind;
    bool fortran;
    int bits;
} forms[SPELLINGS] = {
    {"cblas_", "", false, 32},
    {"scipy_cblas_", "", false, 32},
    {"scipy_cblas_", "64_", false, 64},
    {"cblas_", "64_", false, 64},
    {"cblas_", "_64", false, 64},
    {"", "_", true, 32},
    {"", "", true, 32},
    {"scipy_", "_", true, 32},
    {"scipy_", "_64_", true, 64},
    {"", "_64_", true, 64},
    {"", "", true, 32},
    {"", "_64", true, 64},
};

static batch_spelling *spellings(int64_t *count)
{
    static batch_spelling all[TB_PRODUCT_ROUTINES * SPELLINGS];
    static int64_t length;
    for (tb_routine routine = 0; length == 0 || (routine > 0 && routine < TB_PRODUCT_ROUTINES); routine++)
        for (int form = 0; tb_class_of(routine)->is_batch && form < SPELLINGS; form++) {
            batch_spelling *own = &all[length++];
            const tb_routine_row *row = &tb_routine_rows[routine];
            const bool capitals = form >= SPELLINGS - 2;
            snprintf(own->name, sizeof own->name, "%s%.*s%s", forms[form].before, (int)strlen(row->name),
                     capitals ? row->reported : row->name, forms[form].behind);
            own->routine = routine;
            own->fortran = forms[form].fortran;
            own->bits = forms[form].bits;
        }
    *count = length;
    return all;
}

int64_t batch_spelling_count(void)
{
    int64_t count;
    spellings(&count);
    return count;
}

const batch_spelling *batch_spelling_numbered(int64_t number)
{
    int64_t count;
    return &spellings(&count)[number];
}

const batch_spelling *batch_spelling_named(const char *name)
{
    int64_t count;
    const batch_spelling *all = spellings(&count);
    for (int64_t i = 0; i < count; i++)
        if (strcmp(all[i].name, name) == 0)
            return &all[i];
    return NULL;
}

/* Integers as they lie in an array of either width. */
typedef union integers {
    int32_t narrow[GROUPS_MOST];
    int64_t wide[GROUPS_MOST];
} integers;

static void set(integers *array, int bits, int64_t index, int64_t value)
{
    if (bits == 64)
        array->wide[index] = value;
    else
        array->narrow[index] = (int32_t)value;
}

/* An integer as it is passed: next to one of 32 bits there may be anything in a register or on the stack. */
static int64_t word(int64_t value, int bits)
{
    return bits == 64 ? value : (int64_t)(UINT64_C(0xdeadbeef00000000) | (uint32_t)value);
}

static int number_of(char letter)
{
    return letter == 'N' ? 111 : letter == 'T' ? 112 : letter == 'C' ? 113 : letter;
}

/* Scalars as the element has them. */
typedef union scalars {
    float fp32[2 * GROUPS_MOST];
    double fp64[2 * GROUPS_MOST];
} scalars;

static void set_scalar(scalars *array, tb_element element, int64_t index, const double value[2])
{
    const int parts = tb_is_complex(element) ? 2 : 1;
    for (int part = 0; part < parts; part++)
        if (tb_real_of(element) == TB_FP64)
            array->fp64[parts * index + part] = value[part];
        else
            array->fp32[parts * index + part] = (float)value[part];
}

typedef union function {
    void *address;
    void (*batch)(int, const int *, const int *, const void *, const void *, const void *, const void *,
                  const void *, const void *, const void *, const void *, const void *, const void *,
                  const void *, int64_t, const void *);
    void (*batch_)(const char *, const char *, const void *, const void *, const void *, const void *,
                   const void *, const void *, const void *, const void *, const void *, const void *,
                   const void *, const void *, const void *);
    void (*strided_)(const char *, const char *, const void *, const void *, const void *, const void *,
                     const void *, const void *, const void *, const void *, const void *, const void *,
                     const void *, void *, const void *, const void *, const void *);
    void (*strided_s)(int, int, int, int64_t, int64_t, int64_t, float, const void *, int64_t, int64_t,
                      const void *, int64_t, int64_t, float, void *, int64_t, int64_t, int64_t);
    void (*strided_d)(int, int, int, int64_t, int64_t, int64_t, double, const void *, int64_t, int64_t,
                      const void *, int64_t, int64_t, double, void *, int64_t, int64_t, int64_t);
    void (*strided_c)(int, int, int, int64_t, int64_t, int64_t, const void *, const void *, int64_t, int64_t,
                      const void *, int64_t, int64_t, const void *, void *, int64_t, int64_t, int64_t);
} function;

/* Arguments behind pointers, of all groups. */
typedef struct arrays {
    char letters_a[GROUPS_MOST], letters_b[GROUPS_MOST];
    int numbers_a[GROUPS_MOST], numbers_b[GROUPS_MOST];
    integers m, n, k, lda, ldb, ldc, strides[3], sizes, count;
    scalars alpha, beta;
} arrays;

static void call_strided(const batch_spelling *spelling, function f, int layout, const arrays *x,
                         const batch_group *g, const void *a, const void *b, void *c)
{
    const int bits = spelling->bits, ta = x->numbers_a[0], tb = x->numbers_b[0];
    const tb_element element = tb_routine_rows[spelling->routine].element;
#define SIZES word(g->m, bits), word(g->n, bits), word(g->k, bits)
#define LEFT                                                                                                 \
    a, word(g->lda, bits), word(g->strides[0], bits), b, word(g->ldb, bits), word(g->strides[1], bits)
#define RIGHT c, word(g->ldc, bits), word(g->strides[2], bits), word(g->size, bits)
    if (spelling->fortran)
        f.strided_(x->letters_a, x->letters_b, &x->m, &x->n, &x->k, &x->alpha, a, &x->lda, &x->strides[0], b,
                   &x->ldb, &x->strides[1], &x->beta, c, &x->ldc, &x->strides[2], &x->sizes);
    else if (element == TB_FP32)
        f.strided_s(layout, ta, tb, SIZES, x->alpha.fp32[0], LEFT, x->beta.fp32[0], RIGHT);
    else if (element == TB_FP64)
        f.strided_d(layout, ta, tb, SIZES, x->alpha.fp64[0], LEFT, x->beta.fp64[0], RIGHT);
    else
        f.strided_c(layout, ta, tb, SIZES, &x->alpha, LEFT, &x->beta, RIGHT);
#undef SIZES
#undef LEFT
#undef RIGHT
}

bool batch_call(const batch_spelling *spelling, bool row_major, const batch_group *groups, int64_t count,
                const void *const *a, const void *const *b, void *const *c)
{
    const function f = {dlsym(batch_library, spelling->name)};
    const tb_routine_row *row = &tb_routine_rows[spelling->routine];
    const int bits = spelling->bits, layout = row_major ? 101 : 102;
    arrays x = {.letters_a = ""};
    if (!f.address)
        return false;
    set(&x.count, bits, 0, count);
    for (int64_t g = 0; g < count; g++) {
        const batch_group *own = &groups[g];
        x.letters_a[g] = own->transpose_a;
        x.letters_b[g] = own->transpose_b;
        x.numbers_a[g] = number_of(own->transpose_a);
        x.numbers_b[g] = number_of(own->transpose_b);
        set(&x.m, bits, g, own->m);
        set(&x.n, bits, g, own->n);
        set(&x.k, bits, g, own->k);
        set(&x.lda, bits, g, own->lda);
        set(&x.ldb, bits, g, own->ldb);
        set(&x.ldc, bits, g, own->ldc);
        set(&x.sizes, bits, g, own->size);
        for (int role = 0; role < 3; role++)
            set(&x.strides[role], bits, g, own->strides[role]);
        set_scalar(&x.alpha, row->element, g, own->alpha);
        set_scalar(&x.beta, row->element, g, own->beta);
    }
    if (tb_class_rows[row->class].is_strided)
        call_strided(spelling, f, layout, &x, &groups[0], a[0], b[0], c[0]);
    else if (spelling->fortran)
        f.batch_(x.letters_a, x.letters_b, &x.m, &x.n, &x.k, &x.alpha, a, &x.lda, b, &x.ldb, &x.beta, c,
                 &x.ldc, &x.count, &x.sizes);
    else
        f.batch(layout, x.numbers_a, x.numbers_b, &x.m, &x.n, &x.k, &x.alpha, a, &x.lda, b, &x.ldb, &x.beta,
                c, &x.ldc, word(count, bits), &x.sizes);
    return true;
}
