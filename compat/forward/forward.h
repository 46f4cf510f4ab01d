/* Names that are forwarded: all of BLAS, CBLAS, LAPACK and LAPACKE that TileBLAS does not take over. The
 * libraries that people link with have a trampoline for each (trampolines.S), so that they are a whole BLAS; the
 * preload library has none.
 *
 * What trampolines.S and resolve.c know of each other. A name's index is its place in the lists that the library
 * was stamped from.
 */
#ifndef TB_FORWARD_H
#define TB_FORWARD_H

#include <stdatomic.h>
#include <stdint.h>

/* The target of each trampoline, to which it jumps; NULL before the name's first call; written once. */
extern _Atomic(void *) tb_forward_targets[];

/* The name of an index is tb_forward_names + tb_forward_offsets[index]. */
extern const char tb_forward_names[];
extern const int32_t tb_forward_offsets[];

/* Returns 0 in every register that can carry a result. */
void tb_forward_missing(void);

/* Finds who answers to a name, notes and returns it as the name's target. The call that asks returns to the
 * call site. Does not return where nobody has the name of a computation. For trampolines.S. */
void *tb_resolve_forwarded(uint32_t index, const void *call_site);

#endif
