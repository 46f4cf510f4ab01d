/* Device code: modules are loaded once, entries made ready on each device, and launched; and how many
 * clusters of blocks a device runs at a time.
 */
#include "lib/device/code.h"
#include "lib/device/device_cuda.h"
#include "lib/process/lock.h"

#define devices tb_cuda_devices

/* Serializes loading, so that a module is loaded once. */
static tb_lock load_lock;

static tb_status load_module(tb_module *module)
{
    CUlibrary library;
    const void *binary = tb_find_binary(module->name);
    if (!binary)
        return TB_UNSUPPORTED;
    TB_TRY(TB_CU(cuLibraryLoadData, &library, binary, NULL, NULL, 0, NULL, NULL, 0));
    module->handle = library;
    return TB_OK;
}

static tb_status load_entry(tb_entry *entry)
{
    CUkernel kernel;
    if (!entry->module->handle)
        TB_TRY(load_module(entry->module));
    TB_TRY(TB_CU(cuLibraryGetKernel, &kernel, entry->module->handle, entry->symbol));
    entry->handle = kernel;
    return TB_OK;
}

/* Its code goes to the device now, not at its first launch. More than 48 KB of shared memory has to be asked for, on
 * every device. */
static tb_status prepare_entry(tb_entry *entry, int device)
{
    CUfunction loaded;
    if (!entry->handle)
        TB_TRY(load_entry(entry));
    int most = devices[device].shared_maximum, wanted = entry->dynamic_shared_bytes;
    if (wanted > 0)
        TB_TRY(TB_CU(cuKernelSetAttribute, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                     wanted < most ? wanted : most, (CUkernel)entry->handle, devices[device].device));
    TB_TRY(TB_CU(cuKernelGetFunction, &loaded, (CUkernel)entry->handle));
    entry->prepared |= UINT64_C(1) << device;
    return TB_OK;
}

static bool is_prepared(const tb_entry *entry, int device)
{
    return entry->prepared >> device & 1;
}

static tb_status find_entry(tb_entry *entry, int device)
{
    if (is_prepared(entry, device))
        return TB_OK;
    tb_take_lock(&load_lock);
    tb_status status = is_prepared(entry, device) ? TB_OK : prepare_entry(entry, device);
    tb_free_lock(&load_lock);
    return status;
}

/* Clusters of more blocks than every device runs have to be allowed, too. */
static tb_status allow_wide_clusters(const tb_entry *entry, int device)
{
    return TB_CU(cuKernelSetAttribute, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1,
                 (CUkernel)entry->handle, devices[device].device);
}

static tb_status load(const tb_launcher *interface, tb_entry *entry)
{
    return find_entry(entry, ((const tb_cuda_launcher *)interface)->stream->device);
}

static CUlaunchAttribute in_clusters_of(int blocks)
{
    return (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                               .value.clusterDim = {(unsigned)blocks, 1, 1}};
}

/* Of an entry that was found. NULL: any blocks. */
static tb_status start(const tb_cuda_launcher *self, const tb_entry *entry, int64_t blocks,
                       const CUlaunchAttribute *together, int threads, int shared_bytes, const void *argument)
{
    void *arguments[] = {(void *)(uintptr_t)argument};
    CUlaunchAttribute attributes[2];
    unsigned count = 0;
    if (entry->early && self->interface.target.architecture >= 90)
        attributes[count++] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                                  .value.programmaticStreamSerializationAllowed = 1};
    if (together)
        attributes[count++] = *together;
    const CUlaunchConfig config = {.gridDimX = (unsigned)blocks,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = (unsigned)threads,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .sharedMemBytes = (unsigned)shared_bytes,
                                   .hStream = self->stream->native,
                                   .attrs = attributes,
                                   .numAttrs = count};
    return TB_CU(cuLaunchKernelEx, &config, (CUfunction)entry->handle, arguments, NULL);
}

