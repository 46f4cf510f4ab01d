/* Objects that are loaded after attaching: the next call that is looked at notices that there are more than before, and has
 * them bound, too (attach.c). A program that opens a library need not attach again.
 *
 * A call comes from anywhere: from a constructor, whose thread has the dynamic linker's lock, or from a thread that
 * the constructor waits for. Binding asks the linker. So it is done by a thread of its own, and the call waits for that
 * no longer than it takes where nobody has the lock.
 */
#ifndef TB_FOLLOW_H
#define TB_FOLLOW_H

#include <stdatomic.h>
#include <stdbool.h>

/* Whether objects are followed: from attaching to detaching. */
extern atomic_bool tb_follows;

/* All objects that were loaded by then (tb_count_changes) are bound; bind does it for others, and says whether it could. */
void tb_begin_following(unsigned long long loaded, bool (*bind)(void));
void tb_end_following(void);

void tb_look_for_objects(void);

/* By calls that are not small. */
static inline void tb_follow(void)
{
    if (__builtin_expect(atomic_load_explicit(&tb_follows, memory_order_relaxed), false))
        tb_look_for_objects();
}

#endif
