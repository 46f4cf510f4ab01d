/* Streams and events on the CUDA driver, and copies in streams. */
#include "lib/device/device_cuda.h"

#include <stdlib.h>

#define devices tb_cuda_devices

typedef struct cuda_event {
    tb_event interface;
    CUcontext context;
    CUevent native;
} cuda_event;

static const cuda_event *event_of(const tb_event *event)
{
    return (const cuda_event *)event;
}

static tb_status destroy_native_stream(CUstream native)
{
    return TB_WHILE_OTHERS_CAPTURE(TB_CU(cuStreamDestroy, native));
}

static tb_status destroy_native_event(CUevent native)
{
    return TB_WHILE_OTHERS_CAPTURE(TB_CU(cuEventDestroy, native));
}

static tb_status new_stream(const tb_cuda_stream *made, tb_stream **stream)
{
    tb_cuda_stream *kept = malloc(sizeof *kept);
    if (!kept)
        return TB_OUT_OF_MEMORY;
    *kept = *made;
    *stream = &kept->interface;
    return TB_OK;
}

tb_status tb_cuda_create_stream(int device, tb_stream **stream)
{
    CUstream native;
    TB_TRY(TB_IN_CONTEXT(devices[device].primary, TB_CU(cuStreamCreate, &native, CU_STREAM_NON_BLOCKING)));
    const tb_cuda_stream made = {{&tb_cuda_operations}, device, devices[device].primary, native, true};
    const tb_status status = new_stream(&made, stream);
    if (status != TB_OK)
        destroy_native_stream(native);
    return status;
}

tb_status tb_cuda_adopt_stream(const tb_place *place, void *native, tb_stream **stream)
{
    const tb_cuda_stream made = {{&tb_cuda_operations},
                                 place->device,
                                 tb_cuda_context_of(place),
                                 native ? native : CU_STREAM_LEGACY,
                                 false};
    return new_stream(&made, stream);
}

void tb_cuda_destroy_stream(tb_stream *stream)
{
    if (tb_cuda_stream_of(stream)->owned)
        destroy_native_stream(tb_cuda_stream_of(stream)->native);
    free(stream);
}

tb_status tb_cuda_synchronize(tb_stream *stream)
{
    const tb_cuda_stream *own = tb_cuda_stream_of(stream);
    return TB_IN_CONTEXT(own->context, TB_CU(cuStreamSynchronize, own->native));
}

tb_status tb_cuda_create_event(int device, tb_event **event)
{
    CUevent native;
    TB_TRY(TB_IN_CONTEXT(devices[device].primary, TB_CU(cuEventCreate, &native, CU_EVENT_DISABLE_TIMING)));
    cuda_event *made = malloc(sizeof *made);
    if (!made) {
        destroy_native_event(native);
        return TB_OUT_OF_MEMORY;
    }
    *made = (cuda_event){{&tb_cuda_operations}, devices[device].primary, native};
    *event = &made->interface;
    return TB_OK;
}

void tb_cuda_destroy_event(tb_event *event)
{
    destroy_native_event(event_of(event)->native);
    free(event);
}

tb_status tb_cuda_record(tb_event *event, tb_stream *stream)
{
    const tb_cuda_stream *own = tb_cuda_stream_of(stream);
    return TB_IN_CONTEXT(own->context, TB_CU(cuEventRecord, event_of(event)->native, own->native));
}

tb_status tb_cuda_stream_wait(tb_stream *stream, tb_event *event)
{
    const tb_cuda_stream *own = tb_cuda_stream_of(stream);
    return TB_IN_CONTEXT(own->context, TB_CU(cuStreamWaitEvent, own->native, event_of(event)->native, 0));
}

tb_status tb_cuda_event_wait(tb_event *event)
{
    return TB_IN_CONTEXT(event_of(event)->context, TB_CU(cuEventSynchronize, event_of(event)->native));
}

/* What has failed has passed: waiting tells. */
bool tb_cuda_event_passed(tb_event *event)
{
    const cuda_event *own = event_of(event);
    CUresult answer;
    return TB_IN_CONTEXT(own->context, (answer = tb_cu()->cuEventQuery_(own->native), TB_OK)) != TB_OK ||
           answer != CUDA_ERROR_NOT_READY;
}

/* By the stream's own engine, behind a barrier for all of the machine. */
tb_status tb_cuda_tell(tb_stream *stream, _Atomic(uint32_t) *word, uint32_t number)
{
    const tb_cuda_stream *own = tb_cuda_stream_of(stream);
    if (!devices[own->device].reaches_as_the_host)
        return TB_UNSUPPORTED;
    return TB_IN_CONTEXT(own->context,
                         TB_CU(cuStreamWriteValue32, own->native, tb_cuda_address((const void *)word), number,
                               CU_STREAM_WRITE_VALUE_DEFAULT));
}

static tb_status copy_rectangle(const tb_cuda_stream *stream, const tb_copy *copy)
{
    const bool from_host = copy->direction == TB_HOST_TO_DEVICE,
               to_host = copy->direction == TB_DEVICE_TO_HOST;
    const CUDA_MEMCPY2D rectangle = {
        .srcMemoryType = from_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
        .srcHost = from_host ? copy->source : NULL,
        .srcDevice = from_host ? 0 : tb_cuda_address(copy->source),
        .srcPitch = copy->source_pitch,
        .dstMemoryType = to_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
        .dstHost = to_host ? copy->target : NULL,
        .dstDevice = to_host ? 0 : tb_cuda_address(copy->target),
        .dstPitch = copy->target_pitch,
        .WidthInBytes = copy->row_bytes,
        .Height = copy->rows,
    };
    return TB_CU(cuMemcpy2DAsync, &rectangle, stream->native);
}

static tb_status copy_row(const tb_cuda_stream *stream, const tb_copy *copy, size_t row)
{
    char *target = (char *)copy->target + row * copy->target_pitch;
    const char *source = (const char *)copy->source + row * copy->source_pitch;
    switch (copy->direction) {
    case TB_HOST_TO_DEVICE:
        return TB_CU(cuMemcpyHtoDAsync, tb_cuda_address(target), source, copy->row_bytes, stream->native);
    case TB_DEVICE_TO_HOST:
        return TB_CU(cuMemcpyDtoHAsync, target, tb_cuda_address(source), copy->row_bytes, stream->native);
    case TB_DEVICE_TO_DEVICE:
        return TB_CU(cuMemcpyDtoDAsync, tb_cuda_address(target), tb_cuda_address(source), copy->row_bytes,
                     stream->native);
    }
    return TB_UNSUPPORTED;
}

/* What lies together in one piece, one rectangle where the copy engine takes the pitches, else row by row. */
tb_status tb_cuda_copy(const tb_cuda_stream *stream, const tb_copy *copy)
{
    const size_t pitch_maximum = (size_t)devices[stream->device].pitch_maximum;
    tb_copy together = *copy;
    together.row_bytes *= copy->rows;
    if (copy->rows > 1 && copy->source_pitch == copy->row_bytes && copy->target_pitch == copy->row_bytes)
        return copy_row(stream, &together, 0);
    if (copy->rows > 1 && copy->source_pitch <= pitch_maximum && copy->target_pitch <= pitch_maximum)
        return copy_rectangle(stream, copy);
    for (size_t row = 0; row < copy->rows; row++)
        TB_TRY(copy_row(stream, copy, row));
    return TB_OK;
}
