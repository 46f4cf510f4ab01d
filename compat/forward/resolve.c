/* Who answers to a forwarded name: the library of TILEBLAS_HOST_BLAS, or else what the program would have reached
 * without TileBLAS, or else a well-known library. Asked once per name, on its first call; one process has one answer.
 *
 * No lock is held, and no thread waits for another: threads that ask at the same time find the same, and the
 * first to say so is believed.
 */
#include "compat/definitions.h"
#include "compat/forward/forward.h"
#include "compat/forwarders.h"
#include "compat/host_libraries.h"
#include "compat/loaded_objects.h"
#include "lib/process/callers_state.h"
#include "lib/process/linker.h"
#include "lib/user/log.h"
#include "lib/user/options.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- Finding ---------------------------------------------------------------------------------------- */

/* A call that somebody must answer. */
typedef struct question {
    const char *symbol;
    const void *call_site;
    int forwarder; /* the position of one that handed the call over, or -1 */
} question;

/* Whether the integers of the library that has an address are as wide as this library's names promise, where they promise
 * anything. One that has no isamax to ask has no vectors and matrices to count, but an error handler perhaps. */
static bool has_width(const void *address, int promised)
{
    const int bits = promised ? tb_probe_integer_bits(address) : 0;
    return bits == 0 || bits == promised;
}

/* Whether an object hands this call, or others, to us. What a call shows that comes from a forwarder is
 * enough: it may be on its way up, as libblastrampoline is when it tries out its library, and its other names
 * not be ready to be called, which a BLAS that is asked may do. Of others it is their GEMM that shows it. */
static bool leads_back(const question *question, const tb_loaded_object *object, const void *address)
{
    if (question->forwarder >= 0)
        return object->position == question->forwarder;
    return !tb_object_computes(address);
}

/* A TileBLAS's does not answer, nor one of another width than the promised one (0: any), nor what leads back to us. */
static bool may_answer(const question *question, const void *address, int promised)
{
    tb_loaded_object object;
    return address && tb_find_object(address, &object) && !object.is_tileblas &&
           !leads_back(question, &object, address) && has_width(address, promised);
}

/* The definition that a library, or what it depends on, has. */
static void *find_in(void *library, const question *question)
{
    void *address = library ? dlsym(library, question->symbol) : NULL;
    return may_answer(question, address, TB_PLAIN_BITS) ? address : NULL;
}

/* The one of all objects that the program has loaded which is nearest to the caller; one process has one answer, so that
 * its width must be the usual one. Those that the linker has behind its next definition may be of any. */
static void *find_nearest(const question *question, const void *next)
{
    enum { ROOM = 32, USUAL_BITS = TB_PLAIN_BITS ? TB_PLAIN_BITS : 32 };
    tb_definition *found = malloc(ROOM * sizeof *found);
    const int count = found ? tb_find_definitions(question->symbol, question->call_site, found, ROOM) : 0;
    const void *address = NULL;
    for (int i = 0; i < count && !address; i++)
        if (!tb_is_loaded_for_us(found[i].address) &&
            may_answer(question, found[i].address, next ? TB_PLAIN_BITS : USUAL_BITS))
            address = found[i].address;
    free(found);
    return (void *)address;
}

/* A program's own error handler wins whatever is chosen. */
static bool is_error_handler(const char *symbol)
{
    return strcmp(symbol, "xerbla_") == 0 || strcmp(symbol, "cblas_xerbla") == 0;
}

/* The linker's next definition, or what was loaded with us, or whoever has one. */
static void *find_in_process(const question *question, bool is_lapack)
{
    void *next = dlsym(RTLD_NEXT, question->symbol);
    if (may_answer(question, next, TB_PLAIN_BITS))
        return next;
    if (next)
        return find_nearest(question, next);
    void *address = find_in(tb_libraries_with_us[is_lapack], question);
    /* Nobody is asked of a forwarder's call whether it leads back, so that whoever is there may be the next forwarder. */
    if (address || question->forwarder >= 0 || is_error_handler(question->symbol))
        return address;
    return find_nearest(question, NULL);
}

static void *find_in_library(const char *name, const question *question)
{
    return find_in(tb_load_library(name), question);
}

static void *find_in_libraries(const char *const *names, const question *question)
{
    void *address = NULL;
    for (; !address && *names; names++)
        address = find_in_library(*names, question);
    return address;
}

