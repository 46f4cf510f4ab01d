/* Cores that there are, how many threads copy, and which cores they run on. */
#ifndef TB_CORES_H
#define TB_CORES_H

#include <sched.h>
#include <stddef.h>

/* Cores that the calling thread may run on. */
int tb_allowed_cores(void);

/* Threads that fill so many links between them, on so many cores, so many bytes going over each. */
int tb_threads_for_links(int cores, int links, size_t bytes);

/* Those allowed cores that are of one of so many helpers, numbered from 0; the core of the thread
 * that called for them first is the last to be given to one. Two cores at least, so that something else may
 * hold one, but where there are fewer than four. Helpers that could run anywhere would all be put on the
 * caller's core where the others are, or lately were, busy; with sets of their own few are. */
void tb_cores_of_helper(const cpu_set_t *allowed, int callers_core, int number, int helpers,
                        cpu_set_t *cores);

/* The calling thread, which is that helper, stays on these; where it may not choose, it runs wherever it is put. */
void tb_stay_on_own_cores(int callers_core, int number, int helpers);

#endif
