/* Copying in host memory with several threads: one thread fills a fraction of what the link to a device
 * takes.
 */
#ifndef TB_COPY_THREADS_H
#define TB_COPY_THREADS_H

#include "lib/streaming/copy_rows.h"
#include "lib/streaming/pages.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What jobs begin with, whose pieces helpers take. What is in a job is the library's own; it must stay where it
 * is from begin to end, or to leave. */
typedef struct tb_listed_job {
    struct tb_listed_job *next;
    _Atomic(uint32_t) helpers; /* at work on it; entered under the lock */
} tb_listed_job;

/* One copy under way. */
typedef struct tb_copy_job {
    tb_listed_job listed;
    tb_host_copy copy;
    size_t rows_a_piece;
    bool compares;
    atomic_bool differs;    /* in one of its pieces, the others may not have been looked at */
    atomic_size_t next_row; /* to be taken; at rows or beyond when all are */
} tb_copy_job;

/* Between begin and end other threads may be copying; end copies too, so that nothing depends on a thread
 * being had, and returns when all is copied. Jobs are begun and ended by any thread, and are taken up in the
 * order in which they were begun. */
void tb_copy_begin(tb_copy_job *job, const tb_host_copy *copy);
void tb_copy_end(tb_copy_job *job);

/* The same for a job that is given up, perhaps not begun: what has not been copied by now is not. */
void tb_copy_leave(tb_copy_job *job);

/* The same, but nothing is copied: end returns whether the source is as the prints say. */
void tb_compare_begin(tb_copy_job *job, const tb_host_copy *copy);
bool tb_compare_end(tb_copy_job *job);

/* Pages to be touched by helpers that have nothing to copy (lib/streaming/pages.h). After leave nobody
 * touches them any more. */
typedef struct tb_touch_job {
    tb_listed_job listed;
    tb_pages pages;
    size_t pieces;
    atomic_size_t next_piece;
} tb_touch_job;

void tb_touch_begin(tb_touch_job *job, const tb_pages *pages);
void tb_touch_leave(tb_touch_job *job);

/* Threads that copy together for so many links, so many bytes for each; one that calls among them. */
int tb_copy_threads(int links, size_t bytes);

/* Cores that no helper stays on, but for the one on which the thread ran that started them; false: there are none, or no helpers. */
bool tb_cores_beside_helpers(cpu_set_t *cores);

/* Jobs of so many bytes in all will follow, and so many links are filled at once: helpers are woken, and look for
 * work instead of sleeping until they are dismissed, or there has been none for two milliseconds. */
void tb_copy_call_helpers(size_t bytes, int links);
void tb_copy_dismiss_helpers(void);

/* Whether callers copy alone for now, as other threads have the helpers' cores. */
bool tb_copies_alone(void);

#endif