static tb_status launch_clusters(const tb_launcher *interface, tb_entry *entry, int64_t blocks, int cluster,
                                 int threads, int shared_bytes, const void *argument)
{
    const tb_cuda_launcher *self = (const tb_cuda_launcher *)interface;
    const CUlaunchAttribute attribute = in_clusters_of(cluster);
    TB_TRY(find_entry(entry, self->stream->device));
    if (cluster > TB_CLUSTER_BLOCKS_MAXIMUM)
        TB_TRY(allow_wide_clusters(entry, self->stream->device));
    return start(self, entry, blocks, cluster > 1 ? &attribute : NULL, threads, shared_bytes, argument);
}

static tb_status launch_entry(const tb_launcher *interface, tb_entry *entry, int64_t blocks, int threads,
                              int shared_bytes, const void *argument)
{
    const tb_cuda_launcher *self = (const tb_cuda_launcher *)interface;
    TB_TRY(find_entry(entry, self->stream->device));
    return start(self, entry, blocks, NULL, threads, shared_bytes, argument);
}

static tb_status launch_together(const tb_launcher *interface, tb_entry *entry, int64_t blocks, int threads,
                                 int shared_bytes, const void *argument)
{
    const tb_cuda_launcher *self = (const tb_cuda_launcher *)interface;
    const CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    TB_TRY(find_entry(entry, self->stream->device));
    return start(self, entry, blocks, &attribute, threads, shared_bytes, argument);
}

tb_cuda_launcher tb_cuda_launcher_on(const tb_cuda_stream *stream)
{
    const tb_launcher interface = {.target = devices[stream->device].target,
                                   .load = load,
                                   .launch = launch_entry,
                                   .launch_clusters = launch_clusters,
                                   .launch_together = launch_together};
    return (tb_cuda_launcher){.interface = interface, .stream = stream};
}

/* ---- Clusters --------------------------------------------------------------------------------------------- */

/* The kernel's own, and what the driver reserves of each block. */
#define SHARED_BYTES_TO_SPARE 8192

/* So much shared memory for a block that so many fit a multiprocessor, and no more. */
static int shared_for(int device, int blocks)
{
    const int share = devices[device].shared_multiprocessor / blocks - SHARED_BYTES_TO_SPARE;
    return share < devices[device].shared_maximum ? share : devices[device].shared_maximum;
}

static tb_status count_clusters(int device, CUfunction function, int blocks, int cluster, int16_t *at_a_time)
{
    CUlaunchAttribute attribute = in_clusters_of(cluster);
    const CUlaunchConfig config = {.gridDimX = (unsigned)cluster,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = 128,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .sharedMemBytes = (unsigned)shared_for(device, blocks),
                                   .attrs = &attribute,
                                   .numAttrs = 1};
    int count = 0;
    TB_TRY(TB_CU(cuOccupancyMaxActiveClusters, &count, function, &config));
    *at_a_time = (int16_t)(count < INT16_MAX ? count : INT16_MAX);
    return TB_OK;
}

/* By a small kernel, which shared memory alone keeps from sharing a multiprocessor. */
static tb_status count_all_clusters(int device)
{
    tb_entry *entry = &tb_entry_simt_reduce;
    tb_clusters *clusters = &devices[device].clusters;
    CUfunction function;
    int16_t wide = 0;
    TB_TRY(find_entry(entry, device));
    TB_TRY(TB_CU(cuKernelSetAttribute, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared_for(device, 1),
                 (CUkernel)entry->handle, devices[device].device));
    TB_TRY(TB_CU(cuKernelGetFunction, &function, (CUkernel)entry->handle));
    for (int blocks = 1; blocks <= TB_CLUSTER_LEVELS; blocks++)
        for (int cluster = 2; cluster <= TB_CLUSTER_BLOCKS_MAXIMUM; cluster++)
            TB_TRY(
                count_clusters(device, function, blocks, cluster, &clusters->at_a_time[blocks - 1][cluster]));
    if (allow_wide_clusters(entry, device) == TB_OK &&
        count_clusters(device, function, 1, TB_WIDE_CLUSTER_BLOCKS, &wide) == TB_OK)
        clusters->wide_at_a_time = wide;
    return TB_OK;
}

void tb_cuda_count_clusters(int device)
{
    if (devices[device].target.architecture >= 90 && tb_entry_simt_reduce.early &&
        count_all_clusters(device) == TB_OK)
        devices[device].target.clusters = &devices[device].clusters;
}
