/* Families of matrices on which the accuracy of a kernel is judged: each is a rule for one element. */
#ifndef TB_ACCURACY_FAMILIES_H
#define TB_ACCURACY_FAMILIES_H

#include "tests/check.h"
#include "words/element.h"

/* Where an element of an operand stands: outer is its row in A or its column in B. */
typedef struct accuracy_position {
    int64_t outer, k, outer_count, k_count;
    bool in_b;
    tb_element element; /* of the matrix: how large and how small numbers may be */
} accuracy_position;

typedef struct accuracy_family {
    const char *name;
    double (*fill)(const accuracy_position *at,
                   check_random *random); /* rounded to the element by the caller */
    bool zero_mean;                       /* the growth of its error with k is looked at */
    bool beyond;     /* where splitting into BF16 ends: computed by an FP32 loop, and judged as one */
    bool uneven_k;   /* a part of k has the large products, so that errors depend on where k is cut */
    tb_element only; /* of matrices of this element; TB_ELEMENTS: of all */
} accuracy_family;

/* Whether matrices of the element are judged by it. */
static inline bool accuracy_is_for(const accuracy_family *family, tb_element element)
{
    return family->only == TB_ELEMENTS || family->only == element;
}

extern const accuracy_family accuracy_families[];
extern const int accuracy_family_count;

double accuracy_normal(check_random *random);

/* A number in [0, 1) that depends on nothing but its arguments: what several elements share. */
double accuracy_shared_uniform(uint64_t salt, int64_t index);

#endif
