#include "tools/tool.h"

#include "lib/user/printable.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void complain(const char *subcommand, const char *format, va_list arguments)
{
    char text[PATH_MAX + 256];
    vsnprintf(text, sizeof text, format, arguments);
    tb_make_printable(text);
    fprintf(stderr, "tileblas %s: %s\n", subcommand, text);
}

void tool_complain(const char *subcommand, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain(subcommand, format, arguments);
    va_end(arguments);
}

int tool_usage(const char *subcommand, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain(subcommand, format, arguments);
    va_end(arguments);
    fprintf(stderr, "Try 'tileblas %s --help'.\n", subcommand);
    return TOOL_USAGE;
}

void tool_say(const char *format, ...)
{
    va_list arguments;
    char *text, *line;
    va_start(arguments, format);
    const int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    for (char *rest = text; (line = strsep(&rest, "\n"));) {
        tb_make_printable(line);
        printf("%s%s", line, rest ? "\n" : "");
    }
    free(text);
}

int tool_print(const char *text)
{
    if (fputs(text, stdout) >= 0 && fflush(stdout) == 0)
        return TOOL_OK;
    fprintf(stderr, "tileblas: standard output cannot be written: %s\n", strerror(errno));
    return TOOL_FAILED;
}

int tool_print_json(tb_json *json)
{
    int status = TOOL_FAILED;
    if (json->text && !json->failed && fputs(json->text, stdout) >= 0)
        status = tool_print("\n");
    free(json->text);
    return status;
}

bool tool_parse_integer(const char *text, long long low, long long *value)
{
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return end != text && *end == '\0' && errno == 0 && *value >= low;
}

bool tool_find_library(const char *name, char *path, size_t size)
{
    /* The library lies beside the command in a build; installed, it is found from bin/ to lib/, wherever both were moved to. */
    static const char *const folders[] = {".", "../" TB_LIBDIR, "../lib", "../lib64"};
    char executable[PATH_MAX], candidate[2 * PATH_MAX], resolved[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", executable, sizeof executable - 1);
    executable[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(executable, '/');
    if (slash)
        *slash = '\0';
    for (size_t i = 0; slash && i < sizeof folders / sizeof *folders; i++) {
        snprintf(candidate, sizeof candidate, "%s/%s/%s", executable, folders[i], name);
        if (realpath(candidate, resolved))
            return snprintf(path, size, "%s", resolved) < (int)size;
    }
    int written = snprintf(path, size, "%s/%s", TB_FULL_LIBDIR, name);
    return written < (int)size && access(path, R_OK) == 0;
}
