/* Options: read once from the environment, changeable through tileblas.h. The rows are in options.def;
 * a value outside what its row accepts warns once and keeps the default. Ignored in set-uid programs.
 */
#ifndef TB_OPTIONS_H
#define TB_OPTIONS_H

#include "words/routine.h"

#include <stdbool.h>

/* The last choice of TB_CHOICE_OR_PATH stands for any path that begins with /. */
typedef enum tb_option_type {
    TB_CHOICE,
    TB_CHOICE_OR_PATH,
    TB_INTEGER,
    TB_TEXT,
    TB_ROUTINE_LIST,
} tb_option_type;

typedef struct tb_option {
    const char *name; /* without the prefix TILEBLAS_ */
    tb_option_type type;
    const char *fallback;
    const char *accepts;
} tb_option;

typedef enum tb_option_index {
#define TB_OPTION(NAME, type, fallback, accepts, help) TB_OPTION_##NAME,
#include "lib/user/options.def"
#undef TB_OPTION
    TB_OPTION_COUNT,
} tb_option_index;

extern const tb_option tb_option_rows[TB_OPTION_COUNT];

/* The position of a value in the row's list of choices, "first|second|third"; -1 where it is none of them. */
long tb_find_choice(tb_option_index option, const char *value);

/* A choice's position in its row's list, or an integer's value. */
long tb_option_value(tb_option_index option);

/* Whether the option ROUTINES names the routine. */
bool tb_option_has(tb_routine routine);

/* The text in force; valid for the life of the process. */
const char *tb_option_text(tb_option_index option);

/* False, with nothing changed, when no row has that name or the value is not accepted. */
bool tb_set_option(const char *name, const char *value);

#endif
