/* The CUDA driver, reached by name: nothing of CUDA is linked, so that the library loads where there is none
 * and no constructor or exit handler of a CUDA library comes with it. Included by the CUDA device alone.
 */
#ifndef TB_DRIVER_H
#define TB_DRIVER_H

#include "lib/device/device_entry.h"
#include "words/status.h"

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Every function of the driver that the library calls. */
#define TB_DRIVER_FUNCTIONS(X)                                                                               \
    X(cuCtxPopCurrent)                                                                                       \
    X(cuCtxPushCurrent)                                                                                      \
    X(cuDeviceCanAccessPeer)                                                                                 \
    X(cuDeviceGet)                                                                                           \
    X(cuDeviceGetAttribute)                                                                                  \
    X(cuDeviceGetCount)                                                                                      \
    X(cuDeviceGetName)                                                                                       \
    X(cuDeviceGetP2PAttribute)                                                                               \
    X(cuDeviceGetUuid)                                                                                       \
    X(cuDevicePrimaryCtxRetain)                                                                              \
    X(cuDeviceTotalMem)                                                                                      \
    X(cuDriverGetVersion)                                                                                    \
    X(cuEventCreate)                                                                                         \
    X(cuEventDestroy)                                                                                        \
    X(cuEventQuery)                                                                                          \
    X(cuEventRecord)                                                                                         \
    X(cuEventSynchronize)                                                                                    \
    X(cuGetErrorName)                                                                                        \
    X(cuInit)                                                                                                \
    X(cuKernelGetFunction)                                                                                   \
    X(cuKernelSetAttribute)                                                                                  \
    X(cuLaunchKernelEx)                                                                                      \
    X(cuLibraryGetKernel)                                                                                    \
    X(cuLibraryLoadData)                                                                                     \
    X(cuMemAlloc)                                                                                            \
    X(cuMemAllocFromPoolAsync)                                                                               \
    X(cuMemFree)                                                                                             \
    X(cuMemFreeHost)                                                                                         \
    X(cuMemGetInfo)                                                                                          \
    X(cuMemHostAlloc)                                                                                        \
    X(cuMemHostGetFlags)                                                                                     \
    X(cuMemHostRegister)                                                                                     \
    X(cuMemHostUnregister)                                                                                   \
    X(cuMemPoolCreate)                                                                                       \
    X(cuMemPoolSetAccess)                                                                                    \
    X(cuMemPoolTrimTo)                                                                                       \
    X(cuMemcpy2DAsync)                                                                                       \
    X(cuMemcpyDtoDAsync)                                                                                     \
    X(cuMemcpyDtoHAsync)                                                                                     \
    X(cuMemcpyHtoDAsync)                                                                                     \
    X(cuOccupancyMaxActiveClusters)                                                                          \
    X(cuPointerGetAttributes)                                                                                \
    X(cuStreamCreate)                                                                                        \
    X(cuStreamDestroy)                                                                                       \
    X(cuStreamSynchronize)                                                                                   \
    X(cuStreamWaitEvent)                                                                                     \
    X(cuStreamWriteValue32)                                                                                  \
    X(cuThreadExchangeStreamCaptureMode)

typedef struct tb_driver {
#define TB_MEMBER(name) __typeof__(name) *name##_;
    TB_DRIVER_FUNCTIONS(TB_MEMBER)
#undef TB_MEMBER
} tb_driver;

/* NULL until tb_load_driver or tb_driver_in_process has found the driver; never changes afterwards. */
extern _Atomic(const tb_driver *) tb_driver_found;

static inline const tb_driver *tb_cu(void)
{
    return atomic_load_explicit(&tb_driver_found, memory_order_acquire);
}

/* Opens libcuda, whoever loaded it before. */
bool tb_load_driver(void);

/* Whether anybody in this process has loaded libcuda: without it there can be no device memory. Costs a few
 * nanoseconds once it has been seen, and some twenty before. */
bool tb_driver_in_process(void);

/* Out of the driver: the project's status for its result; says which call it was when VERBOSE is on. */
tb_status tb_translate(CUresult result, const char *call);

/* Calls a function of the driver: TB_CU(cuInit, 0). */
#define TB_CU(function, ...)                                                                                 \
    (tb_enter_device() == TB_OK ? tb_translate(tb_cu()->function##_(__VA_ARGS__), #function) : TB_DEVICE_LOST)

#endif
