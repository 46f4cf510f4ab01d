/* Memory where operands lie, of the device that the library runs on: the simulated one, whose controls its libraries export,
 * or a real one, through the CUDA driver. A place is a letter:
 *
 *   H  ordinary memory of the host    P  pinned    W  pinned and write-combined    M  managed    D  the device's
 */
#ifndef TB_RECORD_PLACE_H
#define TB_RECORD_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False, with a line on standard error, where there is no such device. The library is a handle of dlopen. */
bool place_open(bool simulated, void *library);

/* Ends the program when there is no room. */
void *place_allocate(char place, size_t bytes);
void place_release(char place, void *memory);

/* Copies between the host and a place, and is done on return. */
void place_copy(void *target, const void *source, size_t bytes);

/* Copies that the simulated device has carried out since the last time that this was asked: how many, and a sum over their
 * sizes in which each size counts differently, whatever the order. False on a real device. */
typedef struct place_copies {
    uint64_t count, bytes, sum;
} place_copies;
bool place_take_copies(place_copies *copies);

#endif
