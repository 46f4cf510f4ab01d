/* One streamed product while it runs: what loading, computing and returning share. */
#ifndef TB_STREAM_RUN_H
#define TB_STREAM_RUN_H

#include "dispatch/plan.h"
#include "lib/operand.h"
#include "lib/pipeline.h"

/* One call's state. C is computed, sent on its way and returned in the same order: band by band of rows, mostly one, each
 * column by column from the left. So far so many columns of bands. */
typedef struct tb_stream_run {
    tb_pipeline *pipeline;
    const tb_problem *problem;
    const tb_plan *plan;
    const tb_kernel *kernel;
    const tb_tiling *tiling;
    tb_buffer a, b, c, workspace;
    int64_t ld_c;                             /* of C on the device */
    bool whole_c;                             /* which has all of its columns there */
    int64_t all;                              /* columns of bands */
    int64_t computed, sent, handed, returned; /* of them; handed ones are being copied into C */
    int next_in;                              /* slot to fill */
    tb_slot *filling;                         /* by the host's threads; NULL: none */
    int first_out, out_count, emptying;       /* slots on their way; the first of them are being emptied */
    int64_t panel_ends[TB_PANELS_IN_FLIGHT];  /* of panels that are computed but not all sent */
    int first_panel, panel_count;
    int64_t slabs_multiplied;
    tb_problem multiplied; /* by the latest launch, if A has not changed since; a is NULL when it has */
    bool a_loaded;         /* and kept, all of it */
    bool is_due;           /* due, when the slot that is being filled has been sent */
    tb_problem due;
    int64_t due_panel_n; /* 0: it completes no columns */
} tb_stream_run;

/* Lets the event stand for the stream's work so far. */
static inline tb_status tb_mark(const tb_stream_run *run, tb_event **event, tb_stream *stream)
{
    TB_TRY(tb_need_event(run->pipeline, event));
    return tb_device.record(*event, stream);
}

/* What comes after so many columns of bands: a column of C, and of it the rows of a band. */
typedef struct tb_band {
    int64_t row, rows, column;
} tb_band;

static inline tb_band tb_band_at(const tb_stream_run *run, int64_t columns)
{
    const int64_t n = run->problem->n, most = run->tiling->band_m;
    const int64_t row = columns / n * most, left = run->problem->m - row;
    return (tb_band){.row = row, .rows = left < most ? left : most, .column = columns % n};
}

/* Where a column of bands of C lies on the device. With two blocks of C there, all blocks are equally wide. */
static inline float *tb_device_column(const tb_stream_run *run, int64_t column)
{
    if (!run->whole_c)
        column %= 2 * run->tiling->block_n;
    return (float *)run->c.memory + column * run->ld_c;
}

/* Whether the link writes into C itself. */
static inline bool tb_skips_slots(const tb_stream_run *run)
{
    return run->plan->c.memory == TB_MEMORY_PINNED && run->problem->beta == 0;
}

/* Whether C is written where it lies, by the device and in one step. Managed memory only where beta is 0: should the step fail
 * half way, the host would have nothing to begin with, so C goes through the slots. */
static inline bool tb_returns_on_device(const tb_stream_run *run)
{
    const tb_memory memory = run->plan->c.memory;
    return memory == TB_MEMORY_DEVICE || (memory == TB_MEMORY_MANAGED && run->problem->beta == 0);
}

/* Has the product computed that is due, if there is one, after what has been loaded and sent so far. */
tb_status tb_compute_due(tb_stream_run *run);

/* Sends on what slots have been filled with. Loading leaves the last one to be sent by this, or by what is loaded next.
 */
tb_status tb_send_filled(tb_stream_run *run);

/* A matrix into device memory, by the load stream. */
tb_status tb_load(tb_stream_run *run, const tb_place *place, const tb_matrix *matrix, float *target,
                  int64_t target_ld);

/* Lets the matrix describe where the kernel will find it: where it lies, or at target, its columns tb_pitched(rows) floats
 * apart, where it is loaded unless it is there already. */
tb_status tb_bring(tb_stream_run *run, const tb_place *place, bool pad, tb_matrix *matrix, float *target,
                   bool already);

/* The next columns of the band are computed when the compute stream has come here. Waits where too many panels are on their
 * way already. */
tb_status tb_note_panel(tb_stream_run *run, int64_t columns);

/* Hands columns of bands to the program until so many have left the device, waiting for them as they come. */
tb_status tb_return_columns(tb_stream_run *run, int64_t columns);

/* Hands over what has left the device already. */
tb_status tb_return_ready(tb_stream_run *run);

/* Waits for the oldest slot that is being emptied. */
void tb_finish_emptying(tb_stream_run *run);

/* C lies on the device: it is written when the whole product is there, in one step, which is why it has no bands. */
tb_status tb_return_on_device(tb_stream_run *run);

#endif
