/* The options, each line of the input one as "NAME=value": what is taken is in the range that the table gives. */
#include "lib/user/options.h"
#include "tests/fuzz/fuzz.h"

#include <limits.h>
#include <stdbool.h>

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return 0;
}

static void check_value(tb_option_index option)
{
    long low = 0, high = LONG_MAX;
    if (tb_option_rows[option].type == TB_INTEGER)
        sscanf(tb_option_rows[option].accepts, "%ld..%ld", &low, &high);
    const long value = tb_option_value(option);
    if (value < low || value > high)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *rest = text, *line;
    while ((line = strsep(&rest, "\n"))) {
        char *value = strchr(line, '=');
        if (!value)
            continue;
        *value++ = '\0';
        tb_set_option(line, value);
    }
    for (tb_option_index option = 0; option < TB_OPTION_COUNT; option++)
        check_value(option);
    /* Which are followed when the process ends. */
    tb_set_option("STATS", "0");
    tb_set_option("RECORD", "");
    free(text);
    return 0;
}
