/* Uses of devices that another process has up. A call uses them from before its first order until after its last, and so does
 * whoever else orders anything. A connection that is given up is forgotten with all that was made by it, when the last use of it has
 * ended; before that no other one is made. So nothing of one connection reaches the next.
 */
#ifndef TB_SERVED_USE_H
#define TB_SERVED_USE_H

#include <stdbool.h>
#include <stdint.h>

/* Begins a use of the device; always where it is the process's own, which nothing is done for. False: there is no connection, or none
 * any more; then there is nothing to end. A thread that leaves between the two without an end (lib/process/leaving.h) uses it for
 * ever. */
bool tb_begin_use(int device);
void tb_end_use(int device);

/* ---- For who makes connections ---------------------------------------------------------------------------- */

/* Whether one may be made: the last one is forgotten. */
bool tb_may_open_to_use(void);

/* What a connection does at the beginning and the end of a use of it; and to be forgotten, once, in the thread that ends the last use
 * after it has been closed to use, or closes it. */
typedef struct tb_use_steps {
    void (*begin)(void), (*end)(void), (*forget)(void);
} tb_use_steps;

/* There is a connection. */
void tb_open_to_use(const tb_use_steps *steps);

/* Nobody begins to use it any more. */
void tb_close_to_use(void);

/* Tells connections apart: how many there were. */
uint32_t tb_use_generation(void);

/* In a forked child, whose parent's threads use nothing of it. */
void tb_forget_uses(void);

#endif
