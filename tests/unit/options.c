/* Options come from one table: from the environment, with a bad value said once and the default kept; through
 * tb_set_option; and in the documentation, which lists exactly the table.
 */
#include "include/tileblas.h"
#include "lib/user/options.h"
#include "tests/check.h"
#include "words/routine.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the table says for people, of which the library itself has no use. */
static const char *const help[TB_OPTION_COUNT] = {
#define TB_OPTION(NAME, type, fallback, accepts, help) help,
#include "lib/user/options.def"
#undef TB_OPTION
};

typedef struct answer {
    long value;
    tb_routine_set routines;
    char text[64];
} answer;

/* What a process sees of an option whose variable is set; what it writes on standard error goes to said. */
static answer ask(tb_option_index option, const char *set_to, char *said, size_t size)
{
    answer *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int output = memfd_create("output", 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        char variable[64];
        snprintf(variable, sizeof variable, "TILEBLAS_%s", tb_option_rows[option].name);
        if (set_to != NULL)
            setenv(variable, set_to, 1);
        else
            unsetenv(variable);
        dup2(output, STDERR_FILENO);
        for (int times = 0; times < 2; times++)
            shared->value = tb_option_value(option);
        for (tb_routine routine = 0; routine < TB_ROUTINES; routine++)
            shared->routines.has[routine] = tb_option_has(routine);
        snprintf(shared->text, sizeof shared->text, "%s", tb_option_text(option));
        _exit(EXIT_SUCCESS);
    }
    waitpid(child, NULL, 0);
    ssize_t length = pread(output, said, size - 1, 0);
    said[length > 0 ? length : 0] = '\0';
    answer answer = *shared;
    close(output);
    munmap(shared, sizeof *shared);
    return answer;
}

/* The position-th of "first|second|third" in word, or false. */
static bool nth_choice(const char *choices, long position, char *word, size_t size)
{
    for (; position > 0 && choices != NULL; position--) {
        choices = strchr(choices, '|');
        choices = choices != NULL ? choices + 1 : NULL;
    }
    if (choices == NULL)
        return false;
    snprintf(word, size, "%.*s", (int)strcspn(choices, "|"), choices);
    return true;
}

/* set_to is NULL for a variable that is not set. */
static void check_good(tb_option_index option, const char *set_to, long value, const char *text)
{
    char said[256];
    answer got = ask(option, set_to, said, sizeof said);
    const char *name = tb_option_rows[option].name, *shown = set_to != NULL ? set_to : "(unset)";
    CHECK(got.value == value && strcmp(got.text, text) == 0, "TILEBLAS_%s=%s: value %ld, text \"%s\"", name,
          shown, got.value, got.text);
    CHECK(said[0] == '\0', "TILEBLAS_%s=%s: said \"%s\"", name, shown, said);
}

static void check_bad(tb_option_index option, const char *set_to)
{
    char said[256], nothing[256];
    answer normal = ask(option, NULL, nothing, sizeof nothing), got = ask(option, set_to, said, sizeof said);
    const char *name = tb_option_rows[option].name, *end = strchr(said, '\n');
    CHECK(got.value == normal.value && strcmp(got.text, normal.text) == 0, "TILEBLAS_%s=%s is not ignored",
          name, set_to);
    CHECK(end != NULL && end[1] == '\0', "TILEBLAS_%s=%s: said \"%s\", not one line", name, set_to, said);
    CHECK(strstr(said, name) != NULL && strstr(said, set_to) != NULL, "the warning is \"%s\"", said);
}

static void a_choice_is_known_by_its_position(tb_option_index option)
{
    const tb_option *row = &tb_option_rows[option];
    char word[64];
    bool has_fallback = false;
    for (long position = 0; nth_choice(row->accepts, position, word, sizeof word); position++) {
        check_good(option, word, position, word);
        if (strcmp(word, row->fallback) == 0) {
            has_fallback = true;
            check_good(option, NULL, position, word);
        }
    }
    CHECK(has_fallback, "%s: the default is none of the choices", row->name);
    check_bad(option, "nonsense");
    nth_choice(row->accepts, 0, word, sizeof word);
    if (strlen(word) > 1) { /* an empty value is no value */
        word[strlen(word) - 1] = '\0';
        check_bad(option, word);
    }
}

