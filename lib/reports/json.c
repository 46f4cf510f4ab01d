#include "lib/reports/json.h"

#include "lib/process/c_locale.h"
#include "lib/user/printable.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void append(tb_json *json, const char *text, size_t length)
{
    if (json->length + length + 1 > json->capacity) {
        size_t capacity = 2 * (json->length + length) + 256;
        char *larger = realloc(json->text, capacity);
        if (!larger) {
            json->failed = true;
            return;
        }
        json->text = larger;
        json->capacity = capacity;
    }
    memcpy(json->text + json->length, text, length);
    json->length += length;
    json->text[json->length] = '\0';
}

/* Controls, those of terminals among them, are escaped. A byte that is no UTF-8, as old paths have, becomes the character that
 * stands for none: no reader takes a text that has it as it is. */
static void append_string(tb_json *json, const char *text)
{
    append(json, "\"", 1);
    while (*text) {
        char escaped[8];
        uint32_t character;
        const size_t length = tb_read_character(text, &character);
        if (character == '"' || character == '\\')
            append(json, "\\", 1);
        if (tb_is_control(character) || character == TB_NO_CHARACTER)
            append(json, escaped, (size_t)snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned)character));
        else
            append(json, text, length);
        text += length;
    }
    append(json, "\"", 1);
}

static void start_member(tb_json *json, const char *key)
{
    if (json->needs_comma)
        append(json, ",", 1);
    json->needs_comma = true;
    if (key) {
        append_string(json, key);
        append(json, ":", 1);
    }
}

void tb_json_open(tb_json *json, const char *key, char bracket)
{
    start_member(json, key);
    append(json, &bracket, 1);
    json->needs_comma = false;
}

void tb_json_close(tb_json *json, char bracket)
{
    append(json, &bracket, 1);
    json->needs_comma = true;
}

void tb_json_text(tb_json *json, const char *key, const char *value)
{
    start_member(json, key);
    if (value)
        append_string(json, value);
    else
        append(json, "null", 4);
}

void tb_json_integer(tb_json *json, const char *key, long long value)
{
    char digits[24];
    start_member(json, key);
    append(json, digits, (size_t)snprintf(digits, sizeof digits, "%lld", value));
}

void tb_json_number(tb_json *json, const char *key, double value)
{
    char digits[32];
    start_member(json, key);
    if (!isfinite(value)) {
        append(json, "null", 4);
        return;
    }
    locale_t previous = tb_enter_c_locale();
    append(json, digits, (size_t)snprintf(digits, sizeof digits, "%.9g", value));
    tb_leave_c_locale(previous);
}

void tb_json_boolean(tb_json *json, const char *key, bool value)
{
    start_member(json, key);
    append(json, value ? "true" : "false", value ? 4 : 5);
}
