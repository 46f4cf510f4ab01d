/* tileblas.h: what is not statistics. */
#include "include/tileblas.h"

#include "lib/reports/options.h"
#include "lib/reports/stats.h"

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
