/* What the files of the `tileblas` command share. One file per subcommand, each with its own help text; main.c
 * hands on to them. Results go to standard output, complaints and progress to standard error.
 */
#ifndef TOOL_H
#define TOOL_H

#include "lib/reports/json.h"

#include <stdbool.h>
#include <stddef.h>

/* Exit statuses. `run` ends with its program's own, or as env(1) and nohup(1) do. */
enum {
    TOOL_OK = 0,
    TOOL_FAILED = 1,
    TOOL_USAGE = 2,
    TOOL_CANNOT_RUN = 125, /* run itself could not do its part */
    TOOL_CANNOT_EXECUTE = 126,
    TOOL_NOT_FOUND = 127,
};

/* argv[0] is "tileblas SUBCOMMAND". */
int tool_run(int argc, char **argv);
int tool_show(int argc, char **argv);
int tool_info(int argc, char **argv);
int tool_explain(int argc, char **argv);
int tool_forecast(int argc, char **argv);
int tool_bench(int argc, char **argv);
int tool_tune(int argc, char **argv);
int tool_serve(int argc, char **argv);

/* "tileblas run: ..." on standard error, in one line. */
void tool_complain(const char *subcommand, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same and where help is; answers TOOL_USAGE. */
int tool_usage(const char *subcommand, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* printf for what a file, a driver or another process has a say in: what a terminal would obey, but for line ends, is a question
 * mark. Nothing is printed when memory is out. */
void tool_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes the text to standard output; answers TOOL_OK, or TOOL_FAILED when it could not be written. */
int tool_print(const char *text);

/* The same of a finished JSON text and a line end; frees it. */
int tool_print_json(tb_json *json);

/* Whole numbers from low on; false for anything else. */
bool tool_parse_integer(const char *text, long long low, long long *value);

/* Finds one of TileBLAS's libraries: beside this executable, where a build has it, or where it is installed. */
bool tool_find_library(const char *name, char *path, size_t size);

#endif
