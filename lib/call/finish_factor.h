/* What the host does of a factorization. */
#ifndef TB_FINISH_FACTOR_H
#define TB_FINISH_FACTOR_H

#include "lib/call/host.h"

/* What is left where so many columns are finished and the others are as they were: brings these up to date, and has the host factor
 * what is to be factored still. Its info, if not 0, is told as the whole matrix's, unless that of the finished columns, which the
 * factorization went on after, comes before it. */
void tb_finish_factor(const tb_factor *factor, int64_t done, int64_t info, const tb_host *host);

#endif
