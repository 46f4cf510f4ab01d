#include "lib/device/driver.h"

#include "lib/process/linker.h"
#include "lib/user/log.h"
#include "lib/user/options.h"
#include "lib/process/threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>

#define DRIVER_NAME "libcuda.so.1"

_Atomic(const tb_driver *) tb_driver_found;

/* cuda.h renames functions to their current version by macros: the expanded name is the exported one. */
#define EXPORTED_NAME(name) #name

/* A driver that lacks functions, being older than CUDA 12, is not asked for them again. */
static atomic_bool too_old;

/* Without a lock, because a forked child could find it taken: threads that race here find the same addresses,
 * and one of their tables stays. */
static bool resolve(void *library)
{
    tb_driver *found = calloc(1, sizeof *found);
    if (!found)
        return false;
    bool complete = true;
#define TB_RESOLVE(name)                                                                                     \
    found->name##_ = (__typeof__(found->name##_))dlsym(library, EXPORTED_NAME(name));                        \
    complete = complete && found->name##_;
    TB_DRIVER_FUNCTIONS(TB_RESOLVE)
#undef TB_RESOLVE
    const tb_driver *nothing = NULL;
    if (complete && atomic_compare_exchange_strong(&tb_driver_found, &nothing, found))
        return true;
    free(found);
    if (!complete)
        atomic_store_explicit(&too_old, true, memory_order_relaxed);
    return complete;
}

static bool is_too_old(void)
{
    return atomic_load_explicit(&too_old, memory_order_relaxed);
}

bool tb_load_driver(void)
{
    if (tb_cu())
        return true;
    if (is_too_old())
        return false;
    /* A jump out of the dynamic linker would leave its lock taken. */
    sigset_t signals;
    tb_hold_signals(&signals);
    tb_enter_linker();
    void *library = dlopen(DRIVER_NAME, RTLD_LAZY);
    bool found = library && resolve(library);
    tb_leave_linker();
    tb_let_signals(&signals);
    return found;
}

/* How often an object has been loaded into this process, as the first object of the walk already tells. */
static int count_loads(struct dl_phdr_info *info, size_t size, void *loads)
{
    (void)size;
    *(unsigned long long *)loads = info->dlpi_adds;
    return 1;
}

/* Inside the linker. Asking it by name is slow; nothing has changed while nothing has been loaded. */
static bool find_loaded_driver(void)
{
    static atomic_ullong loads_without_driver;
    unsigned long long loads = 0;
    dl_iterate_phdr(count_loads, &loads);
    if (loads == atomic_load_explicit(&loads_without_driver, memory_order_relaxed))
        return false;
    void *library = dlopen(DRIVER_NAME, RTLD_LAZY | RTLD_NOLOAD);
    if (library)
        return resolve(library);
    atomic_store_explicit(&loads_without_driver, loads, memory_order_relaxed);
    return false;
}

bool tb_driver_in_process(void)
{
    if (tb_cu())
        return true;
    if (is_too_old() || !tb_linker_answers())
        return false;
    const int error = errno; /* small calls ask, too, of which nothing else is noticed */
    tb_enter_linker();
    bool found = find_loaded_driver();
    tb_leave_linker();
    errno = error;
    return found;
}

static tb_status classify(CUresult result)
{
    switch (result) {
    case CUDA_SUCCESS:
        return TB_OK;
    case CUDA_ERROR_OUT_OF_MEMORY:
        return TB_OUT_OF_MEMORY;
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_STUB_LIBRARY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
        return TB_NO_DEVICE;
    /* Refused before anything was started; the context stays as it was. */
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_INVALID_HANDLE:
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_INVALID_SOURCE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
    case CUDA_ERROR_NOT_FOUND:
    case CUDA_ERROR_NOT_SUPPORTED:
    case CUDA_ERROR_NOT_PERMITTED:
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    case CUDA_ERROR_INVALID_CLUSTER_SIZE:
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
    /* What a stream answers that is being captured into a graph, or would have to wait for one that is. */
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
    case CUDA_ERROR_STREAM_CAPTURE_MERGE:
    case CUDA_ERROR_STREAM_CAPTURE_UNMATCHED:
    case CUDA_ERROR_STREAM_CAPTURE_UNJOINED:
    case CUDA_ERROR_STREAM_CAPTURE_ISOLATION:
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
    case CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD:
    case CUDA_ERROR_CAPTURED_EVENT:
        return TB_UNSUPPORTED;
    default:
        return TB_DEVICE_LOST;
    }
}

tb_status tb_translate(CUresult result, const char *call)
{
    tb_leave_device();
    tb_status status = classify(result);
    if (status != TB_OK && tb_option_value(TB_OPTION_VERBOSE)) {
        const char *name = NULL;
        tb_cu()->cuGetErrorName_(result, &name);
        tb_log("%s: %s", call, name ? name : "unknown error");
    }
    return status;
}
