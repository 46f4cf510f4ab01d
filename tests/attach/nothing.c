/* A library that has the name of a BLAS, and nothing of one. */
typedef int nothing;
