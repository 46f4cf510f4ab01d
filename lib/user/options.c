/* The options' values: a text and a number per row, replaced whole, so that readers need no lock. */
#include "lib/user/options.h"

#include "lib/process/threads.h"
#include "lib/user/log.h"
#include "words/routine.h"

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
static tb_once once = TB_ONCE;

/* The position of value in "first|second|third", or -1. */
static long find_choice(const char *choices, const char *value)
{
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

/* The routines of that name, or of the type with that letter, bit by bit. */
static long find_routines(const char *name, size_t length)
{
    long found = 0;
    for (tb_routine routine = 0; routine < TB_ROUTINES; routine++) {
        const char *own = tb_routine_rows[routine].name;
        const bool is_all = length == 3 && strncasecmp(name, "all", length) == 0;
        const bool is_type = length == 1 && strncasecmp(name, own, length) == 0;
        if (is_all || is_type || (length == strlen(own) && strncasecmp(name, own, length) == 0))
            found |= 1L << routine;
    }
    return found;
}

/* Names and types, divided by commas. One with a minus is left out; where the first has one, of all routines. */
static bool parse_routines(const char *list, long *routines)
{
    *routines = *list == '-' ? find_routines("all", 3) : 0;
    for (;;) {
        const bool leaves_out = *list == '-';
        list += leaves_out;
        const size_t length = strcspn(list, ",");
        const long found = find_routines(list, length);
        if (found == 0)
            return false;
        *routines = leaves_out ? *routines & ~found : *routines | found;
        if (list[length] == '\0')
            return true;
        list += length + 1;
    }
}

/* Whether the row accepts the value; if so, its number. */
static bool parse(const tb_option *row, const char *value, long *number)
{
    char *end;
    long low, high;
    *number = 0;
    switch (row->type) {
    case TB_CHOICE:
        *number = find_choice(row->accepts, value);
        return *number >= 0;
    case TB_INTEGER:
        *number = strtol(value, &end, 10);
        low = strtol(row->accepts, &(char *){0}, 10);
        high = strtol(strstr(row->accepts, "..") + 2, &(char *){0}, 10);
        return end != value && *end == '\0' && *number >= low && *number <= high;
    case TB_TEXT:
        return true;
    case TB_ROUTINE_LIST:
        return parse_routines(value, number);
    }
    return false;
}

static bool set_row(size_t index, const char *value)
{
    long number;
    if (!parse(&tb_option_rows[index], value, &number))
        return false;
    set_text *copy = malloc(sizeof *copy + strlen(value) + 1);
    if (!copy)
        return false;
    strcpy(copy->characters, value);
    copy->older = atomic_load(&newest);
    while (!atomic_compare_exchange_weak(&newest, &copy->older, copy))
        ;
    atomic_store(&texts[index], copy->characters);
    atomic_store(&values[index], number);
    return true;
}

static void read_environment(void)
{
    for (size_t index = 0; index < TB_OPTION_COUNT; index++) {
        const tb_option *row = &tb_option_rows[index];
        long number;
        parse(row, row->fallback, &number);
        atomic_store(&texts[index], row->fallback);
        atomic_store(&values[index], number);

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
