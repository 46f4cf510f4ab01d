/* The platform on the CUDA driver: which devices it has, and whose memory an address is. */
#include "lib/device/code.h"
#include "lib/device/device_cuda.h"

#include "tb_code_identity.h"

/* The driver answers only where a context is current. */
static bool is_write_combined(CUcontext context, const void *pointer)
{
    unsigned flags = 0;
    return context &&
           TB_IN_CONTEXT(context, (tb_cu()->cuMemHostGetFlags_(&flags, (void *)(uintptr_t)pointer), TB_OK)) ==
               TB_OK &&
           (flags & CU_MEMHOSTALLOC_WRITECOMBINED);
}

static void cuda_locate(const void *pointer, tb_place *place, tb_span *span)
{
    CUcontext context = NULL;
    CUmemorytype type = 0;
    unsigned managed = 0;
    int ordinal = 0;
    CUdeviceptr start = 0;
    size_t bytes = 0;
    CUpointer_attribute attributes[] = {
        CU_POINTER_ATTRIBUTE_CONTEXT,          CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        CU_POINTER_ATTRIBUTE_IS_MANAGED,       CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE};
    void *answers[] = {&context, &type, &managed, &ordinal, &start, &bytes};
    *place = (tb_place){.memory = TB_MEMORY_HOST};
    if (span)
        *span = (tb_span){0, 0};
    /* An address that is not the driver's own is answered with zeros; a driver that nobody has initialized
     * has handed out nothing. */
    if (tb_enter_device() != TB_OK)
        return;
    const CUresult answer =
        tb_cu()->cuPointerGetAttributes_(span ? 6 : 4, attributes, answers, tb_cuda_address(pointer));
    tb_leave_device();
    if (answer != CUDA_SUCCESS)
        return;
    if (managed)
        place->memory = TB_MEMORY_MANAGED;
    else if (type == CU_MEMORYTYPE_DEVICE)
        place->memory = TB_MEMORY_DEVICE;
    else if (type == CU_MEMORYTYPE_HOST)
        place->memory = TB_MEMORY_PINNED;
    place->write_combined = place->memory == TB_MEMORY_PINNED && is_write_combined(context, pointer);
    place->device = ordinal >= 0 ? ordinal : 0;
    /* Until a device is open here nobody knows its primary context; decisions made then are made again. */
    CUcontext primary = place->device < TB_DEVICES_MAXIMUM ? tb_cuda_devices[place->device].primary : NULL;
    if (place->memory == TB_MEMORY_DEVICE && primary && context != primary)
        place->context = context;
    if (span && place->memory != TB_MEMORY_HOST)
        *span = (tb_span){(uintptr_t)start, bytes};
}

static const tb_device_operations *tables[TB_DEVICES_MAXIMUM];

static tb_status cuda_open(int *count)
{
    if (!tb_load_driver())
        return TB_NO_DEVICE;
    TB_TRY(TB_CU(cuInit, 0));
    int found = 0;
    TB_TRY(TB_CU(cuDeviceGetCount, &found));
    found = found < TB_SERVED_FIRST ? found : TB_SERVED_FIRST;
    if (found > 0)
        TB_TRY(tb_open_code());
    for (int device = 0; device < found; device++) {
        TB_TRY(tb_cuda_examine(device));
        tables[device] = &tb_cuda_operations;
    }
    *count = tb_cuda_device_count = found;
    return found > 0 ? TB_OK : TB_NO_DEVICE;
}

const tb_platform_operations tb_platform = {
    .name = "cuda",
    .identity = TB_CODE_IDENTITY,
    .thread_names = "cuda",
    .in_process = tb_driver_in_process,
    .code_file = tb_code_file,
    .locate = cuda_locate,
    .allocate_pinned = tb_cuda_allocate_pinned,
    .release_pinned = tb_cuda_release_pinned,
    .pin = tb_cuda_pin,
    .unpin = tb_cuda_unpin,
    .open = cuda_open,
    .tables = tables,
};
