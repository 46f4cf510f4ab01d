/* `tileblas forecast`: records, and what the library decides on the calls in them. */
#include "tests/fuzz/fuzz.h"
#include "tools/record.h"
#include "tools/tool.h"

#include <getopt.h>

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_silence();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[] = "tileblas forecast", gpu[] = "--assume=h100", json[] = "--json", path[64];
    snprintf(path, sizeof path, "%s", fuzz_file(data, size));
    char *words[] = {name, path, gpu, size % 2 ? NULL : json, NULL};
    optind = 0;
    tool_forecast(size % 2 ? 3 : 4, words);
    tb_forget_called();
    return 0;
}
