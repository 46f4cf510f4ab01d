#include "lib/reports/log.h"

#include "lib/process/c_locale.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static bool write_line(int file, const char *format, va_list arguments)
{
    char line[1024];
    int used = snprintf(line, sizeof line, "tileblas: ");
    locale_t previous = tb_enter_c_locale();
    int length = vsnprintf(line + used, sizeof line - (size_t)used - 1, format, arguments);
    tb_leave_c_locale(previous);
    if (length < 0)
        return false;
    used += length;
    if (used > (int)sizeof line - 2)
        used = (int)sizeof line - 2;
    line[used++] = '\n';
    /* One write, so that lines of several threads and processes do not mix; stdio's locks stay out of it. */
    return write(file, line, (size_t)used) == used;
}

void tb_log(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_line(STDERR_FILENO, format, arguments);
    va_end(arguments);
}

bool tb_log_to(int file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const bool is_written = write_line(file, format, arguments);
    va_end(arguments);
    return is_written;
}
