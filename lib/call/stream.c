#include "lib/call/stream.h"

#include "include/tileblas.h"
#include "lib/machine/calls.h"
#include "lib/process/leaving.h"
#include "lib/device/platform.h"

static _Thread_local void *callers_stream;

void tileblas_set_stream(void *stream)
{
    callers_stream = stream;
}

void *tb_callers_stream(void)
{
    return callers_stream;
}

static void destroy(tb_stream **stream)
{
    tb_stream *adopted = *stream;
    *stream = NULL;
    if (adopted)
        tb_destroy_stream(adopted);
}

static void leave(void *left)
{
    tb_stream **stream = left;
    const bool in_the_middle = tb_left_in_the_middle();
    if (*stream)
        tb_come_to_rest(stream, 1, in_the_middle);
    if (!in_the_middle)
        destroy(stream);
}

static tb_status in_stream(const tb_place *place, bool is_own, tb_stream_work *work, void *argument)
{
    tb_stream *stream = NULL;
    tb_leaving leaving;
    tb_when_left(&leaving, leave, &stream);
    tb_status status = is_own ? tb_create_stream(place->device, &stream)
                              : tb_adopt_stream(place, tb_callers_stream(), &stream);
    if (status == TB_OK) {
        status = work(stream, argument);
        /* Also after a failure: what has been enqueued reads and writes the caller's operands. */
        const tb_status finished = tb_synchronize(stream);
        destroy(&stream);
        status = status != TB_OK ? status : finished;
    }
    tb_not_left(&leaving);
    return status;
}

tb_status tb_in_callers_stream(const tb_place *place, tb_stream_work *work, void *argument)
{
    return in_stream(place, false, work, argument);
}

tb_status tb_in_own_stream(const tb_place *place, tb_stream_work *work, void *argument)
{
    return in_stream(place, true, work, argument);
}
