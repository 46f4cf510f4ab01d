/* Launching dgemm_mma. */
#ifndef TB_LAUNCH_DGEMM_H
#define TB_LAUNCH_DGEMM_H

#include "kernels/fp64/schedule_dgemm.h"

/* Position in a row's entries of the kernels that copy 16 bytes at a time; those before take any operand. */
#define TB_DGEMM_VECTOR 4

/* The largest k: steps of it are counted in int. */
#define TB_DGEMM_K_LIMIT INT64_C(0x7fffff00)

/* The second launch, which adds up what the pieces of tiles left in the workspace. */
extern tb_entry tb_entry_dgemm_mma_reduce;

/* The catalog's callbacks of rows for complex numbers that are read where they lie. */
TB_DECLARE_CALLBACKS(zgemm_mma);

#endif
