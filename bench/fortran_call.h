/* A call by Fortran's name: addresses alone, in the order that the class's letters and the numbers of its sizes say
 * (words/classes.def). For benchmarks, and for tests that call as programs do. Batches are called otherwise.
 */
#ifndef BENCH_FORTRAN_CALL_H
#define BENCH_FORTRAN_CALL_H

#include "words/routine.h"

#include <string.h>

/* Arguments of all classes; a call has those of its own. */
typedef struct fortran_arguments {
    const char *side, *triangle, *operation_a, *operation_b, *diagonal;
    const void *m, *n, *k, *lda, *ldb, *ldc; /* integers of either width */
    const void *alpha, *a, *b, *beta, *c;
} fortran_arguments;

enum { FORTRAN_ARGUMENTS_MOST = 13 };

/* Returns how many there are. */
static inline int fortran_order(const tb_class_row *class, const fortran_arguments *given,
                                const void *ordered[FORTRAN_ARGUMENTS_MOST])
{
    const tb_size_numbers *at = &class->numbers;
    const char *operation = given->operation_a;
    for (const char *letter = class->letters; *letter; letter++) {
        const void **place = &ordered[letter - class->letters];
        *place = *letter == 'S'   ? given->side
                 : *letter == 'U' ? given->triangle
                 : *letter == 'D' ? given->diagonal
                                  : operation;
        if (*letter == 'T')
            operation = given->operation_b;
    }
    /* A matrix stands before its leading dimension, and a scalar before the matrix. */
    const struct {
        int number;
        const void *address;
    } rest[] = {
        {at->m, given->m},
        {at->n, given->n},
        {at->k, given->k},
        {at->lda - 2, given->alpha},
        {at->lda - 1, given->a},
        {at->lda, given->lda},
        {at->ldb - 1, given->b},
        {at->ldb, given->ldb},
        {class->in_place == TB_OUT_OF_PLACE ? at->ldc - 2 : 0, given->beta},
        {at->ldc - 1, given->c},
        {at->ldc, given->ldc},
    };
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        if (rest[i].number > 0)
            ordered[rest[i].number - 1] = rest[i].address;
    return at->ldc;
}

/* False where no class has so many arguments. As C programs call, without the lengths of the letters. */
static inline bool fortran_call(void *address, const tb_class_row *class, const fortran_arguments *given)
{
    typedef const void *one;
    union {
        void *address;
        void (*of_10)(one, one, one, one, one, one, one, one, one, one);
        void (*of_11)(one, one, one, one, one, one, one, one, one, one, one);
        void (*of_12)(one, one, one, one, one, one, one, one, one, one, one, one);
        void (*of_13)(one, one, one, one, one, one, one, one, one, one, one, one, one);
    } call = {address};
    const void *x[FORTRAN_ARGUMENTS_MOST];
    switch (fortran_order(class, given, x)) {
    case 10:
        call.of_10(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9]);
        return true;
    case 11:
        call.of_11(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9], x[10]);
        return true;
    case 12:
        call.of_12(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9], x[10], x[11]);
        return true;
    case 13:
        call.of_13(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9], x[10], x[11], x[12]);
        return true;
    default:
        return false;
    }
}

#endif
