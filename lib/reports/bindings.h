/* What the loaded objects' references to matrix products are bound to: the evidence for why a program's calls did
 * not arrive here. Written at exit, and only when a report to a file was asked for.
 */
#ifndef TB_BINDINGS_H
#define TB_BINDINGS_H

#include "lib/reports/json.h"
#include "words/routine.h"

#include <stdbool.h>
#include <string.h>

/* Whether a name is that of a routine, given as "sgemm", under any spelling of a BLAS or CBLAS. */
static inline bool tb_is_name_of(const char *name, const char *routine)
{
    static const char *const suffixes[] = {"", "_", "64_", "_64", "_64_"};
    const size_t length = strlen(routine);
    if (strncmp(name, "scipy_", 6) == 0)
        name += 6;
    if (strncmp(name, "cblas_", 6) == 0)
        name += 6;
    if (strncmp(name, routine, length) != 0)
        return false;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcmp(name + length, suffixes[i]) == 0)
            return true;
    return false;
}

/* Whether it is one of a routine that is taken over: not so sgemm_kernel and sgemm_batch. */
static inline bool tb_is_taken_over(const char *name)
{
    for (tb_routine routine = 0; routine < TB_ROUTINES; routine++)
        if (tb_is_name_of(name, tb_routine_rows[routine].name))
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
