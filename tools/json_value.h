/* Reads the JSON that the library writes (lib/reports/json.h), and any other that is not nested too deeply. */
#ifndef TOOL_JSON_VALUE_H
#define TOOL_JSON_VALUE_H

#include <stdint.h>

typedef enum json_kind { JSON_NULL, JSON_BOOLEAN, JSON_NUMBER, JSON_TEXT, JSON_ARRAY, JSON_OBJECT } json_kind;

typedef struct json_value json_value;
struct json_value {
    json_kind kind;
    const char *key;   /* of a member of an object, otherwise NULL */
    const char *text;  /* of a text */
    double number;     /* of a number, finite; 1 and 0 of booleans */
    json_value *first; /* of an array's or an object's members */
    json_value *next;  /* beside this one */
};

/* The value; keys and texts lie in the given text, which is changed and must outlive it. NULL when it is no JSON
 * or memory is out. */
json_value *json_read(char *text);
void json_free(json_value *value);

/* NULL when there is none, or the value is no object. */
const json_value *json_member(const json_value *object, const char *key);
/* Text is "" and a number 0 where the member is not there, or is of another kind. */
const char *json_text_of(const json_value *object, const char *key);
double json_number_of(const json_value *object, const char *key);
/* A count or an extent, from 0 to the largest: what a stranger's file has beyond those is that one of them. */
int64_t json_integer_of(const json_value *object, const char *key, int64_t largest);

#endif
