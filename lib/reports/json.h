/* Writes JSON into a buffer that grows. A member's key is NULL in an array and for the outermost value. When
 * memory runs out the text stays what it is and failed says so. Used by the summary at exit and by tools/.
 */
#ifndef TB_JSON_H
#define TB_JSON_H

#include <stdbool.h>
#include <stddef.h>

typedef struct tb_json {
    char *text; /* terminated; NULL before the first member; freed by the owner */
    size_t length, capacity;
    bool needs_comma, failed;
} tb_json;

/* bracket is '{' or '[', and '}' or ']'. */
void tb_json_open(tb_json *json, const char *key, char bracket);
void tb_json_close(tb_json *json, char bracket);

/* NULL is written as null. */
void tb_json_text(tb_json *json, const char *key, const char *value);
void tb_json_integer(tb_json *json, const char *key, long long value);
/* What JSON has no number for is written as null. */
void tb_json_number(tb_json *json, const char *key, double value);
void tb_json_boolean(tb_json *json, const char *key, bool value);

#endif
