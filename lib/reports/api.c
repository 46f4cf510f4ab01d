/* tileblas.h: what is not statistics. */
#include "include/tileblas.h"

#include "lib/reports/options.h"
#include "lib/reports/stats.h"
#include "lib/call/stream.h"

static _Thread_local void *stream;

const char *tileblas_version(void)
{
    return TB_VERSION;
}

int tileblas_set_option(const char *name, const char *value)
{
    bool accepted = tb_set_option(name, value);
    tb_watch_as_asked();
    return accepted ? 0 : -1;
}

void tileblas_set_stream(void *callers_stream)
{
    stream = callers_stream;
}

void *tb_callers_stream(void)
{
    return stream;
}
