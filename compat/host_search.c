/* Where the caller's own BLAS is looked for: where its references led before, in the process as the linker would, then in any of
 * its objects, by the name that was called and by other names of the same function, and at last in libraries that the machine
 * has.
 *
 * An object is the program or a shared library in it. Nothing is kept loaded for having called. What is found is, unless it lies
 * in the caller's own object: a BLAS that answers calls must stay. Handles of libraries that were loaded here are never closed.
 */
#include "compat/host_search.h"

#include "compat/definitions.h"
#include "compat/former.h"
#include "compat/forwarders.h"
#include "compat/host_libraries.h"
#include "compat/loaded_objects.h"
#include "lib/user/options.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* A call that a host is looked for. */
typedef struct question {
    tb_spelling spelling;
    const void *call_site;
    int bits;                      /* of its integers; 0 while nothing tells */
    const tb_host_blas *came_from; /* a host that we called and that called us, or NULL */
} question;

/* Whether a candidate would hand the call back to us, or do nothing. */
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

/* Takes a definition of a spelling. It must not be TileBLAS's, nor come back to one, nor be of another integer width than
 * demanded; 0 demands none. A function that is no BLAS's is taken as it is for calls of its very name. */
static bool take(const question *question, const void *address, tb_spelling spelling, int demanded_bits,
                 tb_host_blas *host)
{
    tb_loaded_object object;
    if (!address || !tb_find_object(address, &object) || object.is_tileblas)
        return false;
    const bool is_foreign = tb_is_foreign(spelling, address);
    if (is_foreign && spelling != question->spelling)
        return false;
    int bits = tb_spelling_rows[spelling].integer_bits;
    if (!is_foreign) {
        /* Before anything else of it is called. */
        if (is_useless(question, spelling, &object, address))
            return false;
        bits = bits ? bits : tb_probe_integer_bits(address);
        bits = presumed_bits(bits);
        if (demanded_bits && bits != demanded_bits)
            return false;
    }
    host->address = (void *)address;
    host->integer_bits = bits;
    host->is_foreign = is_foreign;
    return true;
}

/* Where references to us that were bound at run time led before. What has been loaded in its place is not that. */
static bool search_former(const question *question, tb_kinship kinship, int demanded_bits, tb_host_blas *host)
{
    const char *symbol = tb_spelling_rows[question->spelling].symbol;
    const void *address = tb_former_target(kinship, question->spelling, question->call_site);
    if (address && kinship == TB_OWN_BLAS)
        address = tb_first_definition(address, symbol).address;
    else if (address && tb_own_definition(address, symbol) != address)
        address = NULL;
    return take(question, address, question->spelling, demanded_bits, host);
}

/* Takes the nearest of a name's definitions that will do. Those that the linker might have reached for the caller may have
 * integers of any width; what is taken for one caller's sake from others must have the width that this one has, and was loaded
 * by the program: not the LAPACK, with a BLAS in it, that was loaded for us. */
static bool take_nearest(const question *question, tb_spelling spelling, bool of_others, int demanded_bits,
                         tb_host_blas *host)
{
    enum { ROOM = 32 };
    tb_definition *found = malloc(ROOM * sizeof *found);
    const char *symbol = tb_spelling_rows[spelling].symbol;
    const int count = found ? tb_find_definitions(symbol, question->call_site, found, ROOM) : 0;
    bool taken = false;
    for (int i = 0; i < count && !taken; i++)
        if (found[i].is_dependency || (of_others && !tb_is_loaded_for_us(found[i].address)))
            taken = take(question, found[i].address, spelling,
                         found[i].is_dependency ? question->bits : demanded_bits, host);
    free(found);
    return taken;
}

/* What the caller would have reached without TileBLAS. The linker's next definition is not visible from here when the caller was
 * opened RTLD_LOCAL and its BLAS is among its own dependencies; then these are gone through. Where what comes first will not do,
 * which may be another TileBLAS or a forwarder in front of us, the next one does. */
static bool search_reached(question *question, bool has_gemm, tb_host_blas *host)
{
    const char *symbol = tb_spelling_rows[question->spelling].symbol;
    tb_loaded_object object;
    if (search_former(question, TB_OWN_REFERENCE, question->bits, host) ||
        search_former(question, TB_OWN_BLAS, question->bits, host))
        return true;
    const void *first = dlsym(RTLD_NEXT, symbol);
    if (!first)
        first = tb_first_definition(question->call_site, symbol).address;
    if (!first || !tb_find_object(first, &object))
        return false;
    if (object.is_tileblas && !question->bits)
        question->bits = object.plain_bits;
    return take(question, first, question->spelling, question->bits, host) ||
           take_nearest(question, question->spelling, !has_gemm,
                        object.is_tileblas ? question->bits : presumed_bits(question->bits), host);
}

