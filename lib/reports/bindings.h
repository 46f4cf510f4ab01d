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

/* 's' for a name of SGEMM, SSYRK, SGEMMT, SGEMMTR or SSYMM, 'd', 'c' or 'z' for the other types', HEMM besides, under any
 * spelling of a BLAS or CBLAS; 0 for other names, sgemm_kernel and sgemm_batch among them. */
static inline char tb_product_type(const char *name)
{
    static const char *const stems[] = {"gemm", "gemmt", "gemmtr", "syrk"}, *const suffixes[] = {"", "_",
                                                                                                 "64_", "_64",
                                                                                                 "_64_"};
    if (strncmp(name, "scipy_", 6) == 0)
        name += 6;
    if (strncmp(name, "cblas_", 6) == 0)
        name += 6;
    if (!*name || !strchr("sdcz", *name))
        return 0;
    for (size_t stem = 0; stem < sizeof stems / sizeof *stems; stem++) {
        const size_t length = strlen(stems[stem]);
        if (strncmp(name + 1, stems[stem], length) != 0)
            continue;
        for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
            if (strcmp(name + 1 + length, suffixes[i]) == 0)
                return *name;
    }
    return 0;
}

/* Whether it is one of a routine that is taken over. */
static inline bool tb_is_taken_over(const char *name)
{
    const int letter = toupper(tb_product_type(name));
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
