/* What an executable or a shared library says of itself, read from its file: whether anything can be preloaded
 * into it, and which matrix products it has inside. Nothing of it is run.
 */
#ifndef TOOL_PROGRAM_FILE_H
#define TOOL_PROGRAM_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct program_file {
    char path[PATH_MAX]; /* of the file inspected: for a script that of its interpreter */
    bool is_elf;
    bool is_foreign; /* built for another architecture */
    bool is_static;
    bool has_raised_rights; /* set-uid, set-gid or capabilities that the caller has not */
    bool exports_gemm;      /* as a BLAS does */
    bool holds_gemm;        /* inside, exported or not; a stripped file does not tell */
} program_file;

/* Follows a script to its interpreter. False when the file cannot be read. */
bool program_inspect(const char *path, program_file *file);

/* Where execvp would find the program; false when nowhere. */
bool program_find(const char *name, char *path, size_t size);

#endif