static bool search_other_names(const question *question, tb_host_blas *host)
{
    for (tb_spelling other = 0; other < TB_SPELLING_COUNT; other++)
        if (other != question->spelling && tb_is_same_function(other, question->spelling) &&
            take_nearest(question, other, true, presumed_bits(question->bits), host))
            return true;
    return false;
}

/* Under the caller's own spelling, or else under another one of the same calling convention and integer width, in a library
 * that the program did not ask for and what that depends on. */
static bool search_library(void *library, const question *question, tb_host_blas *host)
{
    const tb_spelling spelling = question->spelling;
    if (!library) /* dlsym takes NULL for the whole process */
        return false;
    if (take(question, dlsym(library, tb_spelling_rows[spelling].symbol), spelling, question->bits, host))
        return true;
    for (tb_spelling other = 0; other < TB_SPELLING_COUNT; other++)
        if (other != spelling && tb_is_same_function(other, spelling) &&
            take(question, dlsym(library, tb_spelling_rows[other].symbol), other,
                 presumed_bits(question->bits), host))
            return true;
    return false;
}

/* In objects that have nothing to do with the caller, which calls through a pointer perhaps; and in what was loaded with us,
 * which is the host of those that are linked with us. */
static bool search_unrelated(const question *question, tb_host_blas *host)
{
    const int bits = presumed_bits(question->bits);
    void *with_us = tb_libraries_with_us[TB_BLAS_WITH_US];
    const char *symbol = tb_spelling_rows[question->spelling].symbol;
    return search_former(question, TB_OF_OTHERS, bits, host) ||
           (with_us && take(question, dlsym(with_us, symbol), question->spelling, bits, host)) ||
           take_nearest(question, question->spelling, true, bits, host) ||
           search_library(with_us, question, host) || search_other_names(question, host);
}

/* In the object that has the caller's GEMM. */
static bool search_beside(const question *question, const void *gemm, tb_host_blas *host)
{
    const int bits = presumed_bits(question->bits);
    for (tb_spelling other = 0; other < TB_SPELLING_COUNT; other++)
        if (gemm && tb_is_same_function(other, question->spelling) &&
            take(question, tb_own_definition(gemm, tb_spelling_rows[other].symbol), other, bits, host))
            return true;
    return false;
}

static bool search_well_known(question question, tb_host_blas *host)
{
    question.bits = presumed_bits(question.bits);
    for (const char *const *name = question.bits == 64 ? tb_blas_libraries_64 : tb_blas_libraries_32; *name;
         name++)
        if (search_library(tb_load_library(*name), &question, host))
            return true;
    return false;
}

/* Whether a host stays. What lies in the caller's own object stays with that, which may go, unless it is a library that others
 * need. */
static bool keep(const void *address, const void *call_site)
{
    if (tb_is_kept(address))
        return true;
    const bool stays = tb_belongs_to_program(address);
    if (!stays && tb_is_same_object(address, call_site) && !tb_is_needed(address))
        return false;
    return tb_keep_object_of(address, stays);
}

/* Whether a call was made, under a name that the linker has bound to us, by the same routine of another calling
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
            !tb_is_same_function(spelling, question->spelling) &&
            strcmp(function.dli_sname, tb_spelling_rows[spelling].symbol) == 0)
            return tb_is_bound_to_tileblas(question->call_site, row->symbol);
    return false;
}

tb_host_blas tb_search_host(tb_spelling spelling, const void *call_site, const tb_host_blas *came_from,
                            const tb_host_blas *gemm, bool *chosen_lacks_it)
{
    const tb_host called = {.called_as = tb_spelling_rows[spelling].symbol};
    tb_host_blas found = {.base = called, .spelling = spelling}, chosen_host = found;
    const int own_bits = tb_spelling_rows[spelling].integer_bits;
    question question = {spelling, call_site, own_bits ? own_bits : TB_PLAIN_BITS, came_from};
    bool has_own = found.is_near = search_reached(&question, gemm != NULL, &found);
    if (!has_own)
        has_own =
            gemm ? search_beside(&question, gemm->address, &found) : search_unrelated(&question, &found);
    const char *chosen = tb_option_text(TB_OPTION_HOST_BLAS);
    if (has_own)
        question.bits = found.integer_bits;
    const bool is_chosen = *chosen && !found.is_foreign;
    *chosen_lacks_it = is_chosen && !search_library(tb_load_library(chosen), &question, &chosen_host);
    if (is_chosen && !*chosen_lacks_it) {
        found = chosen_host;
        found.is_near = true;
    }
    if (!found.address && (*chosen || gemm || !search_well_known(question, &found)))
        found.integer_bits = presumed_bits(question.bits);
    found.is_kept = found.address && keep(found.address, call_site);
    found.nested = found.address && (came_from || found.is_foreign || is_nested(&question));
    return found;
}
