/* A preload library that measures how long a program is in linear algebra: in level 3 of BLAS and in LAPACK's drivers.
 *
 * Each counted name is a trampoline (count.S) that asks begin_call where to go on. Of a call that is made within
 * another counted one only that is asked. The outermost call of a thread gets another return address, so that
 * it comes back through end_call: nothing of its arguments has to be known. Bare names (dgemm) are not
 * counted: a program may have a function of its own that is called so.
 *
 * What is counted lies in the file of $JOBS_COUNT_FILE, which all processes of a job share, however they end:
 * those that it forks and those that it starts. run.py reads it.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* count.S stamps these from the list of names. */
extern const char jobs_names[];
extern const uint32_t jobs_offsets[];
extern void jobs_return(void);

enum { LEVEL3, LAPACK, EITHER, KINDS };

typedef struct record {
    char name[40];
    int64_t calls;
    int64_t thread_ns;
} record;

/* run.py reads the same fields in the same order. */
typedef struct counts {
    atomic_uint lock;
    uint32_t inside[KINDS];     /* threads that are in a call of this kind */
    int64_t since_ns[KINDS];    /* when the first of them began */
    int64_t wall_ns[KINDS];     /* time in which at least one thread was in a call */
    record records[JOBS_NAMES]; /* by the trampolines' index; without a name where never called */
} counts;
static counts *shared;

/* The outermost call of a thread. */
typedef struct outermost {
    const void *call_site; /* NULL: the thread is in no counted call */
    uint32_t index;
    int64_t began_ns;
} outermost;
static _Thread_local outermost outer __attribute__((tls_model("initial-exec")));

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

__attribute__((constructor)) static void share_counts(void)
{
    const char *path = getenv("JOBS_COUNT_FILE");
    const int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file < 0 || ftruncate(file, sizeof(counts)) != 0)
        return;
    void *memory = mmap(NULL, sizeof(counts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory != MAP_FAILED)
        shared = memory;
}

/* ---- Where a call goes on -------------------------------------------------------------------------------- */

static const char *name_of(uint32_t index)
{
    return jobs_names + jobs_offsets[index];
}

static const void *base_of(const void *address)
{
    Dl_info object;
    return dladdr(address, &object) ? object.dli_fbase : NULL;
}

static bool is_ours(const void *address)
{
    return base_of(address) == base_of((const void *)jobs_return);
}

/* Finds a name in an object that is loaded, or in what it depends on. */
static void *find_in(const char *path, const char *name)
{
    void *library = path && *path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *address = library ? dlsym(library, name) : NULL;
    if (library)
        dlclose(library);
    return address && !is_ours(address) ? address : NULL;
}

/* Finds what the linker would have bound the caller to: in the process, or in what the caller brings. A caller that was led
 * there by a function that jumps brings nothing: any object that has the name is the one. */
static void *search_target(const char *name, const void *call_site)
{
    Dl_info caller;
    void *address = dlsym(RTLD_NEXT, name);
    if (!address && dladdr(call_site, &caller))
        address = find_in(caller.dli_fname, name);
    for (struct link_map *object = _r_debug.r_map; object && !address; object = object->l_next)
        address = find_in(object->l_name, name);
    if (!address) {
        fprintf(stderr, "count: nobody in this process has %s\n", name);
        abort();
    }
    return address;
}

/* Call sites and what they lead to: open addressing, and never forgotten. */
enum { SITES = 1 << 14 };
static struct {
    _Atomic uintptr_t site; /* with the name's index; 0 where free */
    void *_Atomic target;
} sites[SITES];

static void *find_target(uint32_t index, const void *call_site)
{
    const uintptr_t site = (uintptr_t)call_site << 15 | index << 1 | 1; /* addresses have 47 bits */
    size_t at = (site * 0x9E3779B97F4A7C15u >> 40) % SITES;
    for (size_t step = 0; step < SITES; step++, at = (at + 1) % SITES) {
        uintptr_t found = 0;
        if (atomic_load(&sites[at].site) == 0) {
            void *target = search_target(name_of(index), call_site);
            if (atomic_compare_exchange_strong(&sites[at].site, &found, site))
                atomic_store(&sites[at].target, target);
            return target;
        }
        if (atomic_load(&sites[at].site) == site) {
            void *target = atomic_load(&sites[at].target);
            return target ? target : search_target(name_of(index), call_site);
        }
    }
    return search_target(name_of(index), call_site);
}

/* ---- Counting ---------------------------------------------------------------------------------------------- */

static void lock_counts(void)
{
    while (atomic_exchange_explicit(&shared->lock, 1, memory_order_acquire))
        sched_yield();
}

static void unlock_counts(void)
{
    atomic_store_explicit(&shared->lock, 0, memory_order_release);
}

static void enter(int kind, int64_t now)
{
    if (shared->inside[kind]++ == 0)
        shared->since_ns[kind] = now;
}

static void leave(int kind, int64_t now)
{
    if (--shared->inside[kind] == 0)
        shared->wall_ns[kind] += now - shared->since_ns[kind];
}

static int kind_of(uint32_t index)
{
    return index < JOBS_LEVEL3_NAMES ? LEVEL3 : LAPACK;
}

/* The target. Where the stack has the return address is told: of an outermost call it is exchanged. */
__attribute__((visibility("hidden"))) void *jobs_begin_call(uint32_t index, const void **return_address)
{
    /* What a counted function jumps to at its end comes back to us, too. */
    const bool is_jump = *return_address == (const void *)jobs_return;
    void *target = find_target(index, is_jump ? outer.call_site : *return_address);
    if (outer.call_site || !shared)
        return target;
    outer = (outermost){*return_address, index, now_ns()};
    *return_address = (const void *)jobs_return;
    lock_counts();
    enter(kind_of(index), outer.began_ns);
    enter(EITHER, outer.began_ns);
    unlock_counts();
    return target;
}

/* Where the caller goes on. */
__attribute__((visibility("hidden"))) const void *jobs_end_call(void)
{
    const void *call_site = outer.call_site;
    record *record = &shared->records[outer.index];
    lock_counts();
    const int64_t now = now_ns();
    leave(kind_of(outer.index), now);
    leave(EITHER, now);
    if (record->calls++ == 0)
        snprintf(record->name, sizeof record->name, "%s", name_of(outer.index));
    record->thread_ns += now - outer.began_ns;
    unlock_counts();
    outer.call_site = NULL;
    return call_site;
}
