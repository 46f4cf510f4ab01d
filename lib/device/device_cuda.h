/* What the parts of the CUDA device interface share: device_cuda.c, and device_cuda_code.c, which brings code
 * to devices and launches it. For no other file.
 */
#ifndef TB_DEVICE_CUDA_H
#define TB_DEVICE_CUDA_H

#include "lib/device/device.h"
#include "lib/device/driver.h"

#define TB_CUDA_DEVICES_MAXIMUM 64

typedef struct tb_cuda_device {
    CUdevice device;
    _Atomic(CUcontext) primary; /* NULL: not open */
    int pitch_maximum, shared_maximum, shared_multiprocessor;
    tb_target target; /* its clusters are filled in before it is open */
    tb_clusters clusters;
} tb_cuda_device;

extern tb_cuda_device tb_cuda_devices[TB_CUDA_DEVICES_MAXIMUM];

struct tb_stream {
    int device;
    CUcontext context;
    CUstream native;
    bool owned;
};

/* The launcher that a catalog row sees. */
typedef struct tb_cuda_launcher {
    tb_launcher interface;
    tb_stream *stream;
} tb_cuda_launcher;

tb_cuda_launcher tb_cuda_launcher_on(tb_stream *stream);

/* Asks the driver how many clusters of blocks run at a time; the device's context is current. Where it does
 * not tell, or the build's code has no clusters, they stay unknown. */
void tb_cuda_count_clusters(int device);

#endif
