/* The arguments of `tileblas explain`, in words and as JSON, for a GPU that is supposed. */
#include "tests/fuzz/fuzz.h"
#include "tools/tool.h"

#include <getopt.h>

enum { WORDS_MOST = 64 };

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_silence();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *rest = text, *word;
    char name[] = "tileblas explain", gpu[] = "--assume=l40s";
    char *words[WORDS_MOST + 2] = {name};
    int count = 1;
    while (count < WORDS_MOST && (word = strsep(&rest, " \n")))
        if (*word)
            words[count++] = word;
    words[count++] = gpu; /* the last one counts: this machine is not asked for its own */
    optind = 0;
    tool_explain(count, words);
    free(text);
    return 0;
}
