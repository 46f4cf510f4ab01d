/* The options' values: a text and a number per row, each replaced whole, so that readers need no lock; and of
 * one row routines. */
#include "lib/user/options.h"

#include "lib/process/threads.h"
#include "lib/user/log.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <stdio.h>

#define PREFIX "TILEBLAS_"

const tb_option tb_option_rows[TB_OPTION_COUNT] = {
#define TB_OPTION(NAME, type, fallback, accepts, help) {#NAME, type, fallback, accepts},
#include "lib/user/options.def"
#undef TB_OPTION
};

/* A text that was set. It stays when it is replaced, for a reader may still hold it, and options change a few
 * times at most; the list is there so that it does not count as lost. */
typedef struct set_text {
    struct set_text *older;
    char characters[];
} set_text;

static _Atomic(set_text *) newest;
static _Atomic(const char *) texts[TB_OPTION_COUNT];
static atomic_long values[TB_OPTION_COUNT];
static atomic_bool has_routine[TB_ROUTINES];
static tb_once once = TB_ONCE;

long tb_find_choice(tb_option_index option, const char *value)
{
    const char *choices = tb_option_rows[option].accepts;
    size_t length = strlen(value);
    for (long position = 0;; position++) {
        size_t candidate = strcspn(choices, "|");
        if (candidate == length && memcmp(choices, value, length) == 0)
            return position;
        if (choices[candidate] == '\0')
            return -1;
        choices += candidate + 1;
    }
}

/* As tb_find_choice; the last choice is that of every path, and is no word. */
static long find_choice_or_path(tb_option_index option, const char *value)
{
    long last = 0;
    for (const char *c = tb_option_rows[option].accepts; *c; c++)
        last += *c == '|';
    if (*value == '/')
        return last;
    const long position = tb_find_choice(option, value);
    return position < last ? position : -1;
}

/* Puts the routines of that name, or of the type with that letter, in or out; false where there are none. */
static bool put_routines(const char *name, size_t length, bool in, tb_routine_set *set)
{
    bool found = false;
    for (tb_routine routine = 0; routine < TB_ROUTINES; routine++) {
        const char *own = tb_routine_rows[routine].name;
        const bool is_all = length == 3 && strncasecmp(name, "all", length) == 0;
        const bool is_type = length == 1 && strncasecmp(name, own, length) == 0;
        if (is_all || is_type || (length == strlen(own) && strncasecmp(name, own, length) == 0))
            found = true, set->has[routine] = in;
    }
    return found;
}

/* Names and types, divided by commas. One with a minus is left out; where the first has one, of all routines. */
static bool parse_routines(const char *list, tb_routine_set *set)
{
    put_routines("all", 3, *list == '-', set);
    for (;;) {
        const bool leaves_out = *list == '-';
        list += leaves_out;
        const size_t length = strcspn(list, ",");
        if (!put_routines(list, length, !leaves_out, set))
            return false;
        if (list[length] == '\0')
            return true;
        list += length + 1;
    }
}

/* Whether the row accepts the value; if so, its number, or the routines that it names. */
static bool parse(const tb_option *row, const char *value, long *number, tb_routine_set *set)
{
    char *end;
    long low, high;
    *number = 0;
    switch (row->type) {
    case TB_CHOICE:
        *number = tb_find_choice((tb_option_index)(row - tb_option_rows), value);
        return *number >= 0;
    case TB_CHOICE_OR_PATH:
        *number = find_choice_or_path((tb_option_index)(row - tb_option_rows), value);
        return *number >= 0;
    case TB_INTEGER:
        *number = strtol(value, &end, 10);
        low = strtol(row->accepts, &(char *){0}, 10);
        high = strtol(strstr(row->accepts, "..") + 2, &(char *){0}, 10);
        return end != value && *end == '\0' && *number >= low && *number <= high;
    case TB_TEXT:
        return true;
    case TB_ROUTINE_LIST:
        return parse_routines(value, set);
    }
    return false;
}

static void keep_value(size_t index, long number, const tb_routine_set *set)
{
    atomic_store(&values[index], number);
    for (tb_routine routine = 0; routine < TB_ROUTINES && index == TB_OPTION_ROUTINES; routine++)
        atomic_store(&has_routine[routine], set->has[routine]);
}

static bool set_row(size_t index, const char *value)
{
    long number;
    tb_routine_set set = {.has = {false}};
    if (!parse(&tb_option_rows[index], value, &number, &set))
        return false;
    set_text *copy = malloc(sizeof *copy + strlen(value) + 1);
    if (!copy)
        return false;
    strcpy(copy->characters, value);
    copy->older = atomic_load(&newest);
    while (!atomic_compare_exchange_weak(&newest, &copy->older, copy))
        ;
    atomic_store(&texts[index], copy->characters);
    keep_value(index, number, &set);
    return true;
}

static void read_environment(void)
{
    for (size_t index = 0; index < TB_OPTION_COUNT; index++) {
        const tb_option *row = &tb_option_rows[index];
        long number;
        tb_routine_set set = {.has = {false}};
        parse(row, row->fallback, &number, &set);
        atomic_store(&texts[index], row->fallback);
        keep_value(index, number, &set);

        char variable[64];
        snprintf(variable, sizeof variable, PREFIX "%s", row->name);
        const char *value = secure_getenv(variable);
        if (value && *value && !set_row(index, value))
            tb_log("%s=%s is not one of %s; using %s", variable, value, row->accepts, row->fallback);
    }
}

long tb_option_value(tb_option_index option)
{
    tb_do_once(&once, read_environment);
    return atomic_load_explicit(&values[option], memory_order_relaxed);
}

bool tb_option_has(tb_routine routine)
{
    tb_do_once(&once, read_environment);
    return atomic_load_explicit(&has_routine[routine], memory_order_relaxed);
}

const char *tb_option_text(tb_option_index option)
{
    tb_do_once(&once, read_environment);
    return atomic_load_explicit(&texts[option], memory_order_acquire);
}

bool tb_set_option(const char *name, const char *value)
{
    tb_do_once(&once, read_environment);
    for (size_t index = 0; index < TB_OPTION_COUNT; index++)
        if (strcmp(tb_option_rows[index].name, name) == 0)
            return set_row(index, value);
    return false;
}
