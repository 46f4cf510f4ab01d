/* Forwarders: libraries that export the names of BLAS themselves and hand the calls to another library, which
 * they have opened, through a pointer. FlexiBLAS is one, libblastrampoline, many a profiler. Where that other
 * library is TileBLAS, what looks like the caller's own BLAS would hand every call back to us. Such a
 * candidate leads back.
 *
 * Two things tell one. A call that comes out of an object whose references the dynamic linker has bound to
 * the object's own definition came through a pointer of that object. And a probe, a call by which
 * numbers of ours are computed, comes back to us; that shows also those that jump, of which a return
 * address tells nothing, and chains of several.
 *
 * host_blas.c and forward/resolve.c ask about candidates; the exported functions (gemm_abi.h) notice probes.
 */
#ifndef TB_FORWARDERS_H
#define TB_FORWARDERS_H

#include "compat/loaded_objects.h"
#include "compat/spellings.h"
#include "words/product.h"

#include <stdbool.h>

/* Whether the linker has bound references to a name, where a call returns to, to a TileBLAS. */
bool tb_is_bound_to_tileblas(const void *call_site, const char *name);

/* The position of the forwarder that has handed over a call of a name which returns to the call site: an
 * object whose references to the name are bound to its own definition, or to another TileBLAS though it has
 * one. -1 where that is not known of any. */
int tb_find_forwarder(const void *call_site, const char *name);

/* Whether this thread is inside a probe. A BLAS can call names that we forward: the reference's sgemm_ calls
 * lsame_. Of whom nothing is known yet, it is then presumed that calls do not come back; what follows from
 * that is not to be kept.
 */
bool tb_is_probing(void);

/* Whether the object that has the address says by a function of its own that it is OpenBLAS, or BLIS. */
bool tb_is_openblas(const void *address);
bool tb_is_blis(const void *address);

/* Whether a function of a bare name (spellings.h) is not BLAS's: the object that defines it has neither the routine's CBLAS nor
 * a dozen names that are BLAS's alone. It had better not be called, as nobody knows its arguments. */
bool tb_is_foreign(tb_spelling spelling, const void *address);

/* Whether the function of that spelling computes by itself: calls do not come back to a TileBLAS, nor is
 * nothing done, as by a forwarder that has no library for the name. Asked once for each address. */
bool tb_computes(tb_spelling spelling, const void *address);

/* Calls the function for the least product of a probe, whose answer nobody looks at. */
void tb_call_once(tb_spelling spelling, const void *address);

/* Whether every GEMM of ours does that the object which the address lies in defines. Other routines a forwarder may have without
 * a library that does. */
bool tb_object_computes(const void *of_object);

/* A probe multiplies a matrix of one row by this number, which no program would think of, adding nothing. It is
 * one of FP32. Where there is no beta, it is the alpha of a product with a matrix whose diagonal is ones, and of LAPACK all of
 * the matrix. */
#define TB_PROBE_BETA 0x1.6a7c3ep-9

/* Whether a call is a probe of the spelling's calling convention, of whatever TileBLAS; the prober knows from then
 * on. A probe of the other convention is somebody's whose CBLAS calls Fortran inside. Either is
 * over with that: there is nothing to compute. */
bool tb_notice_probe(tb_spelling spelling, const void *c);

/* Whether it is worth asking. */
static inline bool tb_may_be_probe(tb_scalar alpha, tb_scalar beta)
{
    return tb_is_zero(alpha) && beta.re == TB_PROBE_BETA && beta.im == 0;
}

/* The same of LAPACK's, which has one row, by its only element. */
static inline bool tb_may_be_lapack_probe(double element)
{
    return element == TB_PROBE_BETA;
}

#endif
