/* The device memory that clients are given, which is zeroed between two of them: when it is given back, beside other work, by a thread
 * that is there while there is something to do. Some of it is then kept for a while for whoever wants as much next, as a program's next
 * run does: a device takes a tenth of a millisecond and more to give memory.
 */
#ifndef TB_CLEANING_H
#define TB_CLEANING_H

#include "words/status.h"

#include <stdbool.h>
#include <stdint.h>

/* Memory that is kept, or the device's; where there is none, what is still to be zeroed is waited for. */
tb_status tb_take_clean(int device, uint64_t bytes, void **memory);

/* Zeroes memory of a device, which nobody uses any more, and keeps it or gives it back to the device. Mostly later. */
void tb_clean_and_release(int device, void *memory, uint64_t bytes);

/* Bytes of the device that are to be zeroed, or kept: who takes memory can have them. */
uint64_t tb_bytes_to_take(int device);

/* Until there is nothing to be zeroed; false: there was nothing. */
bool tb_wait_for_cleaning(int device);

/* Gives back what has been kept for long; or all of a device's. */
void tb_give_back_kept(void);
bool tb_give_back_all_kept(int device);

#endif
