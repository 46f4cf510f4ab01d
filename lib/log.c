#include "lib/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void tb_log(const char *format, ...)
{
    static const char prefix[] = "tileblas: ";
    char line[1024];
    int used = snprintf(line, sizeof line, "%s", prefix);
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line + used, sizeof line - (size_t)used - 1, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    used += length;
    if (used > (int)sizeof line - 2)
        used = (int)sizeof line - 2;
    line[used++] = '\n';
    /* One write, so that lines of several threads and processes do not mix; stdio's locks stay out of it. */
    ssize_t written = write(STDERR_FILENO, line, (size_t)used);
    (void)written;
}
