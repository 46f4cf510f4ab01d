/* How large slots are: the pinned buffers between the program's memory and the link. */
#ifndef TB_SLOTS_H
#define TB_SLOTS_H

#include <stddef.h>

/* The bytes of one of them, as the options say. */
size_t tb_slot_bytes(void);

#endif
