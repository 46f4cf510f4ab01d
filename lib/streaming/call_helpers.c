#include "lib/streaming/call_helpers.h"

#include "lib/device/platform.h"
#include "lib/serving/connection.h"
#include "lib/streaming/copy_threads.h"

/* The server's thread, which looks for orders all the time, takes no core from a helper. */
static void tell_server_cores(void)
{
    cpu_set_t cores;
    if (!tb_server_knows_cores() && tb_cores_beside_helpers(&cores))
        tb_tell_server_cores(&cores);
}

void tb_call_helpers(const tb_pipeline *pipeline, size_t bytes, int links)
{
    tb_copy_call_helpers(bytes, links);
    if (pipeline->device >= TB_SERVED_FIRST)
        tell_server_cores();
}
