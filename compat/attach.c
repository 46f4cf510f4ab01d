/* Attaching at run time: the references that loaded objects hold to the routines that are taken over are bound
 * anew, to this library, and back. It reaches what preloading cannot: programs that are running, and objects
 * opened RTLD_LOCAL or RTLD_DEEPBIND. The functions are those of include/tileblas.h.
 *
 * Which references are bound:
 *   - they have a name of compat/spellings.h, and are of no TileBLAS;
 *   - they hold the address of the function of that name in another object, which is no TileBLAS; or they are
 *     jump slots of a procedure linkage table that were never called through, and that is what the linker will find;
 *   - their object defines the routine under no spelling. One that does is a BLAS, or a forwarder: what it calls
 *     by these names is itself, or what it stands in front of.
 * All others are left alone: pointers that the program has set, functions that another tool has put in between,
 * stubs of the program that stand for a function (canonical entries of its procedure linkage table), through which
 * a call comes here by the program's own reference.
 *
 * A survey is taken holding the linker's list of objects. Minds are made up asking the linker, while a handle keeps the
 * object loaded. Words are written holding a lock of our own, asking nobody: so nobody who has the linker's
 * lock, in a constructor perhaps, waits for somebody who waits for it.
 */
#include "compat/definitions.h"
#include "compat/follow.h"
#include "compat/former.h"
#include "compat/forwarders.h"
#include "compat/survey.h"
#include "include/tileblas.h"
#include "lib/machine/calls.h"
#include "lib/process/leaving.h"
#include "lib/process/linker.h"
#include "lib/process/lock.h"
#include "lib/process/threads.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The functions that this library exports, whatever the process takes their names for. */
#define DECLARE_ENTRY(ROUTINE, symbol, bits)   extern void tb_entry_##symbol(void);
#define ENTRY(ROUTINE, symbol, bits)           (void *)tb_entry_##symbol,
#define TB_ROUTINE(NAME, name, CLASS, element) TB_SPELLINGS_OF(DECLARE_ENTRY, DECLARE_ENTRY, NAME, name)
#define TB_LAPACK_ROUTINE(NAME, name, CLASS, element)                                                        \
    TB_LAPACK_SPELLINGS_OF(DECLARE_ENTRY, DECLARE_ENTRY, DECLARE_ENTRY, NAME, name)
#include "words/routines.def"
#undef TB_ROUTINE
static void *const entries[TB_SPELLING_COUNT] = {
#define TB_ROUTINE(NAME, name, CLASS, element)        TB_SPELLINGS_OF(ENTRY, ENTRY, NAME, name)
#define TB_LAPACK_ROUTINE(NAME, name, CLASS, element) TB_LAPACK_SPELLINGS_OF(ENTRY, ENTRY, ENTRY, NAME, name)
#include "words/routines.def"
#undef TB_ROUTINE
};

/* ---- What a reference leads to --------------------------------------------------------------------------- */

/* Not a stub of the program that stands for a function of another object. */
static bool is_definition(const void *address)
{
    Dl_info object;
    const ElfW(Sym) *symbol = NULL;
    return dladdr1(address, &object, (void **)&symbol, RTLD_DL_SYMENT) &&
           (!symbol || symbol->st_shndx != SHN_UNDEF);
}

/* Under any spelling. A function of its own that is no BLAS's does not count. */
static bool defines_routine(const tb_surveyed_object *object, void *handle, tb_routine routine)
{
    for (tb_spelling spelling = 0; spelling < TB_SPELLING_COUNT; spelling++) {
        const tb_spelling_row *row = &tb_spelling_rows[spelling];
        void *address = row->routine == routine ? dlsym(handle, row->symbol) : NULL;
        if (address && tb_lies_within(&object->extent, (uintptr_t)address) && is_definition(address) &&
            !tb_is_foreign(spelling, address))
            return true;
    }
    return false;
}

/* Whether the address is that of the spelling's function in an object that is no TileBLAS, and of BLAS. */
static bool is_anothers(tb_spelling spelling, uintptr_t target)
{
    const void *address = (void *)target;
    tb_loaded_object object;
    return tb_find_object(address, &object) && !object.is_tileblas &&
           tb_own_definition(address, tb_spelling_rows[spelling].symbol) == address &&
           !tb_is_foreign(spelling, address);
}

/* For a jump slot that was never called through: what the linker will find, or 0. Where the whole process sees another definition
 * than the object brings, or a stub of the program's, only the linker knows, and is made to tell: by a call that
 * computes nothing of the program's. */
