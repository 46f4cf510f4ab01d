#include "tools/json_value.h"

#include "lib/user/printable.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MOST 32

static json_value *read_value(char **at, int depth);

static void skip_blanks(char **at)
{
    *at += strspn(*at, " \t\r\n");
}

static bool take(char **at, char expected)
{
    skip_blanks(at);
    if (**at != expected)
        return false;
    ++*at;
    return true;
}

/* The four digits behind \u. */
static bool read_digits(const char *from, uint32_t *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++) {
        if (!isxdigit((unsigned char)from[i]))
            return false;
        const char digit[] = {from[i], '\0'};
        *code = *code << 4 | (uint32_t)strtoul(digit, NULL, 16);
    }
    return true;
}

/* What begins at \u, which for characters beyond 16 bits is a pair of such. NULL where it is none. */
static char *read_escaped(char *from, uint32_t *code)
{
    uint32_t low;
    if (!read_digits(from + 2, code))
        return NULL;
    from += 6;
    if (*code == 0) /* would end the text */
        *code = TB_NO_CHARACTER;
    if ((*code & 0xf800) != 0xd800)
        return from;
    const bool is_pair = *code < 0xdc00 && from[0] == '\\' && from[1] == 'u' && read_digits(from + 2, &low) &&
                         (low & 0xfc00) == 0xdc00;
    *code = is_pair ? 0x10000 + ((*code & 0x3ff) << 10 | (low & 0x3ff)) : TB_NO_CHARACTER;
    return is_pair ? from + 6 : from;
}

/* Reads in place: what is escaped is never shorter than what it stands for. */
static const char *read_text(char **at)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    if (!take(at, '"'))
        return NULL;
    char *start = *at, *to = start, *from = start;
    while (*from && *from != '"') {
        uint32_t code;
        if (*from != '\\') {
            *to++ = *from++;
            continue;
        }
        if (from[1] == 'u') {
            if (!(from = read_escaped(from, &code)))
                return NULL;
            to += tb_write_character(to, code);
            continue;
        }
        const char *letter = from[1] ? strchr(letters, from[1]) : NULL;
        if (!letter)
            return NULL;
        *to++ = meanings[letter - letters];
        from += 2;
    }
    if (*from != '"')
        return NULL;
    *to = '\0';
    *at = from + 1;
    return start;
}

/* JSON knows no infinity, no NaN and no number in hexadecimal, as strtod does; what is too large for a double is none either. */
static bool read_number(char **at, double *number)
{
    char *end, *const start = *at;
    const size_t length = strspn(start, "0123456789+-.eE");
    *number = strtod(start, &end);
    *at = start + length;
    return length > 0 && end == *at && isfinite(*number);
}

static bool read_members(char **at, json_value *parent, char closing, int depth)
{
    json_value **end = &parent->first;
    if (take(at, closing))
        return true;
    do {
        const char *key = NULL;
        if (parent->kind == JSON_OBJECT && (!(key = read_text(at)) || !take(at, ':')))
            return false;
        if (!(*end = read_value(at, depth)))
            return false;
        (*end)->key = key;
        end = &(*end)->next;
    } while (take(at, ','));
    return take(at, closing);
}

static bool read_word(char **at, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*at, word, length) != 0)
        return false;
    *at += length;
    return true;
}

static bool read_into(char **at, json_value *value, int depth)
{
    skip_blanks(at);
    switch (**at) {
    case '{':
    case '[':
        value->kind = **at == '{' ? JSON_OBJECT : JSON_ARRAY;
        ++*at;
        return depth > 0 && read_members(at, value, value->kind == JSON_OBJECT ? '}' : ']', depth - 1);
    case '"':
        value->kind = JSON_TEXT;
        return (value->text = read_text(at)) != NULL;
    case 't':
        value->kind = JSON_BOOLEAN;
        value->number = 1;
        return read_word(at, "true");
    case 'f':
        value->kind = JSON_BOOLEAN;
        return read_word(at, "false");
    case 'n':
        return read_word(at, "null");
    default:
        value->kind = JSON_NUMBER;
        return read_number(at, &value->number);
    }
}

static json_value *read_value(char **at, int depth)
{
    json_value *value = calloc(1, sizeof *value);
    if (value && !read_into(at, value, depth)) {
        json_free(value);
        value = NULL;
    }
    return value;
}

json_value *json_read(char *text)
{
    json_value *value = read_value(&text, DEPTH_MOST);
    skip_blanks(&text);
    if (value && *text) {
        json_free(value);
        value = NULL;
    }
    return value;
}

void json_free(json_value *value)
{
    while (value) {
        json_value *next = value->next;
        json_free(value->first);
        free(value);
        value = next;
    }
}

const json_value *json_member(const json_value *object, const char *key)
{
    const json_value *member = object && object->kind == JSON_OBJECT ? object->first : NULL;
    while (member && strcmp(member->key, key) != 0)
        member = member->next;
    return member;
}

const char *json_text_of(const json_value *object, const char *key)
{
    const json_value *member = json_member(object, key);
    return member && member->kind == JSON_TEXT ? member->text : "";
}

double json_number_of(const json_value *object, const char *key)
{
    const json_value *member = json_member(object, key);
    return member && member->kind == JSON_NUMBER ? member->number : 0;
}

int64_t json_integer_of(const json_value *object, const char *key, int64_t largest)
{
    const double number = json_number_of(object, key);
    if (!(number > 0))
        return 0;
    return number < (double)largest ? (int64_t)number : largest;
}
