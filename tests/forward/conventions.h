/* Functions of every shape that a BLAS or LAPACK has, and some more: which registers and how much of the stack
 * their arguments and results take is what counts. conventions_host.c defines them under names that are
 * forwarded, conventions.c calls them; what the real routines of these names do is of no interest here.
 */
#ifndef CONVENTIONS_H
#define CONVENTIONS_H

#include <complex.h>
#include <stddef.h>

typedef struct four_words {
    long word[4];
} four_words; /* returned in memory, whose address is a hidden argument */

typedef struct two_halves {
    double real;
    long whole;
} two_halves; /* returned half in a vector register, half in an integer one */

/* Results of every kind. */
int idamax_(const int *n);
float sdot_(const float *x, float y);
double ddot_(const double *x, double y);
long double qdot_(long double x);
float _Complex cdotc_(float _Complex x);
double _Complex zdotc_(double _Complex x);
const char *openblas_get_config(void);
four_words LAPACKE_zlange(long a, long b);
two_halves LAPACKE_dlange(double a, long b);

/* Nothing in memory, where gfortran's older conventions return a complex number. */
void zdotu_(double _Complex *result, const int *n);

/* All eight vector registers, all integer registers, and both kinds behind them on the stack. */
double LAPACKE_dgesvx_work(int a, double b, long c, float d, signed char e, double f, void *g, double h,
                           short i, double j, long k, double l, long m, float n, long o, double p, int q,
                           double r, long s, double t, signed char u, double v, void *w, float x);

/* The lengths of four strings, behind everything else. */
long qtrsm_(const char *side, const char *uplo, const char *transpose, const char *diagonal, const int *m,
            const int *n, const double *alpha, const double *a, const int *lda, double *b, const int *ldb,
            size_t length_side, size_t length_uplo, size_t length_transpose, size_t length_diagonal);

/* On x86-64, the number of vector registers used is an argument of its own. What is printed goes to text. */
void cblas_xerbla(int size, char *text, const char *format, ...);

#endif
