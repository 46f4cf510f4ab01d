/* One streamed product while it runs: what loading, computing and returning share, and what each of these parts does. When it is done
 * says the pump (stream_pump.h).
 */
#ifndef TB_STREAM_RUN_H
#define TB_STREAM_RUN_H

#include "dispatch/part_schedules.h"
#include "dispatch/plan.h"
#include "lib/device/copies.h"
#include "lib/streaming/exchange.h"
#include "lib/streaming/pipeline.h"
#include "words/integers.h"

/* An operand on the device. */
typedef struct tb_stream_operand {
    tb_buffer buffer;
    int64_t ld;                /* of C, and where the tiling is whole of A and B; slabs have their own */
    tb_cached_operand *cached; /* NULL: loaded as if never seen */
} tb_stream_operand;

/* A rectangle of an operand on its way to the device through the slots: they take the columns as far apart as
 * they will be on the device, so that the link moves one piece, or, where others' elements lie between them
 * there, one behind the other. */
typedef struct tb_transfer {
    const tb_matrix *from;
    char *target;
    size_t target_pitch; /* of columns on the device, in bytes */
    bool in_one;         /* the link moves what lies between columns, too */
    size_t pitch;        /* of columns in a slot, in bytes */
    tb_cached_operand *cached;
    tb_strip *strip;      /* NULL: nothing is remembered of it */
    tb_stairs stairs;     /* of C: what the mask leaves out is not read */
    int64_t first_column; /* of the operand's */
    /* All of it goes to the same place, from where each slot's columns are written out; NULL: it stays there. */
    const tb_expansion *expansion;
    _Atomic(uint32_t)
        *seen; /* of a C that is changed in its place: what it holds that is not finite; NULL: nobody looks */
} tb_transfer;

/* The columns of the common operand that were loaded last, in an exchange. Where there are no columns in it,
 * nothing is left to do. */
typedef struct tb_halves {
    tb_post own;        /* is posted when the slot that is being filled has been sent */
    tb_matrix missing;  /* columns that the other side brings */
    tb_transfer others; /* the way that these would take over this device's own link */
} tb_halves;

/* One call's state. C is computed, sent on its way and returned in the same order: band by band of rows,
 * mostly one, each column by column from the left. How far that has come is counted in columns of bands. */
typedef struct tb_stream_run {
    tb_pipeline *pipeline;
    const tb_product *product; /* or its rows that this run is for; where it is lowered, ... */
    const tb_product *given;   /* ... from this one */
    const tb_plan *plan;
    const tb_kernel *kernel;
    const tb_tiling *tiling;
    tb_part_schedules *schedules; /* of the tiling */
    tb_side *side;                /* of the exchange with another device; NULL: there is none */
    _Atomic(uint32_t) *seen;      /* of numbers in C that are not finite (not_finite.h); NULL: nobody looks */
    void *programs_stream;        /* of the region */
    tb_halves halves;
    tb_stream_operand operands[TB_ROLES];
    tb_buffer workspace;
    tb_buffer staging; /* for what is expanded: tb_staging_bytes */
    /* Structured operands as they are stored, on the device; data is NULL: not brought yet. */
    tb_operand stored[TB_B + 1];
    tb_buffer stored_there[TB_B + 1];
    bool one_operand; /* B is A, read the other way, and is found where A lies */
    bool whole_c;     /* C has all of its columns on the device */
    int64_t all;      /* columns of bands that C has */
    int64_t computed; /* columns of bands that have been computed */
    int64_t sent;     /* columns of bands that are on their way back, or further */
    int64_t handed;   /* columns of bands that the host's threads are copying into C, or have copied */
    int64_t returned; /* columns of bands that are in C */
    size_t bytes_in;  /* bytes that go through slots on the way in */
    bool has_helpers; /* threads have been called to copy them */
    bool touches;     /* helpers that have nothing to copy touch pages of C */
    int next_in;      /* the slot to fill next */
    tb_slot *filling; /* by the host's threads; NULL: none */
    int first_out, out_count; /* slots on their way out: the oldest, and how many */
    int emptying;             /* slots that are being emptied: so many of the oldest of those */
    int64_t swath_ends[TB_SWATHS_IN_FLIGHT]; /* of swaths that are computed but not all sent */
    int first_swath, swath_count;
    int64_t slabs_multiplied;
    /* By the latest launch, if A has not changed since; A's data is NULL when it has. */
    tb_product multiplied;
    bool is_due; /* a product is due, when the slot that is being filled has been sent */
    tb_product due;
    int64_t due_swath_n; /* that many columns of it at a time */
    bool due_completes;  /* what is computed of C is complete then, in all rows of the band */
} tb_stream_run;

