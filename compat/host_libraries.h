/* The libraries to look in when a program brings no BLAS of its own: host_blas.c looks for what is taken over
 * in them, forward/resolve.c for all other names. The option HOST_BLAS replaces them.
 *
 * The plain names (cblas_sgemm, sgemm_, dgemv_) do not tell the width of their integers. A library of ours is
 * built with TB_PLAIN_BITS: 64 when it stands for libblas64.so.3, where all of them are that wide, and so
 * must be those of every host; otherwise 0, where a host's own width counts.
 */
#ifndef TB_HOST_LIBRARIES_H
#define TB_HOST_LIBRARIES_H

#include <stdbool.h>

/* Names and paths for dlopen, the faster first, ended by NULL. A TileBLAS may be behind any of them. */
extern const char *const tb_blas_libraries_32[];
extern const char *const tb_blas_libraries_64[];
extern const char *const tb_lapack_libraries[]; /* 32-bit integers */

/* Handles of the libraries that were loaded together with this one, because what links it would have had a BLAS loaded then
 * (forward/load.c); NULL where none was. */
enum { TB_BLAS_WITH_US, TB_LAPACK_WITH_US, TB_LIBRARIES_WITH_US };
extern void *tb_libraries_with_us[TB_LIBRARIES_WITH_US];

/* The width in bits of integers under the plain names of the library that an address lies in, by asking its isamax, or that of
 * what it depends on; 0 when it has none that is not a TileBLAS's, or hands the question to us. */
int tb_probe_integer_bits(const void *of_object);

/* For forward/resolve.c, when it is asked who answers to isamax: whether it is by tb_probe_integer_bits of
 * this thread that it is, which then knows. */
bool tb_notice_width_question(void);

#endif
