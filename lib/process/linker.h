/* Forks and the dynamic linker. A process that forks while another of its threads is inside the linker leaves the
 * linker's lock held in the child for ever. Forks therefore wait until no thread is inside on this library's
 * behalf, for a moment that is bounded, because the linker may be running a constructor that waits for others.
 */
#ifndef TB_LINKER_H
#define TB_LINKER_H

#include <stdbool.h>

/* Around everything that asks the linker while the program's other threads run. They nest. */
void tb_enter_linker(void);
void tb_leave_linker(void);

/* For a thread that left its calls by a jump, however deep it was inside. */
void tb_leave_linker_for_good(void);

/* From now on dlclose does not unmap this library. */
void tb_stay_loaded(void);

/* Called in a forked child whose parent was, or may have been, inside the linker. */
void tb_distrust_linker(void);

/* False in a child where asking the linker could wait for ever. */
bool tb_linker_answers(void);

#endif
