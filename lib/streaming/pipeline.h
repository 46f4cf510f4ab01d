/* A device's means of streaming one product: streams, so that loading, computing and returning overlap,
 * rings of pinned buffers between the program's memory and the link, and the events that order all that. Kept
 * between calls; one product uses it at a time.
 *
 * A slot is one pinned buffer of a ring. Slots on the way in are filled by the host's threads and emptied by
 * the link, slots on the way out the other way round.
 */
#ifndef TB_PIPELINE_H
#define TB_PIPELINE_H

#include "dispatch/part_schedules.h"
#include "lib/streaming/copy_threads.h"
#include "lib/device/device.h"
#include "lib/device/memory.h"
#include "lib/process/sums.h"
#include "lib/streaming/operand_cache.h"
#include "words/lowered.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Computed, or being computed, and not all on their way. */
#define TB_SWATHS_IN_FLIGHT (2 * TB_SWATHS_MAXIMUM)

typedef struct tb_slot {
    tb_buffer pinned;
    tb_event *done; /* the link has read or written it */
    bool busy;
    size_t found;    /* bytes whose pages the process has found, which another one has made */
    tb_copy_job job; /* of the host's threads, that fills or empties it */
    tb_copy upload;  /* on the way in: what the link will do when it is full */
    bool expands; /* on the way in: what it holds is written out on the device, where the link has put it */
    tb_expansion expansion;
    tb_cached_operand *compared; /* on the way in: the job looks whether its copy differs; NULL: it copies */
    int64_t columns;             /* on the way out: of C, that it holds */
    int posts;                   /* on the way out: of another device's posts, that these may depend on */
} tb_slot;

/* How a product was cut, and how its parts are computed. */
typedef struct tb_known_tiling {
    uint64_t cut; /* tb_hash_of_cut; 0: there was none */
    double bytes; /* of device memory, that it takes */
    tb_tiling tiling;
    tb_part_schedules schedules;
    unsigned long changes; /* of buffers, when it had been used last */
} tb_known_tiling;
#define TB_TILINGS_KEPT 8

typedef struct tb_pipeline {
    int device, channel;
    uint32_t
        generation; /* of the connection that it is of, where another process has the device up (lib/device/served_use.h) */
    tb_stream *load, *compute, *unload;
    tb_stream *across; /* copies from another device; NULL: there were none yet */
    tb_slot in[TB_SLOTS], out[TB_SLOTS];
    tb_touch_job touching; /* pages of C */
    size_t slot_bytes;
    tb_event *ordered;                   /* by the program's own stream: operands on the device are there */
    tb_event *loaded;                    /* the slab that is computed next is there */
    tb_event *crossed;                   /* what comes from another device is there */
    tb_event *consumed[TB_RING_MAXIMUM]; /* a slab of the ring may be overwritten */
    tb_event *finished[TB_SWATHS_IN_FLIGHT]; /* a swath of C is computed */
    tb_known_tiling known[TB_TILINGS_KEPT];
    unsigned next_known;
    tb_operand_cache operands;
    tb_buffer
        notes_room; /* pinned, for what is said of copies (others_copies.h), while the pipeline is there */
} tb_pipeline;

/* A product's turn at a device. A medium one shares the device with others, each of them with a pipeline of
 * its own. */
typedef struct tb_turn {
    int device;
    bool medium;
    double seconds;        /* of work, as forecast */
    tb_pipeline *pipeline; /* for this thread alone, until the turn ends */
    int channel;           /* the pipeline's; -1: the turn has not come */
    bool in_queue;         /* waiting or served */
    bool in_use;           /* the device is used for it (lib/device/served_use.h) */
    struct tb_turn *next;  /* of those who wait */
} tb_turn;

/* Waits, first come first served, and fills in the pipeline. When it fails there is nothing to end. */
tb_status tb_take_turn(tb_turn *turn);
void tb_end_turn(tb_turn *turn);

/* For a thread that leaves its call (lib/process/leaving.h), waiting or served: the pipeline is as it left
 * it, and is used no more. */
void tb_leave_turn(void *turn);

/* Devices that somebody has a turn at, or waits for. */
int tb_devices_at_work(void);

/* Device memory that operands come through which are written out there: a slot's, or a part of what the option DEVICE_MEMORY
 * allows a product. */
size_t tb_staging_bytes(const tb_pipeline *pipeline);

/* Seconds of work, as forecast, of those who are in the device's queue now. */
static inline double tb_pipeline_backlog(int device)
{
    extern _Atomic(double) tb_pipeline_backlogs[];
    return TB_LOAD(&tb_pipeline_backlogs[device]);
}

/* Events are made, and slots filled, when they are first needed; most products need few. Slots are emptied after
 * each product. */
tb_status tb_need_event(const tb_pipeline *pipeline, tb_event **event);
tb_status tb_need_slot(const tb_pipeline *pipeline, tb_slot *slot);

#endif
