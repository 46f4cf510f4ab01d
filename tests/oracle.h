/* The oracle that products are held against. What a mask leaves out of C is canaries, as all else in the block of a matrix
 * (matrix.h).
 */
#ifndef TB_ORACLE_H
#define TB_ORACLE_H

#include "tests/matrix.h"
#include "words/product.h"

/* What was asked for: the matrices as they were before the call. */
typedef struct product {
    bool row_major, transpose_a, transpose_b;
    bool conjugate_a, conjugate_b;
    tb_structure structure_a, structure_b; /* symmetric, Hermitian or triangular, ... */
    tb_triangle stored_a, stored_b;        /* ... of which this triangle is stored, as the caller calls it */
    bool unit_diagonal;                    /* of a triangular one: ones, which are not read */
    tb_in_place
        in_place; /* one factor is triangular, the other one is C, whose place a matrix without elements takes here */
    int64_t m, n, k;
    double alpha, beta;
    double alpha_im, beta_im; /* their imaginary parts, of complex numbers */
    int terms;                /* 2: another product is added, with A and B in each other's place */
    bool hermitian;     /* C is: on its diagonal imaginary parts count for nothing, and come back as zero */
    bool exact;         /* every rounding error is to be zero */
    int more_roundings; /* that a kernel of less than FP32's accuracy is allowed */
    tb_triangle mask;   /* of C: all else of it is canaries */
    matrix a, b, c;     /* B may be A */
} product;

/* Makes canaries of what the mask leaves out of C, and of what is not read of a structured A or B; and numbers of imaginary
 * parts on the diagonal of a Hermitian C. */
void product_hide_the_rest(const product *product);

/* The product is a solve: C holds a solution, of alpha 1, and becomes what has that solution. Where all numbers are integers, no
 * order of substitution then has a rounding error. */
void product_make_solved(const product *product);

/* Whether c holds the product: elements within (k + 3 + more_roundings) u d of the product in double, or for doubles in
 * long double precision, with d = |alpha||A||B| + |beta||C| and u = 2^-24 or 2^-53, |z| being |re| + |im| and k twice as large of
 * complex numbers, which is what any order of k fused or separate roundings keeps
 * (Higham, Accuracy and Stability, section 3.5); NaN and infinities where IEEE arithmetic has them; canaries
 * as they were. If not, writes the first bad index and its values. Of products above 2^25 multiply-adds a
 * regular sample of elements is looked at.
 *
 * Of a solve, whose result is X: whether each element of op(A) X is as near to that of alpha B, with d = |op(A)||X|, which is
 * what substitution in any order keeps (there, lemma 8.4), dividing by the diagonal or multiplying by its inverse; complex
 * division takes two roundings more. What is not a number or infinite in a line of C, or in the triangle, may make numbers
 * of the line NaN that it has no part in: kernels multiply it by zeros. */
bool product_holds(const product *product, const matrix *c, char *message, size_t size);

#endif
