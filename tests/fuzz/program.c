/* The reader of programs' and libraries' files: ELF and scripts. */
#include "tests/fuzz/fuzz.h"
#include "tools/program_file.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    program_file file;
    if (!program_inspect(fuzz_file(data, size), &file) && size > 2 && memcmp(data, "#!", 2) != 0)
        abort();
    return 0;
}