static uintptr_t foresee_target(const tb_surveyed_object *object, void *handle,
                                const tb_surveyed_reference *reference)
{
    const char *symbol = tb_spelling_rows[reference->spelling].symbol;
    const uintptr_t entrance = __atomic_load_n(reference->word, __ATOMIC_ACQUIRE);
    void *process = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
    void *seen = process ? dlsym(process, symbol) : NULL, *own = dlsym(handle, symbol);
    if (process)
        dlclose(process);
    void *address = seen ? seen : own;
    if (!address || (seen && tb_is_foreign(reference->spelling, seen)) ||
        (own && tb_is_foreign(reference->spelling, own)))
        return 0;
    const bool is_certain = (!seen || !own || seen == own) && is_definition(address);
    if (!is_certain && tb_lies_within(&object->extent, entrance))
        tb_call_once(reference->spelling, (void *)entrance);
    const uintptr_t found = __atomic_load_n(reference->word, __ATOMIC_ACQUIRE);
    if (!tb_lies_within(&object->extent, found))
        return found;
    return (uintptr_t)address;
}

/* 0 where the reference is to be left alone. */
static uintptr_t find_target(const tb_surveyed_object *object, void *handle,
                             const tb_surveyed_reference *reference)
{
    /* The library whose plain names have 64 bits takes no caller's width. */
    if (TB_PLAIN_BITS && tb_spelling_rows[reference->spelling].integer_bits == 0)
        return 0;
    uintptr_t target = __atomic_load_n(reference->word, __ATOMIC_ACQUIRE);
    if (target == (uintptr_t)entries[reference->spelling] ||
        defines_routine(object, handle, tb_spelling_rows[reference->spelling].routine))
        return 0;
    if (tb_lies_within(&object->extent, target))
        target = reference->is_jump_slot ? foresee_target(object, handle, reference) : 0;
    return target && is_anothers(reference->spelling, target) ? target : 0;
}

/* ---- Writing ---------------------------------------------------------------------------------------------- */

/* Two threads do not open and close the same page. */
static tb_lock writing;

/* In a forked child the thread that had it is not there. A page may be left open, and nothing is half written. */
static void free_in_child(void)
{
    atomic_store(&writing.owner, 0);
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, free_in_child);
}

/* Whether the word held that and now holds this. */
static bool exchange(const tb_surveyed_object *object, uintptr_t *word, uintptr_t that, uintptr_t this)
{
    const uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE), page = (uintptr_t)word / size * size;
    const bool is_read_only = tb_lies_within(&object->read_only, page);
    if (is_read_only && mprotect((void *)page, size, PROT_READ | PROT_WRITE) != 0)
        return false;
    const bool exchanged =
        __atomic_compare_exchange_n(word, &that, this, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    if (is_read_only)
        mprotect((void *)page, size, PROT_READ);
    return exchanged;
}

/* The former target is known before the first call can arrive. */
static bool bind(const tb_surveyed_object *object, const tb_surveyed_reference *reference, uintptr_t target)
{
    const uintptr_t entry = (uintptr_t)entries[reference->spelling];
    const uintptr_t before = __atomic_load_n(reference->word, __ATOMIC_ACQUIRE);
    const tb_former *newest = tb_find_former(reference->word);
    if (before == entry)
        return newest != NULL;
    const tb_former former = {reference->word, reference->spelling, target, before, NULL};
    const bool is_known =
        newest && newest->spelling == former.spelling && newest->target == target && newest->before == before;
    if (before != target && !tb_lies_within(&object->extent, before))
        return false;
    return (is_known || tb_keep_former(&former)) && exchange(object, reference->word, before, entry);
}

static bool is_bound(const tb_surveyed_reference *reference)
{
    return __atomic_load_n(reference->word, __ATOMIC_ACQUIRE) == (uintptr_t)entries[reference->spelling] &&
           tb_find_former(reference->word);
}

/* How many references of the object are bound then. */
static int attach_object(const tb_surveyed_object *object, const tb_surveyed_reference *references)
{
    int bound = 0;
    void *handle = tb_hold_object(object);
    for (int i = 0; handle && i < object->count; i++) {
        const tb_surveyed_reference *reference = &references[object->first + i];
        if (is_bound(reference)) {
            bound++;
            continue;
        }
        const uintptr_t target = find_target(object, handle, reference);
        if (!target) {
            bound += is_bound(reference); /* by another thread, meanwhile */
            continue;
        }
        tb_take_lock(&writing);
        /* The linker may have filled a jump slot in between, at its first call: once. Nobody has detached meanwhile. */
        bound +=
            atomic_load(&tb_follows) && (bind(object, reference, target) || bind(object, reference, target));
        tb_free_lock(&writing);
    }
    if (handle)
        dlclose(handle);
    return bound;
}

/* How many references of the object were bound back. */
static int detach_object(const tb_surveyed_object *object, const tb_surveyed_reference *references)
{
    int restored = 0;
    void *handle = tb_hold_object(object);
    for (int i = 0; handle && i < object->count; i++) {
        const tb_surveyed_reference *reference = &references[object->first + i];
        if (!is_bound(reference))
            continue;
        const tb_former *former = tb_find_former(reference->word);
        /* Not so where this is another object than that which was bound here, and the linker has bound it to us. */
        if (former->spelling != reference->spelling || !is_anothers(reference->spelling, former->target))
            continue;
        tb_take_lock(&writing);
        restored +=
            exchange(object, reference->word, (uintptr_t)entries[reference->spelling], former->before);
        tb_free_lock(&writing);
    }
    if (handle)
        dlclose(handle);
    return restored;
}

