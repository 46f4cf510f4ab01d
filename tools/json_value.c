#include "tools/json_value.h"

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

/* \u and four digits as UTF-8; halves of pairs are taken one by one, which our writer never makes. */
static char *put_code_point(char *to, unsigned long code)
{
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
        *to++ = (char)(0x80 | (code & 0x3f));
    } else {
        *to++ = (char)(0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    }
    return to;
}

/* In place: what is escaped is never shorter than what it stands for. */
static const char *read_text(char **at)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    if (!take(at, '"'))
        return NULL;
    char *start = *at, *to = start, *from = start;
    while (*from && *from != '"') {
        if (*from != '\\') {
            *to++ = *from++;
            continue;
        }
        from++;
        if (*from == 'u') {
            char digits[5] = "", *end;
            strncpy(digits, from + 1, 4);
            unsigned long code = strtoul(digits, &end, 16);
            if (end != digits + 4)
                return NULL;
            to = put_code_point(to, code);
            from += 5;
            continue;
        }
        const char *letter = *from ? strchr(letters, *from) : NULL;
        if (!letter)
            return NULL;
        *to++ = meanings[letter - letters];
        from++;
    }
    if (*from != '"')
        return NULL;
    *to = '\0';
    *at = from + 1;
    return start;
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
    char *end;
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
        value->number = strtod(*at, &end);
        bool any = end != *at;
        *at = end;
        return any;
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
