#include "lib/user/log.h"

#include "lib/process/c_locale.h"
#include "lib/user/append.h"
#include "lib/user/printable.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool tb_log_to(int file, const char *format, ...)
{
    char line[1024];
    va_list arguments;
    int used = snprintf(line, sizeof line, "tileblas: ");
    locale_t previous = tb_enter_c_locale();
    va_start(arguments, format);
    int length = vsnprintf(line + used, sizeof line - (size_t)used - 1, format, arguments);
    va_end(arguments);
    tb_leave_c_locale(previous);
    if (length < 0)
        return false;
    tb_make_printable(line);
    used = (int)strlen(line);
    line[used++] = '\n';
    /* One write, so that lines of several threads and processes do not mix; stdio's locks stay out of it. */
    return tb_write_whole(file, line, (size_t)used);
}

void tb_log_texts(const char *const texts[])
{
    char line[256] = "tileblas: ";
    size_t used = strlen(line);
    for (; *texts; texts++)
        for (const char *from = *texts; *from && used < sizeof line - 1; from++)
            line[used++] = *from;
    line[used++] = '\n';
    tb_write_whole(STDERR_FILENO, line, used);
}
