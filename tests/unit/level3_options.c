/* bench/level3 refuses options that it could not measure anything by, before it measures. */
#include "bench/level3_options.h"
#include "tests/check.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ARGUMENTS_MOST = 4 };

static level3_options read_options(const char *option, const char *value)
{
    static char words[ARGUMENTS_MOST][512];
    char *arguments[ARGUMENTS_MOST];
    const char *given[] = {"level3", option, value};
    int count = 0;
    for (; count < 3 && given[count]; count++) {
        snprintf(words[count], sizeof words[count], "%s", given[count]);
        arguments[count] = words[count];
    }
    arguments[count] = NULL;
    optind = 0; /* from the beginning */
    return level3_read_options(count, arguments);
}

/* What a program ends with that has these options; 0: it would have gone on. */
static int status_of(const char *option, const char *value)
{
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        read_options(option, value);
        _exit(0);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void sizes_are_all_there(void)
{
    char many[5 * LEVEL3_SIZES_MOST] = "1000";
    for (int i = 1; i < LEVEL3_SIZES_MOST; i++)
        strcat(many, ",1000");
    const level3_options few = read_options("--size", "7,4096"), most = read_options("--size", many),
                         presumed = read_options(NULL, NULL);
    CHECK(few.size_count == 2 && few.sizes[0] == 7 && few.sizes[1] == 4096, "%d sizes", few.size_count);
    CHECK(most.size_count == LEVEL3_SIZES_MOST && most.sizes[LEVEL3_SIZES_MOST - 1] == 1000, "%d sizes",
          most.size_count);
    CHECK(presumed.size_count == 5 && !presumed.routines, "%d sizes", presumed.size_count);
    strcpy(many + strlen(many) - 4, "10,1000");
    CHECK(status_of("--size", many) == 2, "more sizes than there is room for");
}

int main(void)
{
    static const char *const sizes[] = {"",     ",",    "0",         "-4",          "12x",
                                        "12x5", "512,", "512,,1024", "99999999999", "n"};
    static const char *const routines[] = {
        "", "sgem", "sgemm,", "sgemm,,dgemm", "SGEMM", "sgemm_batch", "a_very_long_name_of_a_routine"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        CHECK(status_of("--size", sizes[i]) == 2, "--size '%s'", sizes[i]);
    for (size_t i = 0; i < sizeof routines / sizeof *routines; i++)
        CHECK(status_of("--routine", routines[i]) == 2, "--routine '%s'", routines[i]);
    CHECK(status_of("--routine", "sgemm,zher2k") == 0 && status_of("--host", NULL) == 0,
          "what can be measured is refused");
    CHECK(status_of("--nothing", NULL) == 2 && status_of("--host", "rest") == 2, "what there is not");
    sizes_are_all_there();
    return check_result();
}
