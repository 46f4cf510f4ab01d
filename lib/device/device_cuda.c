/* The device interface on the CUDA driver: opening devices, their memory, commands, and the table. Work is done in the device's
 * primary context, which CUDA runtime programs share, or in the context that owns the caller's memory; it is pushed for one
 * operation and popped again, so that the calling thread's current context is never changed.
 */
#include "lib/device/device_cuda.h"

#include "kernels/launch.h"
#include "kernels/panels/launch_laswp.h"
#include "kernels/panels/launch_panel.h"
#include "lib/device/built_for.h"
#include "lib/user/log.h"
#include "sequences/sequence.h"

#include <string.h>

tb_cuda_device tb_cuda_devices[TB_DEVICES_MAXIMUM];
#define devices tb_cuda_devices
int tb_cuda_device_count;
atomic_int tb_cuda_first_open = -1;

static tb_status read_attribute(int device, CUdevice_attribute attribute, int *value)
{
    return TB_CU(cuDeviceGetAttribute, value, attribute, devices[device].device);
}

/* The highest. */
static tb_status read_rates(int device, int *clock_khz, double *memory_bytes_per_second)
{
    int memory_khz, bus_bits;
    TB_TRY(read_attribute(device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, clock_khz));
    TB_TRY(read_attribute(device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, &memory_khz));
    TB_TRY(read_attribute(device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &bus_bits));
    /* Two bits a clock on every line. */
    *memory_bytes_per_second = 2e3 * memory_khz * bus_bits / 8;
    return TB_OK;
}

tb_status tb_cuda_examine(int device)
{
    int major, minor;
    TB_TRY(TB_CU(cuDeviceGet, &devices[device].device, device));
    TB_TRY(read_attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major));
    TB_TRY(read_attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor));
    TB_TRY(read_attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                          &devices[device].target.multiprocessors));
    TB_TRY(read_attribute(device, CU_DEVICE_ATTRIBUTE_MAX_PITCH, &devices[device].pitch_maximum));
    TB_TRY(read_attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                          &devices[device].shared_maximum));
    TB_TRY(read_attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
                          &devices[device].shared_multiprocessor));
    TB_TRY(read_attribute(device, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM,
                          &devices[device].reaches_as_the_host));
    devices[device].target.architecture = 10 * major + minor;
    int clock_khz;
    double memory_rate;
    if (read_rates(device, &clock_khz, &memory_rate) == TB_OK)
        devices[device].target.memory_bytes_a_clock =
            tb_memory_bytes_a_clock(devices[device].target, 1e3 * clock_khz, memory_rate);
    return TB_OK;
}

/* Native atomics tell NVLink. Over PCI Express devices reach each other by the links that both have to the host, and gain nothing. */
static bool has_link_to(int device, int other)
{
    const CUdevice reader = devices[device].device, read = devices[other].device;
    int reaches = 0, atomics = 0;
    return TB_CU(cuDeviceCanAccessPeer, &reaches, reader, read) == TB_OK && reaches &&
           TB_CU(cuDeviceGetP2PAttribute, &atomics, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, reader,
                 read) == TB_OK &&
           atomics;
}

static bool has_neighbours(int device)
{
    bool has = false;
    for (int other = 0; other < tb_cuda_device_count && !has; other++)
        has = other != device && has_link_to(other, device);
    return has;
}

/* A pool has its own list of devices that may read its memory. To enable a context's access to another one would be seen by the
 * program, whose contexts these are, too: its own attempt would be answered with an error. */
static tb_status open_pool(int device)
{
    const CUmemPoolProps props = {
        .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = devices[device].device}};
    CUmemoryPool pool;
    TB_TRY(TB_CU(cuStreamCreate, &devices[device].allocating, CU_STREAM_NON_BLOCKING));
    TB_TRY(TB_CU(cuMemPoolCreate, &pool, &props));
    devices[device].pool = pool;
    return TB_OK;
}

/* A build is often for the GPUs of the machine that made it. */
static bool has_code_for(int device)
{
    static const int built[] = {TB_CODE_ARCHITECTURES};
    const int architecture = devices[device].target.architecture;
    if (tb_is_built_for(built, sizeof built / sizeof *built, TB_CODE_PTX, architecture))
        return true;
    tb_warn_once(
        "no products go to device %d: it has compute capability %d.%d, for which this build has no code "
        "(TILEBLAS_ARCHITECTURES=all-major when it is configured)",
        device, architecture / 10, architecture % 10);
    return false;
}

static tb_status cuda_open_device(int device)
{
    CUcontext primary;
    if (!has_code_for(device))
        return TB_UNSUPPORTED;
    TB_TRY(TB_WHILE_OTHERS_CAPTURE(TB_CU(cuDevicePrimaryCtxRetain, &primary, devices[device].device)));
    /* Where that fails, how many clusters run at a time stays unknown. */
    (void)TB_IN_CONTEXT(primary, (tb_cuda_count_clusters(device), TB_OK));
    /* Without a pool, memory is the device's alone. */
    if (has_neighbours(device))
        (void)TB_IN_CONTEXT(primary, open_pool(device));
    devices[device].primary = primary;
    int none = -1;
    atomic_compare_exchange_strong(&tb_cuda_first_open, &none, device);
    return TB_OK;
}

/* Left unknown where the driver does not tell. */
static void read_uuid(CUdevice device, unsigned char uuid[16])
{
    CUuuid read;
    if (TB_CU(cuDeviceGetUuid, &read, device) == TB_OK)
        memcpy(uuid, read.bytes, sizeof read.bytes);
}

