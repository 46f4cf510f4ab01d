/* What the loaded objects' references to matrix products are bound to: the evidence for why a program's calls did
 * not arrive here. Written at exit, and only when a report to a file was asked for.
 */
#ifndef TB_BINDINGS_H
#define TB_BINDINGS_H

#include "lib/reports/json.h"
#include "words/routine.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* 's' for a name of SGEMM, 'd', 'c' or 'z' for the other types', under any spelling of a BLAS or CBLAS; 0 for
 * other names, sgemm_kernel and sgemmt among them. */
static inline char tb_gemm_type(const char *name)
{
    if (strncmp(name, "scipy_", 6) == 0)
        name += 6;
    if (strncmp(name, "cblas_", 6) == 0)
        name += 6;
    if (!*name || !strchr("sdcz", *name) || strncmp(name + 1, "gemm", 4) != 0)
        return 0;
    static const char *const suffixes[] = {"", "_", "64_", "_64", "_64_"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcmp(name + 5, suffixes[i]) == 0)
            return *name;
    return 0;
}

/* Whether it is one of a GEMM that is taken over. */
static inline bool tb_is_taken_over(const char *name)
{
    const int letter = toupper(tb_gemm_type(name));
    for (tb_routine routine = 0; routine < TB_ROUTINES; routine++)
        if (letter == tb_element_rows[tb_routine_rows[routine].element].letter)
            return true;
    return false;
}

/* The members "library" (this one's path), "objects" (paths in load order) and "gemm": for each reference the
 * object that makes it, its name, and the object that it is bound to; null while it is bound to nothing but its
 * own object, as a reference is that has not been called yet. */
void tb_write_bindings(tb_json *json);

/* The program's path; the terminated text is empty when it is not to be had. */
void tb_program_path(char *path, size_t size);

#endif
