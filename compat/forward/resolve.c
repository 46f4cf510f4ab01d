/* Who answers to a forwarded name: what the program would have reached without TileBLAS, or else the library of
 * TILEBLAS_HOST_BLAS or a well-known one. Asked once per name, on its first call; one process has one answer.
 *
 * No lock is held, and no thread waits for another: threads that ask at the same time find the same, and the
 * first to say so is believed.
 */
#include "compat/forward/forward.h"
#include "compat/host_libraries.h"
#include "compat/loaded_objects.h"
#include "lib/linker.h"
#include "lib/log.h"
#include "lib/options.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* ---- Finding ---------------------------------------------------------------------------------------- */

/* Whether a library's integers are as wide as this library's names promise, where they promise anything. One that
 * has no isamax to ask has no vectors and matrices to count, but an error handler perhaps. */
static bool has_promised_width(const tb_loaded_object *object)
{
    int bits = TB_PLAIN_BITS ? tb_probe_integer_bits(tb_open_object(object)) : 0;
    return bits == 0 || bits == TB_PLAIN_BITS;
}

/* The definition that a library, or what it depends on, has at or behind a position in load order; NULL when
 * it has none, or the definition is a TileBLAS's, or one of another width. */
static void *find_in(void *library, const char *symbol, int position)
{
    tb_loaded_object object;
    void *address = library ? dlsym(library, symbol) : NULL;
    if (!address || !tb_find_object(address, &object) || object.is_tileblas || object.position < position ||
        !has_promised_width(&object))
        return NULL;
    return address;
}

/* The linker's next definition; where that is another TileBLAS, or of another width, the next one behind it. */
static void *find_in_process(const char *symbol)
{
    tb_loaded_object object;
    void *address = dlsym(RTLD_NEXT, symbol);
    if (!address || !tb_find_object(address, &object))
        return NULL;
    if (!object.is_tileblas && has_promised_width(&object))
        return address;
    while (tb_find_object_at(object.position + 1, &object))
        if ((address = find_in(tb_open_object(&object), symbol, object.position)))
            return address;
    return NULL;
}

static void *find_in_library(const char *name, const char *symbol)
{
    return find_in(dlopen(name, RTLD_LAZY | RTLD_LOCAL), symbol, 0);
}

static void *find_in_libraries(const char *const *names, const char *symbol)
{
    void *address = NULL;
    for (; !address && *names; names++)
        address = find_in_library(*names, symbol);
    return address;
}

/* The option replaces the well-known BLAS, but not every BLAS has a LAPACK in it. */
static void *find_elsewhere(const char *symbol, bool is_lapack)
{
    const char *chosen = tb_option_text(TB_OPTION_HOST_BLAS);
    void *address = *chosen ? find_in_library(chosen, symbol) : NULL;
    if (address)
        return address;
    if (is_lapack)
        return find_in_libraries(tb_lapack_libraries, symbol);
    if (*chosen)
        return NULL;
    return find_in_libraries(TB_PLAIN_BITS == 64 ? tb_blas_libraries_64 : tb_blas_libraries_32, symbol);
}

/* ---- Standing in ------------------------------------------------------------------------------------- */

static void report(const char *routine, size_t length, int number)
{
    tb_log("%.*s: argument %d is irregular; the call does nothing", (int)length, routine, number);
}

/* Fortran's names are padded with blanks, and come from some C callers without their length, which is then
 * whatever was there before. */
static void report_fortran(const char *routine, const int *number, size_t length)
{
    enum { LONGEST = 32 };
    size_t limit = length > 0 && length < LONGEST ? length : LONGEST, end = 0;
    while (end < limit && (isalnum((unsigned char)routine[end]) || routine[end] == '_'))
        end++;
    report(routine, end, *number);
}

static void report_cblas(int number, const char *routine, const char *format, ...)
{
    (void)format;
    report(routine, strlen(routine), number);
}

/* Irregular arguments are reported even where no BLAS is there to do it: SGEMM's, and those that libraries
 * find which check arguments themselves. */
static void *stand_in(const char *symbol)
{
    if (strcmp(symbol, "xerbla_") == 0)
        return (void *)report_fortran;
    if (strcmp(symbol, "cblas_xerbla") == 0)
        return (void *)report_cblas;
    return (void *)tb_forward_missing;
}

/* ---- Answering --------------------------------------------------------------------------------------- */

static void tell(const char *symbol, const void *address)
{
    Dl_info host;
    if (address == (void *)tb_forward_missing)
        tb_log("%s: no library here has it; the call does nothing", symbol);
    else if (tb_option_value(TB_OPTION_VERBOSE) && dladdr(address, &host))
        tb_log("%s: calls go to %s", symbol, host.dli_fname);
}

void *tb_resolve_forwarded(uint32_t index)
{
    const int error = errno; /* the first call leaves it as later ones do */
    const char *symbol = tb_forward_names + tb_forward_offsets[index];
    tb_enter_linker();
    void *address = find_in_process(symbol);
    if (!address)
        address = find_elsewhere(symbol, index >= TB_FORWARD_BLAS_COUNT);
    if (!address)
        address = stand_in(symbol);
    void *nobody = NULL;
    if (atomic_compare_exchange_strong(&tb_forward_slots[index], &nobody, address))
        tell(symbol, address);
    else
        address = nobody;
    tb_leave_linker();
    errno = error;
    return address;
}
