/* What the files of the simulated device share. An operation of lib/device/device.h asks the script for its fate,
 * resolves addresses through the memory table, and queues work in a stream.
 */
#ifndef TB_SIM_H
#define TB_SIM_H

#include "lib/device/platform.h"
#include "words/members.h"
#include "tests/sim/device_sim.h"

#include <signal.h>
#include <stdatomic.h>

/* The name of the device's own threads. */
#define SIM_THREAD_NAME "sim-stream"

/* Says what is wrong and aborts: the runtime broke the contract of the device interface. */
_Noreturn void sim_abort(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The operations themselves; the runtime's tables have a door in front of each (sim_door.c). */
extern const tb_device_operations sim_operations_inside;
extern const tb_platform_operations sim_platform_inside;

/* A device's table: one of those that take ordinary memory in copies, or of those that do not. */
const tb_device_operations *sim_operations_of(int device);

/* Has the tables serve the devices that there are; called before a device is used. */
void sim_assign_tables(void);

/* ---- sim_script.c: settings, and the fate of operations ------------------------------------------------ */

typedef struct sim_settings {
    int devices, architecture, multiprocessors;
    uint64_t host;
    size_t memory_bytes;
    _Atomic double link; /* set while commands run, too */
    double start_seconds;
    double delay_seconds;
    uint64_t seed;
    double speeds[SIM_MAX_DEVICES];
    bool reach, refuse, stale;
    bool pageable[SIM_MAX_DEVICES];
} sim_settings;

/* The settings as they stand; the environment has been read. */
const sim_settings *sim_get_settings(void);

typedef enum sim_operation {
    SIM_OPEN,
    SIM_MEMORY,
    SIM_ALLOCATE,
    SIM_PINNED,
    SIM_STREAM,
    SIM_EVENT,
    SIM_ORDER, /* record, stream_wait */
    SIM_WAIT,  /* synchronize, event_wait */
    SIM_COPY,
    SIM_LAUNCH,
    SIM_ANY,
    SIM_TELL,
    SIM_OPERATION_COUNT,
} sim_operation;

#define SIM_NO_DEVICE (-1)

/* Counts an operation of the device (SIM_NO_DEVICE: of the whole driver) and answers the status it must
 * return. With fault it may set *fault: half of the operation is to be queued. Where it also answers TB_OK, the
 * device is lost when the stream has come there. */
tb_status sim_attempt(int device, sim_operation operation, bool *fault);

bool sim_lost(int device);
bool sim_is_open(int device);
void sim_lose(int device);

/* ---- sim_memory.c: the address table ------------------------------------------------------------------- */

/* owned: by the runtime; otherwise by the program. */
void *sim_map(tb_memory memory, int device, size_t bytes, bool owned);
/* Memory that is there already becomes pinned, until it is taken back. */
tb_status sim_pin(void *memory, size_t bytes);
void sim_unpin(void *memory);
void sim_unmap(void *memory);
void sim_locate(const void *address, tb_place *place, tb_span *span);
bool sim_handed_out(void);
void sim_count_memory(sim_usage *usage);

/* The address at which the simulated device itself reads and writes the bytes. Aborts unless all of them lie
 * in one allocation that this device reaches (SIM_NO_DEVICE: any device); what names the operand. */
void *sim_reach(const void *address, size_t bytes, int device, const char *what);

/* ---- sim_queue.c: threads that run work in order ------------------------------------------------------- */

/* Around what a handler of the program must not jump out of, as every later call needs it: the C library's allocator, and the
 * table of addresses. All else is left as it was, like a driver in the middle. */
void sim_hold_signals(sigset_t *before);
void sim_let_signals(const sigset_t *before);

void *sim_make(size_t bytes); /* zeroed; never NULL */
void sim_free(void *made);
void sim_sleep(double seconds);

/* A flag with a count of references. */
typedef struct sim_marker sim_marker;
sim_marker *sim_make_marker(void);
sim_marker *sim_share_marker(sim_marker *marker);
void sim_drop_marker(sim_marker *marker);
void sim_await_marker(sim_marker *marker);
bool sim_marker_is_up(sim_marker *marker);

typedef enum sim_work_kind {
    SIM_WORK_COMMAND,
    SIM_WORK_RAISE,
    SIM_WORK_AWAIT,
    SIM_WORK_TELL,
    SIM_WORK_STALL
} sim_work_kind;

/* Addresses are the device's own (sim_reach). fault: half the work is done, then the device is lost. The
 * marker's reference goes with the work. */
typedef struct sim_work {
    sim_work_kind kind;
    bool fault;
    tb_command command;
    int from; /* of a copy: the other device whose memory it reads; SIM_NO_DEVICE: none */
    sim_marker *marker;
    _Atomic(uint32_t) *word; /* that is told the number */
    uint32_t number;
    double seconds;
} sim_work;

typedef struct sim_queue sim_queue;
/* NULL: the host has no thread for it. */
sim_queue *sim_open_queue(int device);
int sim_queue_device(const sim_queue *queue);
void sim_post(sim_queue *queue, const sim_work *work);
void sim_drain_queue(sim_queue *queue);
/* Work already posted is done first. */
void sim_close_queue(sim_queue *queue);

/* ---- sim_stream.c: operations of the table that concern streams and events ----------------------------- */

tb_status sim_stream_create(int device, tb_stream **stream);
tb_status sim_stream_adopt(const tb_place *place, void *native, tb_stream **stream);
void sim_stream_destroy(tb_stream *stream);
tb_status sim_stream_synchronize(tb_stream *stream);
sim_queue *sim_stream_queue(const tb_stream *stream);

/* The latest launch in a stream. */
tb_launch *sim_stream_launch(tb_stream *stream);

tb_status sim_event_create(int device, tb_event **event);
void sim_event_destroy(tb_event *event);
tb_status sim_event_record(tb_event *event, tb_stream *stream);
tb_status sim_stream_wait(tb_stream *stream, tb_event *event);
tb_status sim_event_wait(tb_event *event);
bool sim_event_passed(tb_event *event);
tb_status sim_stream_tell(tb_stream *stream, _Atomic(uint32_t) *word, uint32_t number);
void sim_count_streams(sim_usage *usage);

/* ---- sim_kernel.c: products ---------------------------------------------------------------------------- */

/* Lets a product's operands be as the device sees them, which must be able to. Not of a batch. */
void sim_reach_product(tb_product *product, int device);
void sim_reach_expansion(tb_expansion *expansion, int device);

/* Doubles, of complex numbers in two parts; im is NULL of real ones. */
typedef struct sim_columns {
    double *re, *im;
} sim_columns;

/* sim_sums.c. Adds count columns, which begin so many doubles apart, to as many rows of sums, each times its factor, in their
 * order. */
void sim_add_columns(sim_columns sums, const sim_columns *columns, int64_t apart, const sim_columns *factors,
                     int64_t rows, int64_t count);

/* Tells numbers from others. */
uint64_t sim_hash(const double *numbers, int64_t count);

/* The first columns of the product, summed in double and rounded once. Answers a hash of A. */
uint64_t sim_multiply(const tb_product *product, int64_t columns);

/* Writes an operand out; the first columns of it. */
void sim_expand(const tb_expansion *expansion, int64_t columns);

/* Adds a matrix and its transpose to C; to the first columns of it. */
void sim_fold(const tb_folding *folding, int64_t columns);

/* Copies the first columns of what the mask has. */
void sim_copy_masked(const tb_masked_copy *copy, int64_t columns);

/* Factors a block's first columns, unless a pivot is not positive, whose position is returned, from 1. */
int64_t sim_factor(const tb_factor *block, int64_t columns);

/* ---- sim_panel.c: panels and exchanges of rows --------------------------------------------------------- */

/* Lets all that they read and write be as the device sees it. TB_UNSUPPORTED: they are refused. */
tb_status sim_reach_panel(tb_panel *panel, int device, tb_target target);
tb_status sim_reach_exchange(tb_row_exchange *exchange, int device);
void sim_reach_matrix(tb_matrix *matrix, int device, const char *what);

/* fault: half of it. */
void sim_run_panel(const tb_panel *panel, bool fault);
void sim_run_exchange(const tb_row_exchange *exchange, bool fault);

#endif
