/* The libraries to look in when a program brings no BLAS of its own: host_blas.c looks for SGEMM in them,
 * forward/resolve.c for all other names. The option HOST_BLAS replaces them.
 */
#ifndef TB_HOST_LIBRARIES_H
#define TB_HOST_LIBRARIES_H

/* Names and paths for dlopen, the faster first, ended by NULL. A TileBLAS may be behind any of them. */
extern const char *const tb_blas_libraries_32[];
extern const char *const tb_blas_libraries_64[];
extern const char *const tb_lapack_libraries[]; /* 32-bit integers */

#endif
