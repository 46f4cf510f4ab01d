/* The simulated device: lib/device/device.h in host memory, so that the whole runtime can be tested where there is
 * no GPU. Linked instead of the CUDA device; whole programs get it through the sim builds of the libraries.
 *
 * Streams are threads and run as late and as freely as the interface allows. Device memory is mapped twice:
 * the address a program holds faults when the host touches it. Whatever a real device would answer with a
 * crash (a host pointer in a launch, a copy past the end of a buffer, use in a forked child) aborts the
 * process with a message.
 *
 * Settings have the same names in sim_set and, as TILEBLAS_SIM_<NAME>, in the environment, which is read at
 * the first use:
 *
 *   DEVICES  0 to 8         how many there are (1)
 *   HOST     integer        processes with the same number see the same devices (0: devices of their own)
 *   MEMORY   bytes          on each device (1 GiB)
 *   LINK     bytes/second   of copies between host and device, each way (0: as fast as memory)
 *   ARCHITECTURE            of each device (90), which decides about kernels and their forecasts
 *   MULTIPROCESSORS         of each device (132)
 *   START    microseconds   that opening a device takes (0)
 *   DELAY    microseconds   of the longest random wait before each operation in a stream (0)
 *   SEED     integer        of those waits (1)
 *   SPEEDS   "1,0.5,..."    of the devices' kernels, relative to full speed (all 1)
 *   REACH    0 or 1         whether devices read each other's memory (1)
 *   REFUSE   0 or 1         whether a launch that lib/device/command.h says is refused is, as by a real device; otherwise
 *                           it aborts, since the runtime makes none (0)
 *   STALE    0 or 1         whether device memory begins as the last that was given back had ended; otherwise as signalling
 *                           NaNs (0)
 *   PAGEABLE "1,0,..."      whether the devices take ordinary memory in copies (all 1)
 *   FAIL     script         "copy:7=lost,allocate:3=memory": the 7th copy loses its device, the 3rd
 *                           allocation finds no memory
 *
 * Operations in a script: open memory allocate pinned stream event order wait tell copy launch, or any. Failures:
 * memory and unsupported are returned once, though not by waits, which can only report a loss; lost is
 * returned by this and all later operations of the device; fault, for copies and launches, is accepted and
 * then loses the device half-way through the work; half, for launches, does half of the work and is
 * returned as memory, as where the second of a kernel's two passes cannot be launched.
 */
#ifndef TB_DEVICE_SIM_H
#define TB_DEVICE_SIM_H

#include "words/place.h"

#include <stddef.h>

#define SIM_MAX_DEVICES 8

/* Changes a setting; not while calls are running. FAIL starts counting anew. An unknown name or value
 * aborts: it is a mistake in a test. */
void sim_set(const char *name, const char *value);

/* ---- What a program does by itself, through CUDA ------------------------------------------------------ */

/* Memory as from cudaMalloc, cudaMallocManaged and cudaMallocHost. NULL when the device is full. */
void *sim_allocate(tb_memory memory, int device, size_t bytes);
void sim_release(void *memory);

/* Pinned memory as from cudaHostAlloc, write-combined: a host that reads it, or writes it except by sim_copy, faults. */
void *sim_allocate_write_combined(size_t bytes);

/* Copies between any two places, done on return. */
void sim_copy(void *target, const void *source, size_t bytes);

/* A stream of the program's own, for tileblas_set_stream. */
void *sim_create_stream(int device);
void sim_destroy_stream(void *stream);

/* Queue a copy, or nothing but time, in the stream (NULL: the default stream of device 0); return at once. */
void sim_copy_later(void *stream, void *target, const void *source, size_t bytes);
void sim_stall(void *stream, double seconds);
void sim_wait(void *stream); /* until all that was queued is done */

/* The bytes that nobody has allocated. */
size_t sim_free_bytes(int device);

/* ---- What happened ------------------------------------------------------------------------------------ */

/* What the runtime holds of the device at this moment, the program's own share not counted. */
typedef struct sim_usage {
    long device_blocks, pinned_blocks, streams, events;
    size_t device_bytes, pinned_bytes;
    size_t device_bytes_most; /* that it has held of one device at a time, up to now */
} sim_usage;

sim_usage sim_get_usage(void);

/* Has the watcher called before each copy that a device carries out, by the thread that does; NULL: nobody. */
void sim_watch_copies(void (*watcher)(const void *source, size_t bytes));

/* Threads that are bringing the driver or a device up at this moment. */
int sim_devices_opening(void);

/* Threads that are waiting for a device at this moment, and those that have jumped out of it. */
int sim_threads_waiting(void);

/* Operations of a class ("copy", "any") so far, and failures of them that the script has caused. */
long sim_operations(const char *operation);
long sim_failures(const char *operation);

/* What has been put into streams, of all devices, and is not over at this moment; without events. */
long sim_in_flight(void);

/* Copies so far from one device to another. */
long sim_crossings(void);

/* Launches so far that have folded (words/folded.h). */
long sim_foldings(void);

#endif