/* The last choice is a word for any path. */
static void a_choice_may_be_a_path(tb_option_index option)
{
    const tb_option *row = &tb_option_rows[option];
    char word[64];
    long position = 0;
    for (; nth_choice(row->accepts, position + 1, word, sizeof word); position++) {
        nth_choice(row->accepts, position, word, sizeof word);
        check_good(option, word, position, word);
        if (strcmp(word, row->fallback) == 0)
            check_good(option, NULL, position, word);
    }
    check_good(option, "/a/path", position, "/a/path");
    nth_choice(row->accepts, position, word, sizeof word);
    check_bad(option, word);
    check_bad(option, "a/path");
}

static void an_integer_lies_in_its_range(tb_option_index option)
{
    const tb_option *row = &tb_option_rows[option];
    long low, high, fallback = strtol(row->fallback, NULL, 10);
    char text[32];
    if (!CHECK(sscanf(row->accepts, "%ld..%ld", &low, &high) == 2, "%s accepts \"%s\"", row->name,
               row->accepts))
        return;
    CHECK(fallback >= low && fallback <= high, "%s: the default is out of range", row->name);
    check_good(option, NULL, fallback, row->fallback);
    snprintf(text, sizeof text, "%ld", low);
    check_good(option, text, low, text);
    snprintf(text, sizeof text, "%ld", high);
    check_good(option, text, high, text);
    snprintf(text, sizeof text, "%ld", high + 1);
    check_bad(option, text);
    snprintf(text, sizeof text, "%ld", low - 1);
    check_bad(option, text);
    check_bad(option, "1x");
    check_bad(option, "one");
}

/* What a list names, routine by routine, as the row says it for people. */
static void check_list(tb_option_index option, const char *list, bool (*is_named)(const char *name))
{
    char said[256];
    const answer got = ask(option, list, said, sizeof said);
    CHECK(strcmp(got.text, list) == 0 && said[0] == '\0', "%s: text \"%s\", said \"%s\"", list, got.text,
          said);
    for (tb_routine routine = 0; routine < TB_ROUTINES; routine++)
        CHECK(got.routines.has[routine] == is_named(tb_routine_rows[routine].name), "%s, %s", list,
              tb_routine_rows[routine].name);
}

static bool all(const char *name)
{
    return name[0] != '\0';
}

static bool sgemm_or_dsyrk(const char *name)
{
    return strcmp(name, "sgemm") == 0 || strcmp(name, "dsyrk") == 0;
}

static bool single(const char *name)
{
    return name[0] == 's';
}

static bool dgemm(const char *name)
{
    return strcmp(name, "dgemm") == 0;
}

static bool single_or_dgemm(const char *name)
{
    return single(name) || dgemm(name);
}

static bool not_dgemm(const char *name)
{
    return !dgemm(name);
}

static bool neither_single_nor_dgemm(const char *name)
{
    return !single_or_dgemm(name);
}

static bool double_but_dgemm(const char *name)
{
    return name[0] == 'd' && !dgemm(name);
}

static bool complex_ones(const char *name)
{
    return name[0] == 'c' || name[0] == 'z';
}

