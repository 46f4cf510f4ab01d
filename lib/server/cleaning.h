/* Device memory that a client has had is zeroed before it is anybody else's: when it is given back, beside other work, by a thread that is
 * there while there is something to do.
 */
#ifndef TB_CLEANING_H
#define TB_CLEANING_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroes memory of a device, which nobody uses any more, and gives it back to the device. Mostly later. */
void tb_clean_and_release(int device, void *memory, uint64_t bytes);

/* Bytes of the device that are not given back yet. */
uint64_t tb_bytes_being_cleaned(int device);

/* Until there are none; false: there were none. */
bool tb_wait_for_cleaning(int device);

#endif
