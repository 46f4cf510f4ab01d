/* A GPU's blocks on the host, one after the other, or one cluster after the other, of threads that give way to each other
 * where these wait: device code compiled for the host runs as it is, with what cuda.h has for CUDA's names and kernels/ in
 * this folder has for its instructions.
 *
 * What of it could hide a fault on a device is made as hard as it may be: the order of blocks, warps and lanes is drawn at
 * each launch; a warp runs on for as long as it waits for no other; shared memory begins as garbage, and what of it a launch
 * asks for ends, but for less than 128 bytes, where none may be touched; and copies that threads do not wait for arrive when
 * they are issued or not before they are waited for, be it by other threads at a barrier. Threads that wait for each other in
 * different places end the program, and so does what is sent to a block that has ended.
 */
#ifndef TB_EMULATED_BLOCK_H
#define TB_EMULATED_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Runs all blocks of a kernel, so many of them a cluster; __shared__ memory of fixed size is for kernels without clusters. */
typedef void emulated_kernel(const void *argument);
void emulated_run(emulated_kernel *kernel, int64_t blocks, int cluster, int threads, int shared_bytes,
                  const void *argument);

/* Threads of the last launch that waited for the launch before it: all of those of an entry that is launched early. */
int64_t emulated_waits(void);

/* Sets the seed of the orders that are drawn. */
void emulated_seed(uint64_t seed);

/* Reads of shared memory by whole warps, in one piece a lane, that had to wait for each other's banks; since the program
 * began. */
int64_t emulated_bank_conflicts(void);

/* A kernel by its symbol; NULL: this program has none of that name. */
emulated_kernel *emulated_find(const char *symbol);

#ifdef __cplusplus
}
#endif

#endif
