/* What was called: routine, extents, spelling, where matrices lay, how often and for how long; no data. For
 * `tileblas forecast`, which says what another machine would make of it. Kept while the option RECORD names a file, to
 * which each process appends it at its end, as lines of JSON.
 *
 * The table has room for so many kinds of calls that the file stays under 16 MiB. When it fills, new kinds are merged with
 * those of about their shape: extents keep four significant bits, later one.
 */
#ifndef TB_CALLED_H
#define TB_CALLED_H

#include "dispatch/plan.h"
#include "words/task.h"

#include <stdbool.h>

/* A kind of call, and what all of its calls took together. */
typedef struct tb_called {
    tb_routine routine;
    char spelling[32];                 /* the name by which it was called; may be empty */
    char letters[TB_LETTERS_SIZE];     /* as tb_print_letters has them */
    char places[TB_TASK_MATRICES + 1]; /* of its matrices: h, p, m, d */
    bool beta_is_zero;                 /* of a product */
    tb_extents extents;
    unsigned long long host_calls, device_calls;
    double host_seconds, device_seconds;
    double host_forecast; /* for the device's calls: what the host would have taken; 0 where nobody asked */
} tb_called;

/* A call that took so many seconds. */
void tb_note_called(tb_task task, const tb_facts *facts, const tb_plan *plan, const char *spelling,
                    double seconds);

/* Adds to the kind that it is of, from a record. */
void tb_add_called(const tb_called *called);

/* All kinds: what is at one of their places, false where nothing is. */
enum { TB_CALLED_PLACES = 1 << 15 };
bool tb_read_called(size_t place, tb_called *called);

/* Calls that found no room. */
unsigned long long tb_called_left_out(void);

/* Empties the table, for what reads one record after another. Nobody adds to it meanwhile. */
void tb_forget_called(void);

/* Appends all, behind a line that says whose they are. cores are the host's; left_out are calls that found no room
 * elsewhere. Whether all was written. */
bool tb_write_called(int file, const char *program, int cores, unsigned long long left_out);

#endif
