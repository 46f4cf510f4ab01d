/* The way into the runtime: compat/ forwards small calls whose matrices are seen to be the host's (residency.h), or of which
 * tb_stays_on_host says so (small.h), and calls tb_perform for regular ones.
 */
#ifndef TB_LINE_H
#define TB_LINE_H

#include "lib/call/host.h"
#include "lib/call/small.h"

/* Does what the program asks for. The call's arguments are regular, which compat/arguments.h has checked. */
void tb_perform(tb_task task, const tb_host *host);

#endif
