/* Where the caller's own BLAS is looked for: where its references led before, in the process as the linker would, and in libraries that
 * the user or the machine has.
 *
 * An object is the program or a shared library in it. Whatever handles dlopen gives here are never closed: a BLAS that answers calls
 * must stay.
 */
#include "compat/host_search.h"

#include "compat/former.h"
#include "compat/forwarders.h"
#include "compat/host_libraries.h"
#include "compat/loaded_objects.h"
#include "lib/reports/options.h"

#include <dlfcn.h>
#include <string.h>

static void *find_symbol(void *library, const char *symbol)
{
    return library ? dlsym(library, symbol) : NULL; /* dlsym takes NULL for the whole process */
}

/* A call that a host is looked for. */
typedef struct question {
    tb_spelling spelling;
    const void *call_site;
    int bits;                      /* of its integers; 0 while nothing tells */
    const tb_host_blas *came_from; /* a host that we called and that called us, or NULL */
} question;

/* Whether a candidate in the object would hand the call back to us, or do nothing. */
static bool is_useless(const question *question, tb_spelling spelling, const tb_loaded_object *object,
                       const void *address)
{
    if (question->came_from && tb_find_position(question->came_from->address) == object->position)
        return true;
    if (tb_find_forwarder(question->call_site, tb_spelling_rows[spelling].symbol) == object->position)
        return true;
    return !tb_computes(spelling, address);
}

/* The width that a caller is taken to have when neither its name nor a host of its own tells. */
static int presumed_bits(int known_bits)
{
    return known_bits ? known_bits : 32;
}

/* Takes the definition of a spelling that the library, or what it depends on, has at or behind a position in load
 * order. It must not be TileBLAS's, nor come back to one, nor be of another integer width than demanded; 0 demands
 * none. */
static bool take(const question *question, void *library, tb_spelling spelling, int position,
                 int demanded_bits, tb_host_blas *host)
{
    const tb_spelling_row *row = &tb_spelling_rows[spelling];
    tb_loaded_object object;
    void *address = find_symbol(library, row->symbol);
    if (!address || !tb_find_object(address, &object) || object.is_tileblas || object.position < position)
        return false;
    /* Before anything else of it is called. */
    if (is_useless(question, spelling, &object, address))
        return false;
    int bits = row->integer_bits ? row->integer_bits : tb_probe_integer_bits(library);
    if (bits == 0)
        bits = 32;
    if (demanded_bits && bits != demanded_bits)
        return false;
    host->address = address;
    host->integer_bits = bits;
    return true;
}

/* Where references to us that were bound at run time led before. */
static bool search_former(const question *question, tb_kinship kinship, int demanded_bits, tb_host_blas *host)
{
    tb_loaded_object object;
    void *address = tb_former_target(kinship, question->spelling, question->call_site);
    return address && tb_find_object(address, &object) &&
           take(question, tb_open_object(&object), question->spelling, object.position, demanded_bits, host);
}

/* What the caller would have reached without TileBLAS. The linker's next definition is not visible from here
 * when the caller was opened RTLD_LOCAL and its BLAS is among its own dependencies; then the caller's object
 * is asked. */
static bool search_process(question *question, tb_host_blas *host)
{
    const char *symbol = tb_spelling_rows[question->spelling].symbol;
    tb_loaded_object object;
    int demanded_bits = question->bits;
    if (search_former(question, TB_OWN_REFERENCE, question->bits, host) ||
        search_former(question, TB_OWN_BLAS, question->bits, host))
        return true;
    void *address = dlsym(RTLD_NEXT, symbol);
    if (!address && tb_find_object(question->call_site, &object)) {
        address = find_symbol(tb_open_object(&object), symbol);
        demanded_bits = presumed_bits(question->bits);
    }
    if (!address || !tb_find_object(address, &object))
        return false;
    if (!object.is_tileblas &&
        take(question, tb_open_object(&object), question->spelling, object.position, question->bits, host))
        return true;
    if (object.is_tileblas && object.plain_bits && !question->bits)
        question->bits = demanded_bits = object.plain_bits;
    if (!object.is_tileblas)
        demanded_bits = presumed_bits(question->bits);

    /* Preloaded twice, or preloaded and linked, or installed as the system's BLAS; or a BLAS of another width, or a
     * forwarder in front of us: go on behind it, where the linker would have gone. Objects that the caller does
     * not see are among those that follow, so a host found for one caller's sake must have the width that this
     * caller has. */
    while (tb_find_object_at(object.position + 1, &object))
        if (!object.is_tileblas &&
            take(question, tb_open_object(&object), question->spelling, object.position, demanded_bits, host))
            return true;
    return false;
}

/* A library that the program did not ask for: under the caller's own spelling, or else under another one of
 * the same calling convention and integer width. */
static bool search_library(const char *name, const question *question, tb_host_blas *host)
{
    const tb_spelling spelling = question->spelling;
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (!library)
        return false;
    if (take(question, library, spelling, 0, question->bits, host))
        return true;
    for (tb_spelling other = 0; other < TB_SPELLING_COUNT; other++)
        if (tb_is_same_function(other, spelling) &&
            take(question, library, other, 0, presumed_bits(question->bits), host))
            return true;
    return false;
}

static bool search_well_known(question question, tb_host_blas *host)
{
    question.bits = presumed_bits(question.bits);
    for (const char *const *name = question.bits == 64 ? tb_blas_libraries_64 : tb_blas_libraries_32; *name;
         name++)
        if (search_library(*name, &question, host))
            return true;
    return false;
}

/* Of other callers, or of the machine. */
static bool search_elsewhere(question question, tb_host_blas *host)
{
    return search_former(&question, TB_OF_OTHERS, presumed_bits(question.bits), host) ||
           search_well_known(question, host);
}

/* Whether a call was made, under a name that the linker has bound to us, by the same routine of the other calling
 * convention: inside a BLAS. */
static bool is_nested(const question *question)
{
    Dl_info function;
    const tb_spelling_row *row = &tb_spelling_rows[question->spelling];
    /* A return address may be the first byte behind its function. */
    if (!dladdr((const char *)question->call_site - 1, &function) || !function.dli_sname)
        return false;
    for (tb_spelling spelling = 0; spelling < TB_SPELLING_COUNT; spelling++)
        if (tb_spelling_rows[spelling].routine == row->routine &&
            tb_spelling_rows[spelling].is_cblas != row->is_cblas &&
            strcmp(function.dli_sname, tb_spelling_rows[spelling].symbol) == 0)
            return tb_is_bound_to_tileblas(question->call_site, row->symbol);
    return false;
}

tb_host_blas tb_search_host(tb_spelling spelling, const void *call_site, const tb_host_blas *came_from,
                            bool *chosen_lacks_it)
{
    const tb_host called = {.called_as = tb_spelling_rows[spelling].symbol};
    tb_host_blas found = {.base = called, .spelling = spelling}, chosen_host = found;
    const int own_bits = tb_spelling_rows[spelling].integer_bits;
    question question = {spelling, call_site, own_bits ? own_bits : TB_PLAIN_BITS, came_from};
    const bool has_own = search_process(&question, &found);
    const char *chosen = tb_option_text(TB_OPTION_HOST_BLAS);
    if (has_own)
        question.bits = found.integer_bits;
    *chosen_lacks_it = *chosen && !search_library(chosen, &question, &chosen_host);
    if (*chosen && !*chosen_lacks_it)
        found = chosen_host;
    else if (!has_own && (*chosen || !search_elsewhere(question, &found)))
        found.integer_bits = presumed_bits(question.bits);
    found.nested = found.address && (came_from || is_nested(&question));
    return found;
}
