#include "bench/json.h"

#include <inttypes.h>
#include <math.h>

bench_json bench_json_to(FILE *file)
{
    return (bench_json){.file = file, .empty = true};
}

static void new_line(bench_json *json)
{
    fprintf(json->file, "\n%*s", 2 * json->depth, "");
}

static void write_text(bench_json *json, const char *text)
{
    fputc('"', json->file);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', json->file);
        fputc(*text, json->file);
    }
    fputc('"', json->file);
}

static void start_member(bench_json *json, const char *key)
{
    if (!json->empty)
        fputc(',', json->file);
    if (json->depth > 0)
        new_line(json);
    json->empty = false;
    if (key) {
        write_text(json, key);
        fputs(": ", json->file);
    }
}

void bench_json_begin(bench_json *json, const char *key, char bracket)
{
    start_member(json, key);
    fputc(bracket, json->file);
    json->depth++;
    json->empty = true;
}

void bench_json_end(bench_json *json, char bracket)
{
    json->depth--;
    if (!json->empty)
        new_line(json);
    fputc(bracket, json->file);
    json->empty = false;
    if (json->depth == 0)
        fputc('\n', json->file);
}

void bench_json_text(bench_json *json, const char *key, const char *value)
{
    start_member(json, key);
    write_text(json, value);
}

void bench_json_integer(bench_json *json, const char *key, int64_t value)
{
    start_member(json, key);
    fprintf(json->file, "%" PRId64, value);
}

void bench_json_number(bench_json *json, const char *key, double value)
{
    start_member(json, key);
    if (isfinite(value))
        fprintf(json->file, "%.6g", value);
    else
        fputs("null", json->file);
}
