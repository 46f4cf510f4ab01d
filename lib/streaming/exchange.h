/* Two devices that share a product both need all of one operand, the common one. In an exchange each of them, a side, brings half
 * of every transfer of it over its own link, and copies the other half from the other device. A side posts what it has sent: the
 * program's columns, and where and after which event they lie on its device. The other side takes the posts in order.
 * Nobody waits for ever: a thread waits for a post only while the other side is open and has not quit, and posts its own half
 * before; buffers of which something was posted are kept until the other side is at rest, which is told first that nothing more
 * will come; and streams wait for events that were recorded before (docs/streaming.md).
 */
#ifndef TB_EXCHANGE_H
#define TB_EXCHANGE_H

#include "lib/device/device.h"
#include "words/role.h"

#include <stdatomic.h>

/* What one side has sent to its device. */
typedef struct tb_post {
    const void *from; /* the first column, in the program's memory */
    int64_t columns;
    size_t column_bytes;
    const char *there; /* on the device */
    size_t pitch;      /* of columns there, in bytes */
    bool in_one;       /* what lies between columns there may be copied, too */
    tb_event *arrived; /* recorded behind it, and maybe again later in the same stream */
} tb_post;

/* What comes after so many is not exchanged. */
#define TB_POSTS_MAXIMUM 128

typedef struct tb_exchange {
    _Atomic(uint32_t) state; /* of both sides */
    tb_role role;            /* of the common operand */
    tb_post posts[2][TB_POSTS_MAXIMUM];
} tb_exchange;

/* For the thread of its region alone. */
typedef struct tb_side {
    tb_exchange *exchange;
    int number;        /* 0 or 1 */
    int taken, closed; /* of the other side's posts; those that were taken before the side closed */
} tb_side;

/* The side may be NULL, where there is no exchange, in all of these but those that deal with posts. The side has its turn: */
void tb_open_side(tb_side *side);

/* It posts and takes no more. */
void tb_quit_exchange(tb_side *side);

/* And reads the other device's memory no more, nor looks at its events: what is tried again has nothing to do with them, and the
 * other side may have ended. */
void tb_close_side(tb_side *side);

/* Until the other device reads this one's memory no more. The side is closed. */
void tb_await_other_side(const tb_side *side);

/* Whether it posts and takes. */
bool tb_is_exchanging(const tb_side *side);

void tb_post_columns(tb_side *side, const tb_post *post);

/* Waits for the next post of the other side; NULL: there will be none. */
const tb_post *tb_take_post(tb_side *side);

/* Whether so many of the posts that were taken have arrived at the other device without error. Waits for them. To be asked when
 * what was made of them is there, however often: a post that had arrived may be copied from there after the device was lost. */
tb_status tb_check_posts(tb_side *side, int count);

#endif