/* ---- One TileBLAS a process ------------------------------------------------------------------------------- */

static void *find_function(const tb_surveyed_object *object, void *handle, const char *name)
{
    void *address = dlsym(handle, name);
    return address && tb_lies_within(&object->extent, (uintptr_t)address) ? address : NULL;
}

/* The first TileBLAS of the process that can attach; NULL where none says so. One whose plain names have a width of
 * their own takes those of no caller. */
static const tb_surveyed_object *find_leader(const tb_survey *survey)
{
    for (int i = 0; i < survey->object_count; i++) {
        const tb_surveyed_object *object = &survey->objects[i];
        void *handle = object->is_tileblas && object->plain_bits == 0 ? tb_hold_object(object) : NULL;
        const bool can_attach = handle && find_function(object, handle, "tileblas_attach");
        if (handle)
            dlclose(handle);
        if (can_attach)
            return object;
    }
    return NULL;
}

static bool is_this_one(const tb_surveyed_object *object)
{
    return tb_lies_within(&object->extent, (uintptr_t)entries);
}

static int call_leader(const tb_surveyed_object *leader, const char *name)
{
    union {
        void *address;
        int (*function)(void);
    } found = {NULL};
    void *handle = tb_hold_object(leader);
    if (handle)
        found.address = find_function(leader, handle, name);
    const int count = found.address ? found.function() : -1;
    if (handle)
        dlclose(handle);
    return count;
}

/* ---- The functions of tileblas.h ---------------------------------------------------------------------------- */

/* Around a survey and what follows from it. A thread that left by a jump would leave the linker's lock taken. */
typedef struct visit {
    tb_call call;
    sigset_t signals;
    unsigned long long loaded; /* objects, all of which the survey has seen */
    tb_survey survey;
    const tb_surveyed_object *leader; /* of the process's TileBLAS another one that does the work, or NULL */
} visit;

static bool begin_visit(visit *visit)
{
    tb_begin_call(&visit->call);
    tb_hold_signals(&visit->signals);
    tb_enter_linker();
    visit->survey = (tb_survey){0};
    visit->leader = NULL;
    if (!tb_linker_answers())
        return false;
    visit->loaded = tb_count_changes().loaded;
    visit->survey = tb_make_survey();
    if (visit->survey.failed)
        return false;
    visit->leader = find_leader(&visit->survey);
    return true;
}

static void end_visit(visit *visit)
{
    tb_free_survey(&visit->survey);
    tb_leave_linker();
    tb_let_signals(&visit->signals);
    tb_end_call(&visit->call);
}

static bool attach_to_others(void);

/* What the last look found: objects that hold references which are bound. */
static atomic_int attached_objects;

/* follows: objects that are loaded later are to be bound, too. */
static int go_through_objects(const char *name, bool follows,
                              int work(const tb_surveyed_object *object,
                                       const tb_surveyed_reference *references))
{
    visit visit;
    int count = 0, holders = 0;
    if (!begin_visit(&visit))
        count = -1;
    else if (visit.leader && !is_this_one(visit.leader)) {
        count = call_leader(visit.leader, name);
        holders = call_leader(visit.leader, "tileblas_attached_objects");
    } else {
        if (follows)
            tb_begin_following(visit.loaded, attach_to_others);
        for (int i = 0; i < visit.survey.object_count; i++) {
            const int of_object = work(&visit.survey.objects[i], visit.survey.references);
            count += of_object;
            holders += of_object > 0;
        }
    }
    end_visit(&visit);
    if (work == attach_object && count >= 0)
        atomic_store(&attached_objects, holders > 0 ? holders : 0);
    return count;
}

static bool attach_to_others(void)
{
    return go_through_objects("tileblas_attach", false, attach_object) >= 0;
}

/* When this returns, nobody binds any more. */
static void end_binding(void)
{
    tb_call call;
    tb_begin_call(&call);
    tb_take_lock(&writing);
    tb_end_following();
    tb_free_lock(&writing);
    tb_end_call(&call);
}

int tileblas_attach(void)
{
    tb_stay_loaded(); /* calls will arrive here whether or not somebody closes the library */
    return go_through_objects("tileblas_attach", true, attach_object);
}

int tileblas_detach(void)
{
    end_binding();
    return go_through_objects("tileblas_detach", false, detach_object);
}

int tileblas_attached_objects(void)
{
    return atomic_load(&attached_objects);
}

size_t tileblas_runtime(char *path, size_t size)
{
    visit visit;
    Dl_info self;
    const char *found = NULL;
    if (begin_visit(&visit) && visit.leader && *visit.leader->path)
        found = visit.leader->path;
    else if (tb_linker_answers() && dladdr((void *)entries, &self))
        found = self.dli_fname;
    const int length = snprintf(path, size, "%s", found ? found : "");
    end_visit(&visit);
    return length > 0 ? (size_t)length : 0;
}