/* Lets the event stand for the stream's work so far. */
static inline tb_status tb_mark(const tb_stream_run *run, tb_event **event, tb_stream *stream)
{
    TB_TRY(tb_need_event(run->pipeline, event));
    return tb_record(*event, stream);
}

/* Whether C is written where it lies, by the device and at the very end. Managed memory only where beta is 0:
 * should that fail half way, the host would have nothing to begin with, so C goes through the slots. */
static inline bool tb_returns_on_device(const tb_stream_run *run)
{
    const tb_memory memory = run->plan->places[TB_C].memory;
    return memory == TB_MEMORY_DEVICE || (memory == TB_MEMORY_MANAGED && tb_is_zero(run->product->beta));
}

/* A C that is written where it lies has one band. */
static inline int64_t tb_band_rows(const tb_stream_run *run)
{
    return tb_returns_on_device(run) ? run->product->m : run->tiling->band_m;
}

/* The column of a band that comes after so many columns of bands: where in C it is, and its rows. */
typedef struct tb_band {
    int64_t row, rows, column;
} tb_band;

static inline tb_band tb_band_at(const tb_stream_run *run, int64_t columns)
{
    const int64_t n = run->product->n, most = tb_band_rows(run);
    const int64_t row = columns / n * most;
    return (tb_band){.row = row, .rows = tb_smaller(run->product->m - row, most), .column = columns % n};
}

/* Whether the link writes into C itself. */
static inline bool tb_skips_slots(const tb_stream_run *run)
{
    return run->plan->places[TB_C].memory == TB_MEMORY_PINNED && tb_is_zero(run->product->beta) &&
           run->product->mask == TB_FULL;
}

/* Whose place an operand has on the device. */
static inline tb_role tb_place_of(const tb_stream_run *run, tb_role role)
{
    return role == TB_B && run->one_operand ? TB_A : role;
}

/* Where an element of an operand lies on the device, of which all has its place there, or two blocks of C:
 * with two, all blocks are equally wide. */
static inline void *tb_on_device(const tb_stream_run *run, tb_role role, int64_t row, int64_t column)
{
    const int64_t place = role == TB_C && !run->whole_c ? column % (2 * run->tiling->block_n) : column;
    tb_matrix there = run->product->operands[role].matrix;
    tb_place_there(run->product, run->tiling, role, run->operands[tb_place_of(run, role)].buffer.memory, row,
                   place, &there);
    return there.data;
}

/* What is returned at a time: some columns of a band, in the rows that the mask leaves, and without those columns behind them of
 * which it leaves none. */
typedef struct tb_returned {
    tb_matrix program; /* in the program's memory; of no rows: there is nothing to return */
    void *there;       /* on the device */
    tb_stairs stairs;
} tb_returned;

/* The mask's edge in a rectangle of C. */
static inline tb_stairs tb_stairs_in(const tb_product *product, int64_t row, int64_t column)
{
    const int64_t element = (int64_t)tb_bytes_of(product->c.element), step = tb_mask_step(product),
                  first = step * (column + product->diagonal) - row;
    if (product->mask == TB_FULL)
        return (tb_stairs){0};
    const bool ends = product->mask == TB_UPPER;
    return (tb_stairs){
        .step_bytes = step * element, .edge_bytes = (first + (ends ? step : 0)) * element, .ends = ends};
}

static inline tb_returned tb_columns_to_return(const tb_stream_run *run, int64_t first, int64_t columns)
{
    const tb_band band = tb_band_at(run, first);
    const tb_range of_band = {band.row, band.rows}, all = {band.column, columns},
                   rows = tb_masked_box(run->product, of_band, all);
    const int64_t width = tb_masked_width(run->product, of_band, all);
    return (tb_returned){
        .program = tb_rectangle(&run->product->c.matrix, rows.first, band.column, rows.count, width),
        .there = tb_on_device(run, TB_C, rows.first, band.column),
        .stairs = tb_stairs_in(run->product, rows.first, band.column),
    };
}

