/* What is left of a streamed product where the device cannot go on, by the host. */
#ifndef TB_FINISH_H
#define TB_FINISH_H

#include "dispatch/plan.h"
#include "lib/call/host.h"
#include "lib/streaming/stream_product.h"

/* From where it has come to. */
void tb_finish_on_host(const tb_product *product, const tb_progress *done, const tb_host *host);

/* The same, although the host cannot reach all operands: the device still works, and they are fetched. */
tb_status tb_rescue(const tb_product *product, const tb_plan *plan, const tb_progress *done,
                    const tb_host *host);

#endif
