/* One streamed product while it runs: what loading, computing and returning share. */
#ifndef TB_STREAM_RUN_H
#define TB_STREAM_RUN_H

#include "dispatch/plan.h"
#include "lib/device/operand.h"
#include "lib/streaming/pipeline.h"

/* One call's state. C is computed, sent on its way and returned in the same order: band by band of rows, mostly one, each
 * column by column from the left. So far so many columns of bands. */
typedef struct tb_stream_run {
    tb_pipeline *pipeline;
    const tb_problem *problem;
    const tb_plan *plan;
    const tb_kernel *kernel;
    const tb_tiling *tiling;
    tb_buffer a, b, c, workspace;
    tb_cached_operand *cached_a, *cached_b; /* NULL: loaded as if never seen */
    int64_t ld_a, ld_c; /* of A, where all of it has its place on the device, and of C there */
    bool whole_c;       /* which has all of its columns there */
    int64_t all;        /* columns of bands */
    int64_t computed, sent, handed, returned; /* of them; handed ones are being copied into C */
    size_t bytes_in;                          /* through slots */
    bool has_helpers;                         /* called, to copy them */
    bool touches;                             /* pages of C, by helpers that have nothing to copy */
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
    int64_t due_panel_n; /* that many columns of it at a time */
    bool due_completes;  /* and each time they are C then, with all rows of the band */
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

/* Where an element lies of a matrix at memory whose bands, so many columns wide, do or do not have their places. */
static inline float *tb_in_band(const tb_stream_run *run, float *memory, int64_t ld, int64_t columns,
                                int64_t row, int64_t column)
{
    const int64_t band_m = run->tiling->band_m, band = run->tiling->apart ? row / band_m : 0;
    return memory + band * columns * ld + (row - band * band_m) + column * ld;
}

/* And of C on the device. With two blocks there, all blocks are equally wide. */
static inline float *tb_device_element(const tb_stream_run *run, int64_t row, int64_t column)
{
    const int64_t two = 2 * run->tiling->block_n;
    return tb_in_band(run, run->c.memory, run->ld_c, run->problem->n, row,
                      run->whole_c ? column : column % two);
}

/* The first of a column of bands of C. */
static inline float *tb_device_column(const tb_stream_run *run, int64_t column)
{
    const tb_band band = tb_band_at(run, column);
    return tb_device_element(run, band.row, band.column);
}

/* A product of what has been brought. While the last of it is in a slot that is being filled, the product is due: launching
 * it takes the calling thread half as long as a slot takes to fill, and the next is to be filled meanwhile. Nothing may
 * be loaded in place of its operands. */
tb_status tb_compute(tb_stream_run *run, const tb_problem *part, int64_t panel_n, bool completes);

/* Device memory for the call. */
tb_status tb_take_floats(const tb_stream_run *run, int64_t floats, tb_buffer *buffer);

/* Everything has its place on the device: says where, looks whether operands have come before, takes the memory, and goes
 * through the steps. */
void tb_lay_out_whole(tb_stream_run *run);
tb_status tb_take_whole(tb_stream_run *run);
tb_status tb_stream_whole(tb_stream_run *run);

/* Has the product computed that is due, if there is one, after what has been loaded and sent so far. */
tb_status tb_compute_due(tb_stream_run *run);

/* Sends on what slots have been filled with. Loading leaves the last one to be sent by this, or by what is loaded next.
 */
tb_status tb_send_filled(tb_stream_run *run);

/* A matrix into device memory, by the load stream. Where it is not a part of a higher one, what lies between its columns there
 * may be overwritten. */
tb_status tb_load(tb_stream_run *run, const tb_place *place, const tb_matrix *matrix, float *target,
                  int64_t target_ld, bool is_part);

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

/* C lies on the device: it is written when the whole product is there, in one step. */
tb_status tb_return_on_device(tb_stream_run *run);

#endif