/* ---- The parts -------------------------------------------------------------------------------------------- */

/* The order of work: goes through the steps; all of C has been computed then, or is being. */
tb_status tb_stream_steps(tb_stream_run *run);

/* Room on the device: where operands have their places, and whether they have come before; and the memory, with the kernel's
 * workspace. */
void tb_lay_out(tb_stream_run *run);
tb_status tb_take_places(tb_stream_run *run);

/* ---- One slot on the way in, and what it is filled with (stream_load.c) */

/* How a rectangle of an operand gets to device memory by the load stream. Where it is not a part of a higher one there, what lies
 * between its columns may be overwritten. */
tb_transfer tb_make_transfer(const tb_stream_run *run, tb_role role, const tb_matrix *rectangle, void *target,
                             int64_t target_ld, bool is_part);

/* Whether the link reads it where it lies, in the program's memory: nothing is remembered of it then, and nobody has looked at it. */
bool tb_goes_straight(const tb_stream_run *run, tb_role role, const tb_transfer *transfer);

/* Columns that a slot takes. */
int64_t tb_columns_in_slot(const tb_stream_run *run, const tb_transfer *transfer);

/* Has the host's threads fill the slot with so many columns; columns whose prints are known are compared with them instead. */
void tb_fill_slot(const tb_stream_run *run, const tb_transfer *transfer, tb_slot *slot, tb_range columns);

/* Waits until it is full, and has the link read it; nothing is sent where the same is on the device already. */
tb_status tb_send_slot(const tb_stream_run *run, tb_slot *slot, bool *is_sent);

/* ---- Operands that are written out on the device (stream_expand.c) */

/* A rectangle of an operand that is expanded, into device memory. */
tb_status tb_load_expanded(tb_stream_run *run, tb_role role, const tb_matrix *rectangle, void *target,
                           int64_t target_ld);

/* A structured operand in host memory, all that is stored of it, once: run->stored. */
tb_status tb_bring_stored(tb_stream_run *run, tb_role role);

/* ---- Halves of what two devices bring for each other (stream_exchange.c) */

/* Whether another device brings half of the operand. */
bool tb_is_halved(const tb_stream_run *run, tb_role role);

/* Columns of a transfer that are exchanged at a time, from the given one on. The part has them from columns, as they lie in the
 * program's memory. */
tb_transfer tb_exchanged_part(const tb_stream_run *run, const tb_transfer *transfer, int64_t first,
                              tb_matrix *columns);

/* This side's half of such a part, which has two columns or more. */
tb_transfer tb_own_half(const tb_stream_run *run, const tb_transfer *part, tb_matrix *columns);

/* The own half is in slots, the last of which is to be sent; the other one is missing from now on. */
void tb_miss_half(tb_stream_run *run, const tb_transfer *part, const tb_transfer *own);

/* A slot is on its way, and the event comes behind it. If it completes the own half, the other side is told. */
void tb_post_half(tb_stream_run *run, tb_event *arrived);

/* Waits for what the other side tells of the missing half, and has it copied from there: the compute stream will find it. Where the
 * other side does not bring it, is_coming is false, and the exchange is over. */
tb_status tb_copy_half(tb_stream_run *run, bool *is_coming);

/* ---- C's way back (stream_return.c) */

/* The next columns of the band are computed when the compute stream has come here. There is room for one more swath. */
tb_status tb_note_swath(tb_stream_run *run, int64_t columns);

/* Hands columns of bands to the program until so many have left the device, waiting for them as they come. */
tb_status tb_return_columns(tb_stream_run *run, int64_t columns);

/* Hands over what has left the device already. */
tb_status tb_return_ready(tb_stream_run *run);

/* Waits for the oldest slot that is being emptied. */
void tb_finish_emptying(tb_stream_run *run);

/* C lies on the device: it is written when the whole product is there. */
tb_status tb_return_on_device(tb_stream_run *run);

#endif