/* In the library of HOST_BLAS. It comes before what the process has, but not with integers of another width. */
static void *find_chosen(const question *question, const void *own)
{
    const char *chosen = tb_option_text(TB_OPTION_HOST_BLAS);
    void *address = *chosen ? find_in_library(chosen, question) : NULL;
    if (!address || !own)
        return address;
    const int bits = tb_probe_integer_bits(address), own_bits = tb_probe_integer_bits(own);
    return bits == 0 || own_bits == 0 || bits == own_bits ? address : NULL;
}

/* HOST_BLAS replaces the well-known BLAS, but not every BLAS has a LAPACK in it. */
static void *find_well_known(const question *question, bool is_lapack)
{
    if (is_lapack)
        return find_in_libraries(tb_lapack_libraries, question);
    if (*tb_option_text(TB_OPTION_HOST_BLAS))
        return NULL;
    return find_in_libraries(TB_PLAIN_BITS == 64 ? tb_blas_libraries_64 : tb_blas_libraries_32, question);
}

static void *find_answer(const question *question, bool is_lapack)
{
    void *own = find_in_process(question, is_lapack);
    if (own && is_error_handler(question->symbol))
        return own;
    void *chosen = find_chosen(question, own);
    if (chosen)
        return chosen;
    return own ? own : find_well_known(question, is_lapack);
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

/* Whether a name stands for a computation, whose caller cannot go on without it; not for what controls a library
 * or reports an error, which can be left undone. */
static bool is_computation(const char *symbol)
{
    return strncmp(symbol, "openblas_", 9) != 0 && strncmp(symbol, "goto_", 5) != 0 &&
           !strstr(symbol, "xerbla");
}

/* Irregular arguments are reported even where no BLAS is there to do it: the taken-over routines', and those
 * that libraries find which check arguments themselves. */
static void *stand_in(const char *symbol)
{
    if (strcmp(symbol, "xerbla_") == 0)
        return (void *)report_fortran;
    if (strcmp(symbol, "cblas_xerbla") == 0)
        return (void *)report_cblas;
    return (void *)tb_forward_missing;
}

/* The file of the object that an address lies in, as the dynamic linker names it; NULL when it lies in none. */
static const char *file_of(const void *address)
{
    Dl_info object;
    return dladdr(address, &object) ? object.dli_fname : NULL;
}

/* Had the program been linked with a library that lacks the name, the dynamic linker would end it just so: this
 * line, status 127, no exit handler. An answer that nobody has computed would be worse. */
static _Noreturn void end_as_the_linker_does(const question *question)
{
    const char *file = file_of(question->call_site);
    const char *words[] = {
        program_invocation_name, ": symbol lookup error: ", file ? file : file_of(tb_forward_names),
        ": undefined symbol: ",  question->symbol,          "\n"};
    enum { WORDS = sizeof words / sizeof *words };
    struct iovec line[WORDS];
    for (int i = 0; i < WORDS; i++)
        line[i] = (struct iovec){(void *)(words[i] ? words[i] : ""), words[i] ? strlen(words[i]) : 0};
    ssize_t written = writev(STDERR_FILENO, line, WORDS);
    (void)written;
    _exit(127);
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

/* The name's target from now on: the answer, or one that another thread has found before. */
static void *keep(uint32_t index, const char *symbol, void *answer)
{
    void *kept = NULL;
    if (!atomic_compare_exchange_strong(&tb_forward_targets[index], &kept, answer))
        return kept;
    tell(symbol, answer);
    return answer;
}

void *tb_resolve_forwarded(uint32_t index, const void *call_site)
{
    tb_callers_state state; /* the first call leaves it as later ones do */
    if (tb_notice_width_question())
        return (void *)tb_forward_missing;
    tb_set_state_aside(&state);
    tb_enter_linker();
    const char *symbol = tb_forward_names + tb_forward_offsets[index];
    const question question = {symbol, call_site, tb_find_forwarder(call_site, symbol)};
    void *answer = find_answer(&question, index >= TB_FORWARD_BLAS_COUNT);
    if (!answer && is_computation(question.symbol) && !tb_is_probing())
        end_as_the_linker_does(&question);
    if (!answer)
        answer = stand_in(question.symbol);
    if (!tb_is_probing())
        answer = keep(index, question.symbol, answer);
    tb_leave_linker();
    tb_put_state_back(&state);
    return answer;
}
