/* The device memory that one client holds, in blocks: how much more it may have beside the other clients, and taking and giving back. By
 * the thread of the client's session alone (orders.c).
 */
#ifndef TB_CLIENT_MEMORY_H
#define TB_CLIENT_MEMORY_H

#include "lib/server/kept_copies.h"
#include "lib/server/sleepers.h"

enum { TB_CLIENT_BLOCKS = 4096 };

/* One of the server's devices. */
typedef struct tb_client_device {
    int device;
    uint32_t number; /* as clients have it */
} tb_client_device;

typedef struct tb_client_block {
    tb_client_device on;
    uint64_t address, bytes;
    uint64_t taken; /* of the device's memory */
} tb_client_block;

typedef struct tb_client_memory {
    uint64_t most;       /* bytes of a device's memory that all clients may have together; 0: all there are */
    tb_sleeper *sleeper; /* what other sessions see of the client */
    tb_client_block blocks[TB_CLIENT_BLOCKS];
    int block_count;
} tb_client_memory;

/* Bytes of a device that clients hold now, all of them. */
uint64_t tb_held_bytes(int device);

/* What they hold of a device and may hold, as copies of operands are told. */
tb_claimed tb_claimed_of(const tb_client_memory *memory, int device);

/* Whether all these bytes are the client's. */
bool tb_client_holds(const tb_client_memory *memory, int device, uint64_t address, uint64_t bytes);

/* Bytes of a device that the client may take beside what it holds, and all that clients may have; both 0 where the device fails. */
tb_status tb_find_client_share(const tb_client_memory *memory, tb_client_device on, uint64_t *share,
                               uint64_t *total);

/* TB_OUT_OF_MEMORY: it has too many blocks, or its share is smaller. What clients hold that sleep is taken back for it. */
tb_status tb_take_client_block(tb_client_memory *memory, tb_client_device on, uint64_t bytes, void **block);

/* The one that begins there; any one; NULL: there is none. */
const tb_client_block *tb_find_client_block(const tb_client_memory *memory, uint64_t address);
const tb_client_block *tb_any_client_block(const tb_client_memory *memory);

/* No device does anything with it any more. */
void tb_give_client_block(tb_client_memory *memory, const tb_client_block *block);

#endif
