/* The reference BLAS's argument rules: which calls are regular, and how a caller's arguments become a
 * product. Pure functions; they look at no element of a matrix.
 *
 * The answer is 0, and *product is complete; or it is the number of the irregular argument that Netlib's BLAS
 * reports, and *product means nothing.
 */
#ifndef TB_ARGUMENTS_H
#define TB_ARGUMENTS_H

#include "words/arguments.h"

/* The values of cblas.h, which is not included because it declares every spelling with one integer width. */
enum {
    TB_ROW_MAJOR = 101,
    TB_COLUMN_MAJOR = 102,
    TB_NO_TRANSPOSE = 111,
    TB_TRANSPOSE = 112,
    TB_CONJUGATE_TRANSPOSE = 113,
    TB_CBLAS_UPPER = 121,
    TB_CBLAS_LOWER = 122,
    TB_CBLAS_NON_UNIT = 131,
    TB_CBLAS_UNIT = 132,
    TB_CBLAS_LEFT = 141,
    TB_CBLAS_RIGHT = 142,
};

/* Arguments that are letters, of any class. */
enum { TB_LETTERS_MOST = 4 };

/* A call of CBLAS: the layout, the values of the arguments that are letters in Fortran, in their order, and the rest
 * as it came. Its numbers are Fortran's (words/classes.def) and one more, for the layout, which is the first. What
 * the layout exchanges is reported as the caller's own. OpenBLAS's ConjNoTrans (114) is irregular: what it means is
 * for the caller's own BLAS to say.
 *
 * The reference calls Uplo of a row-major update the third argument, and N of a row-major GEMMTR the fourth. Here
 * they are the second and the fifth, which they are. */
int tb_read_cblas(int layout, const int *values, const tb_arguments *given, tb_product *product);

/* The same of Fortran, whose letters are in either case. */
int tb_read_fortran(const char *letters, const tb_arguments *given, tb_product *product);

/* The numbers of batches' own arguments, in CBLAS; in Fortran they are one less each. */
enum {
    TB_ARGUMENT_GROUP_COUNT = 15,
    TB_ARGUMENT_GROUP_SIZE = 16,
    TB_ARGUMENT_BATCH_SIZE = 18,
};

#endif
