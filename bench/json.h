/* Writes JSON to a file as a program goes along: one call a member, in the order in which they shall stand.
 * In an array the key is NULL.
 */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct bench_json {
    FILE *file;
    int depth;
    bool empty; /* nothing stands yet in the innermost object or array */
} bench_json;

bench_json bench_json_to(FILE *file);

void bench_json_begin(bench_json *json, const char *key, char bracket); /* '{' or '[' */
void bench_json_end(bench_json *json, char bracket);                    /* '}' or ']' */

void bench_json_text(bench_json *json, const char *key, const char *value);
void bench_json_integer(bench_json *json, const char *key, int64_t value);
void bench_json_number(bench_json *json, const char *key, double value); /* NaN is null */

#endif