static void a_list_names_routines_and_types(tb_option_index option)
{
    static const struct {
        const char *list;
        bool (*is_named)(const char *);
    } lists[] = {
        {"all", all},
        {"sgemm,dsyrk", sgemm_or_dsyrk},
        {"DSYRK,Sgemm", sgemm_or_dsyrk},
        {"s", single},
        {"s,dgemm", single_or_dgemm},
        {"-dgemm", not_dgemm},
        {"-dgemm,-dgemm", not_dgemm},
        {"-s,-dgemm", neither_single_nor_dgemm},
        {"d,-dgemm", double_but_dgemm},
        {"c,z", complex_ones},
        {"s,-all,dgemm", dgemm},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        check_list(option, lists[i].list, lists[i].is_named);
    check_good(option, NULL, 0, "all");
    check_bad(option, "sgemm,");
    check_bad(option, "sgem");
    check_bad(option, "x");
    check_bad(option, "-");
    check_bad(option, "sgemm dgemm");
}

static void every_row_keeps_its_promises(void)
{
    for (tb_option_index option = 0; option < TB_OPTION_COUNT; option++) {
        const tb_option *row = &tb_option_rows[option];
        CHECK(help[option][0] != '\0' && row->accepts[0] != '\0', "%s: no words for people", row->name);
        if (row->type == TB_CHOICE)
            a_choice_is_known_by_its_position(option);
        else if (row->type == TB_CHOICE_OR_PATH)
            a_choice_may_be_a_path(option);
        else if (row->type == TB_INTEGER)
            an_integer_lies_in_its_range(option);
        else if (row->type == TB_ROUTINE_LIST)
            a_list_names_routines_and_types(option);
        else
            check_good(option, NULL, 0, row->fallback);
    }
}

static void an_option_is_set_or_left_alone(void)
{
    CHECK(tb_set_option("ROUTE", "streamed"), "refused");
    CHECK(strcmp(tb_option_text(TB_OPTION_ROUTE), "streamed") == 0, "the text is %s",
          tb_option_text(TB_OPTION_ROUTE));
    CHECK(tb_option_value(TB_OPTION_ROUTE) == 3, "the value is %ld", tb_option_value(TB_OPTION_ROUTE));
    CHECK(!tb_set_option("ROUTE", "sideways"), "accepted a route that there is not");
    CHECK(!tb_set_option("route", "host"), "accepted a name in lower case");
    CHECK(!tb_set_option("TILEBLAS_ROUTE", "host"), "accepted a name with its prefix");
    CHECK(!tb_set_option("VERBOSE", "2") && !tb_set_option("VERBOSE", ""), "accepted a number out of range");
    CHECK(tb_option_value(TB_OPTION_ROUTE) == 3, "a refused value has changed the option");

    const char *before = tb_option_text(TB_OPTION_KERNEL);
    CHECK(tb_set_option("KERNEL", "tiled"), "refused");
    CHECK(strcmp(before, "auto") == 0, "an earlier text has changed to %s", before);
}

/* A line each, in as much room as there is. */
static void options_are_listed(void)
{
    char all[4096], some[8];
    const size_t length = tileblas_options(NULL, 0);
    CHECK(tileblas_options(all, sizeof all) == length && strlen(all) == length, "%zu characters of %zu",
          strlen(all), length);
    CHECK(tileblas_options(some, sizeof some) == length && strlen(some) == sizeof some - 1 &&
              strncmp(some, all, sizeof some - 1) == 0,
          "the beginning is \"%s\"", some);
    int lines = 0;
    for (const char *c = all; *c; c++)
        lines += *c == '\n';
    CHECK(lines == TB_OPTION_COUNT && strstr(all, "\nDEVICES\t0\t0..8\n"), "%d lines:\n%s", lines, all);
}

/* "| TILEBLAS_NAME | default | accepts | help |", once, and as many such rows as options. In Markdown a
 * vertical bar within a cell is written \|, and an empty default as (empty). */
static void the_documentation_lists_exactly_the_table(void)
{
    static char document[1 << 16];
    FILE *file = fopen(TB_SOURCE_DIR "/docs/options.md", "r");
    if (!CHECK(file != NULL, "docs/options.md is missing"))
        return;
    size_t length = fread(document, 1, sizeof document - 1, file);
    document[length] = '\0';
    fclose(file);

    for (tb_option_index option = 0; option < TB_OPTION_COUNT; option++) {
        const tb_option *row = &tb_option_rows[option];
        char accepts[256], expected[1024];
        size_t used = 0;
        for (const char *c = row->accepts; *c != '\0' && used < sizeof accepts - 3; c++) {
            if (*c == '|')
                accepts[used++] = '\\';
            accepts[used++] = *c;
        }
        accepts[used] = '\0';
        snprintf(expected, sizeof expected, "\n| TILEBLAS_%s | %s | %s | %s |\n", row->name,
                 row->fallback[0] != '\0' ? row->fallback : "(empty)", accepts, help[option]);
        CHECK(strstr(document, expected) != NULL, "docs/options.md lacks the line%s", expected);
    }
    int rows = 0;
    for (const char *at = document; (at = strstr(at, "\n| TILEBLAS_")) != NULL; at++)
        rows++;
    CHECK(rows == TB_OPTION_COUNT, "docs/options.md has %d rows for %d options", rows, TB_OPTION_COUNT);
}

int main(void)
{
    every_row_keeps_its_promises();
    an_option_is_set_or_left_alone();
    options_are_listed();
    the_documentation_lists_exactly_the_table();
    return check_result();
}
