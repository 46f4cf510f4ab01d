/* The host is loaded with the library that is linked, or installed as the system's BLAS: what links it would have had its BLAS
 * loaded at that moment, and may have no file system, no descriptor and no memory for one later, at its first call. LAPACK, too,
 * where the library has its names.
 *
 * Nothing is loaded where the process has a BLAS already, nor where nobody links it: a library that is preloaded
 * into everything, or opened, waits for calls.
 */
#include "compat/definitions.h"
#include "compat/host_libraries.h"
#include "lib/process/linker.h"
#include "lib/user/options.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

/* Nothing of a host is called: it may not be initialized yet. */
static bool is_anothers(const void *address)
{
    tb_loaded_object object;
    return address && tb_find_object(address, &object) && !object.is_tileblas;
}

/* Whether an object of the process defines the name. */
static bool is_there(const char *symbol)
{
    enum { ROOM = 16 };
    tb_definition found[ROOM];
    const int count = tb_find_definitions(symbol, NULL, found, ROOM);
    for (int i = 0; i < count; i++)
        if (!found[i].object.is_tileblas)
            return true;
    return false;
}

static void *load(const char *name, const char *symbol)
{
    void *library = tb_load_library(name);
    return library && is_anothers(dlsym(library, symbol)) ? library : NULL;
}

static void *load_first(const char *const *names, const char *symbol)
{
    void *library = NULL;
    for (; !library && *names; names++)
        library = load(*names, symbol);
    return library;
}

static void *load_blas(void)
{
    const char *chosen = tb_option_text(TB_OPTION_HOST_BLAS);
    if (*chosen)
        return load(chosen, "sgemm_");
    return load_first(TB_PLAIN_BITS == 64 ? tb_blas_libraries_64 : tb_blas_libraries_32, "sgemm_");
}

__attribute__((constructor)) static void load_hosts(void)
{
    const int error = errno;
    tb_enter_linker();
    if (tb_is_needed(tb_libraries_with_us)) {
        if (!is_there("sgemm_"))
            tb_libraries_with_us[TB_BLAS_WITH_US] = load_blas();
        if (TB_FORWARDS_LAPACK && !is_there("dgesv_"))
            tb_libraries_with_us[TB_LAPACK_WITH_US] = load_first(tb_lapack_libraries, "dgesv_");
    }
    tb_leave_linker();
    errno = error;
}
