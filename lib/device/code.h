/* Device code: the fat binaries of all kernels' source files, of which a build has one copy.
 *
 * libtileblas.so holds it, as a section of its own. The other libraries and the command read it from there when a device is
 * brought up: from the file TB_CODE_HOLDER, which lies beside them. For the CUDA device alone.
 */
#ifndef TB_CODE_H
#define TB_CODE_H

#include "words/status.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* As code.S, which CMake writes, lays it out. */
typedef struct tb_code {
    char identity[64]; /* SHA-256 of the binaries and their names; this build's is in tb_code_identity.h */
    uint64_t count;
    /* Each source file has here its name without the ending, and its fat binary. Both in bytes from the beginning of all this. */
    struct {
        uint64_t name, binary;
    } files[];
} tb_code;

/* Finds it, once, and before the functions below. TB_NO_DEVICE where the file is not there, or is another build's: a line says
 * so. */
tb_status tb_open_code(void);

/* The fat binary of kernels/.../<name>.cu; NULL: there is none. */
const void *tb_find_binary(const char *name);

/* The other file that has it, or an empty text where none was found. NULL: none was looked for. */
const char *tb_code_file(void);

static inline const void *tb_binary_in(const tb_code *code, const char *name)
{
    const char *start = (const char *)code;
    for (uint64_t i = 0; i < code->count; i++)
        if (strcmp(start + code->files[i].name, name) == 0)
            return start + code->files[i].binary;
    return NULL;
}

#endif
