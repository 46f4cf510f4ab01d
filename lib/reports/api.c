/* tileblas.h: what is not statistics. */
#include "include/tileblas.h"

#include "lib/user/options.h"
#include "lib/reports/stats.h"

#include <stdio.h>

const char *tileblas_version(void)
{
    return TB_VERSION;
}

size_t tileblas_options(char *text, size_t size)
{
    size_t length = 0;
    if (size > 0)
        *text = '\0';
    for (tb_option_index option = 0; option < TB_OPTION_COUNT; option++) {
        const tb_option *row = &tb_option_rows[option];
        const size_t begin = length < size ? length : size;
        length += (size_t)snprintf(text + begin, size - begin, "%s\t%s\t%s\n", row->name,
                                   tb_option_text(option), row->accepts);
    }
    return length;
}

int tileblas_set_option(const char *name, const char *value)
{
    bool accepted = tb_set_option(name, value);
    tb_watch_as_asked();
    return accepted ? 0 : -1;
}