static tb_status cuda_describe(int device, tb_device_description *description)
{
    memset(description, 0, sizeof *description);
    description->architecture = devices[device].target.architecture;
    description->multiprocessors = devices[device].target.multiprocessors;
    TB_TRY(read_rates(device, &description->clock_khz, &description->memory_bytes_per_second));
    TB_TRY(TB_CU(cuDeviceGetName, description->name, (int)sizeof description->name, devices[device].device));
    read_uuid(devices[device].device, description->uuid);
    TB_TRY(TB_CU(cuDeviceTotalMem, &description->memory_bytes, devices[device].device));
    return TB_CU(cuDriverGetVersion, &description->driver_version);
}

static const tb_clusters *cuda_clusters(int device)
{
    return devices[device].target.clusters;
}

static bool cuda_reaches(int device, int other)
{
    return devices[other].pool && has_link_to(device, other);
}

/* To what the other device has allocated, and will. */
static tb_status cuda_enable_access(int device, int other)
{
    static atomic_bool enabled[TB_DEVICES_MAXIMUM][TB_DEVICES_MAXIMUM];
    const CUmemAccessDesc access = {
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = devices[device].device},
        .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (atomic_load(&enabled[device][other]))
        return TB_OK;
    TB_TRY(TB_IN_CONTEXT(devices[other].primary, TB_CU(cuMemPoolSetAccess, devices[other].pool, &access, 1)));
    atomic_store(&enabled[device][other], true);
    return TB_OK;
}

static tb_status cuda_memory(int device, size_t *free_bytes, size_t *total_bytes)
{
    return TB_IN_CONTEXT(devices[device].primary, TB_CU(cuMemGetInfo, free_bytes, total_bytes));
}

/* In the device's context. */
static tb_status allocate(const tb_cuda_device *device, size_t bytes, CUdeviceptr *memory)
{
    if (!device->pool)
        return TB_CU(cuMemAlloc, memory, bytes);
    TB_TRY(TB_CU(cuMemAllocFromPoolAsync, memory, bytes, device->pool, device->allocating));
    return TB_CU(cuStreamSynchronize, device->allocating);
}

static tb_status cuda_allocate(int device, size_t bytes, void **memory)
{
    CUdeviceptr allocated;
    TB_TRY(TB_IN_CONTEXT(devices[device].primary, allocate(&devices[device], bytes, &allocated)));
    *memory = (void *)(uintptr_t)allocated;
    return TB_OK;
}

/* What a pool gets back it would keep. */
static tb_status free_memory(const tb_cuda_device *device, void *memory)
{
    TB_TRY(TB_CU(cuMemFree, tb_cuda_address(memory)));
    return device->pool ? TB_CU(cuMemPoolTrimTo, device->pool, 0) : TB_OK;
}

/* Releasing can only fail after the device was lost, and then there is nothing left to release. */
static void cuda_release(int device, void *memory)
{
    (void)TB_IN_CONTEXT(devices[device].primary, free_memory(&devices[device], memory));
}

/* ---- Commands --------------------------------------------------------------------------------------------- */

/* In the stream's context. */
static tb_status launch(const tb_cuda_launcher *launcher, const tb_launch *command)
{
    const tb_kernel *kernel = tb_kernel_of(command, launcher->interface.target.architecture);
    return kernel ? tb_launch_row(&launcher->interface, kernel, &command->product, &command->schedule,
                                  command->workspace)
                  : TB_UNSUPPORTED;
}

static tb_status carry_out(tb_cuda_launcher launcher, const tb_command *command)
{
    switch (command->kind) {
    case TB_COMMAND_COPY:
        return tb_cuda_copy(launcher.stream, &command->copy);
    case TB_COMMAND_COPY_MASKED:
        return tb_launch_masked_copy(&launcher.interface, &command->masked);
    case TB_COMMAND_EXPAND:
        return tb_launch_expand(&launcher.interface, &command->expansion);
    case TB_COMMAND_FOLD:
        return tb_launch_fold(&launcher.interface, &command->folding);
    case TB_COMMAND_LAUNCH:
        launcher.interface.same_a = command->launch.same_a;
        return launch(&launcher, &command->launch);
    case TB_COMMAND_PANEL:
        return tb_launch_panel(&launcher.interface, &command->panel.block, command->panel.position,
                               command->panel.info, command->panel.workspace);
    case TB_COMMAND_EXCHANGE:
        return tb_launch_laswp(&launcher.interface, &command->exchange);
    }
    return TB_UNSUPPORTED;
}

static tb_status cuda_enqueue(tb_stream *stream, const tb_command *command)
{
    const tb_cuda_stream *own = tb_cuda_stream_of(stream);
    return TB_IN_CONTEXT(own->context, carry_out(tb_cuda_launcher_on(own), command));
}

const tb_device_operations tb_cuda_operations = {
    .copies_pageable = true,
    .describe = cuda_describe,
    .open_device = cuda_open_device,
    .clusters = cuda_clusters,
    .reaches = cuda_reaches,
    .enable_access = cuda_enable_access,
    .memory = cuda_memory,
    .allocate = cuda_allocate,
    .release = cuda_release,
    .create_stream = tb_cuda_create_stream,
    .adopt_stream = tb_cuda_adopt_stream,
    .destroy_stream = tb_cuda_destroy_stream,
    .synchronize = tb_cuda_synchronize,
    .create_event = tb_cuda_create_event,
    .destroy_event = tb_cuda_destroy_event,
    .record = tb_cuda_record,
    .stream_wait = tb_cuda_stream_wait,
    .event_wait = tb_cuda_event_wait,
    .event_passed = tb_cuda_event_passed,
    .tell = tb_cuda_tell,
    .enqueue = cuda_enqueue,
};
