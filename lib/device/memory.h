/* Buffers that are kept between calls, because allocating costs more than most products, and given back when nobody
 * has used them for a while (the option KEEP_SECONDS).
 */
#ifndef TB_MEMORY_H
#define TB_MEMORY_H

#include "words/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Stands for a device's ordinal: host memory that devices can reach by themselves. */
#define TB_PINNED (-1)
/* The same, that devices can reach which another process has up. */
#define TB_PINNED_SERVED (-2)

typedef struct tb_buffer {
    void *memory; /* NULL: none was taken */
    size_t bytes;
    int device;
} tb_buffer;

/* The pinned memory that the device reaches. */
int tb_pinned_for(int device);

/* Memory of a device, or pinned; taken from the kept ones when one is large enough. */
tb_status tb_take_buffer(int device, size_t bytes, tb_buffer *buffer);

/* In a forked child, which has none of its parent's buffers: nobody's are kept. */
void tb_forget_buffers(void);

/* Those of devices that another process has up are gone, and pinned memory only where that is said: it is not given back. */
void tb_forget_served_buffers(bool pinned_too);

/* How much of a device's memory is kept by nobody but us, in bytes. */
size_t tb_kept_bytes(int device);

/* How often memory has been allocated for buffers, or freed. While that stays the same, what a call took and
 * gave back is kept, or in use by others. */
unsigned long tb_buffer_changes(void);

/* Keeps the buffer for later calls. No work in flight may still use it. */
void tb_keep_buffer(tb_buffer *buffer);

/* The same, if there is one. */
static inline void tb_give_buffer(tb_buffer *buffer)
{
    if (buffer->memory)
        tb_keep_buffer(buffer);
}

/* Whether so much pinned memory could not be had a moment ago: nobody asks for it again for a while. */
bool tb_pinned_is_refused(size_t bytes);

/* ---- Buffers whose contents may be wanted again --------------------------------------------------------------
 *
 * They have names, never the same one twice, and notes: what their owner knows of the contents, or NULL. Notes go where the
 * contents go. Others get such a buffer only when there is no other memory. Of a device's memory an eighth is kept like
 * that, what was used last.
 */
typedef struct tb_notes tb_notes;
typedef void tb_drop_notes(tb_notes *notes);

/* Keeps the buffer, and calls drop when the contents are lost: maybe at once, maybe in another thread. device_bytes: the
 * memory that its device has in all; 0: nobody knows, and the contents are not kept. */
uint64_t tb_give_buffer_named(tb_buffer *buffer, size_t device_bytes, tb_notes *notes, tb_drop_notes *drop);

/* The buffer with that name and its notes, its contents as they were; false where it has been given to others
 * or freed. */
bool tb_take_buffer_named(uint64_t name, tb_buffer *buffer, tb_notes **notes);

/* Nobody wants the contents any more. */
void tb_forget_buffer_name(uint64_t name);

#endif
