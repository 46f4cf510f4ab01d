#include "kernels/forwarder.h"

static tb_status forward_load(const tb_launcher *launcher, tb_entry *entry)
{
    const tb_launcher *device = ((const tb_forwarder *)launcher)->device;
    return device->load(device, entry);
}

static tb_status forward_launch(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                                int shared_bytes, const void *argument)
{
    const tb_forwarder *forwarder = (const tb_forwarder *)launcher;
    const tb_launcher *device = forwarder->device;
    return forwarder->only_loads ? device->load(device, entry)
                                 : device->launch(device, entry, blocks, threads, shared_bytes, argument);
}

static tb_status forward_launch_clusters(const tb_launcher *launcher, tb_entry *entry, int64_t blocks,
                                         int cluster, int threads, int shared_bytes, const void *argument)
{
    const tb_forwarder *forwarder = (const tb_forwarder *)launcher;
    const tb_launcher *device = forwarder->device;
    return forwarder->only_loads
               ? device->load(device, entry)
               : device->launch_clusters(device, entry, blocks, cluster, threads, shared_bytes, argument);
}

tb_forwarder tb_forward_to(const tb_launcher *device)
{
    return (tb_forwarder){.interface = {.target = device->target,
                                        .load = forward_load,
                                        .launch = forward_launch,
                                        .launch_clusters = forward_launch_clusters},
                          .device = device};
}
