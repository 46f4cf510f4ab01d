/* The slots, as a client gives them out: memory that it shares with the server, which devices reach (wire.h). They are there from the
 * beginning for one pipeline of each device, and grow by one more of each at a time. Connected only.
 */
#ifndef TB_SERVING_SLOTS_H
#define TB_SERVING_SLOTS_H

#include "words/status.h"

#include <stdbool.h>
#include <stddef.h>

tb_status tb_take_slots(size_t bytes, void **memory);
void tb_give_slots(void *memory, size_t bytes); /* as many as were taken */
bool tb_are_slots(const void *address);

/* For how many pipelines of each device there are slots; and whether the server is to be asked for more now, where so many are wanted. */
int tb_count_pipelines(void);
bool tb_want_pipelines(int wanted);

/* With the connection. */
void tb_forget_slots(void);

#endif
