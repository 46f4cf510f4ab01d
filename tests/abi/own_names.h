/* What own_names.c defines. */
#ifndef OWN_NAMES_H
#define OWN_NAMES_H

#include <stdbool.h>

void dgemm(int n, const double *a, const double *b, double *c);
double DSYMM(int i1, double x1, int i2, double x2, int i3, double x3, int i4, double x4, int i5, double x5,
             int i6, double x6, int i7, double x7, int i8, double x8, int i9, double x9, int i10, double x10);
long sgemm_batch(long x);

/* Whether the library's own calls of them, by their names, come back with what they compute. */
bool own_names_work(void);

#endif
