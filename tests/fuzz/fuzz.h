/* A fuzz target is a file with libFuzzer's two entry points, for one parser. fuzz.c calls them, or libFuzzer where the compiler
 * is Clang.
 */
#ifndef TEST_FUZZ_H
#define TEST_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Once, before all inputs; and for each. Both answer 0. A target aborts where a promise is broken that no sanitizer knows of. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What parsers print and complain of is of no interest. Sanitizers do not write by stdio. */
static inline void fuzz_silence(void)
{
    stdout = stderr = fopen("/dev/null", "we");
}

/* The path of a file with these bytes, until it is asked for the next one. */
static inline const char *fuzz_file(const uint8_t *data, size_t size)
{
    static int file = -1;
    static char path[64];
    if (file < 0) {
        file = memfd_create("input", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size)
        abort();
    return path;
}

/* The input as a text of its own, which ends at its first zero; to be freed. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

#endif
