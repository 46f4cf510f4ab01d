/* What happens between two steps of the library's when it binds: others fork, detach, load and close. The functions that it calls
 * then are this program's own, which have that happen.
 */
#include "tests/attach/attach.h"
#include "tests/sim/children.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { CHILD_SECONDS = 20 };

/* What happens when the library starts a thread, in place of that if it returns true; NULL: nothing. */
static bool (*at_new_thread)(void);

static int (*own_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static int (*own_close)(void *);
static void *(*own_open)(const char *, int);

/* Own functions are found at the start: the linker is not asked while a constructor has its lock. */
__attribute__((constructor)) static void find_own(void)
{
    *(void **)&own_create = dlsym(RTLD_NEXT, "pthread_create");
    *(void **)&own_close = dlsym(RTLD_NEXT, "dlclose");
    *(void **)&own_open = dlsym(RTLD_NEXT, "dlopen");
}

/* The library's threads are made by this, too. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *), void *argument)
{
    return at_new_thread && at_new_thread() ? EAGAIN : own_create(thread, attributes, work, argument);
}

static int refused;

static bool refuse(void)
{
    refused++;
    return true;
}

/* Where no thread can be had, the objects are found by a later call. */
static void followed_without_thread(void)
{
    const module first = open_first();
    check_number(tileblas.attach(), REFERENCES, "attach: bound");
    check_call(&tileblas, &first, false, true, "whose BLAS is known by that");
    const module second = open_module(modules[2], modules[3], ON_ITS_OWN);
    let_time_pass();
    at_new_thread = refuse;
    check_call(&tileblas, &first, false, true, "without a thread");
    at_new_thread = NULL;
    CHECK(refused == 1, "%d threads were asked for", refused);
    check_calls(&tileblas, &second, false, "without a thread");
    let_time_pass();
    check_call(&tileblas, &first, false, true, "with one");
    check_calls(&tileblas, &second, true, "found by a later call");
}

static sem_t at_fork, forked;

static bool wait_for_fork(void)
{
    at_new_thread = NULL;
    sem_post(&at_fork);
    sem_wait(&forked);
    return false;
}

static void *call_meanwhile(void *first)
{
    check_call(&tileblas, first, false, true, "beside a fork");
    return NULL;
}

/* A child that is forked while its parent is about to bind follows for itself. */
static void followed_fork(void)
{
    const module first = open_first();
    pthread_t caller;
    check_number(tileblas.attach(), REFERENCES, "attach: bound");
    check_call(&tileblas, &first, false, true, "whose BLAS is known by that");
    const module second = open_module(modules[2], modules[3], ON_ITS_OWN);
    let_time_pass();
    sem_init(&at_fork, 0, 0);
    sem_init(&forked, 0, 0);
    at_new_thread = wait_for_fork;
    own_create(&caller, NULL, call_meanwhile, (void *)&first);
    sem_wait(&at_fork);
    const pid_t child = fork();
    if (child == 0) {
        let_time_pass();
        first.errors(false, SIZE);
        const int before = count_of_library(&tileblas);
        CHECK(second.errors(false, SIZE) == 0, "wrong in a child");
        CHECK(count_of_library(&tileblas) == before + 1, "a child does not follow");
        _exit(check_result());
    }
    sem_post(&forked);
    pthread_join(caller, NULL);
    CHECK(child_wait(child, CHILD_SECONDS) == CHILD_RIGHT, "the child has failed");
    check_calls(&tileblas, &second, true, "found by the parent");
}

static atomic_bool stops_at_page;

/* The library's, when it opens a page to bind a reference there. */
int mprotect(void *address, size_t bytes, int protection)
{
    if (atomic_exchange(&stops_at_page, false))
        wait_for_fork();
    return (int)syscall(SYS_mprotect, address, bytes, protection);
}

static void *attach_meanwhile(void *unused)
{
    check_number(tileblas.attach(), REFERENCES, "attach: bound");
    return unused;
}

/* A child that is forked while its parent binds, for longer than a fork waits, knows nothing of the linker, and says so. */
static void forked_when_binding(void)
{
    const module first = open_first();
    pthread_t attacher;
    sem_init(&at_fork, 0, 0);
    sem_init(&forked, 0, 0);
    stops_at_page = true;
    pthread_create(&attacher, NULL, attach_meanwhile, NULL);
    sem_wait(&at_fork);
    const pid_t child = fork();
    if (child == 0) {
        CHECK(first.errors(false, SIZE) == 0, "wrong in a child");
        const int bound = tileblas.attach(), restored = tileblas.detach();
        CHECK(bound == -1 && restored == -1, "a child has bound %d and restored %d", bound, restored);
        CHECK(first.errors(true, SIZE) == 0, "wrong in a child");
        _exit(check_result());
    }
    sem_post(&forked);
    pthread_join(attacher, NULL);
    const child_end end = child_wait(child, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "the child was %s", child_end_text(end));
    check_calls(&tileblas, &first, true, "attached");
    check_number(tileblas.detach(), REFERENCES, "detach: restored");
}

static _Thread_local int stops_at_close; /* the how manieth one; 0: at none */
static sem_t at_close, detached;

/* The library's, when it has found what a reference leads to. */
int dlclose(void *handle)
{
    if (stops_at_close > 0 && --stops_at_close == 0) {
        sem_post(&at_close);
        sem_wait(&detached);
    }
    return own_close(handle);
}

static void *attach_slowly(void *unused)
{
    stops_at_close = 2; /* the first one is of the library itself, which attaches then */
    check_number(tileblas.attach(), 0, "attach, too late: bound");
    return unused;
}

/* Who is about to bind when another thread detaches, binds nothing any more. */
static void detached_when_binding(void)
{
    const module module = open_first();
    pthread_t attacher;
    sem_init(&at_close, 0, 0);
    sem_init(&detached, 0, 0);
    pthread_create(&attacher, NULL, attach_slowly, NULL);
    sem_wait(&at_close);
    check_number(tileblas.detach(), 0, "nobody is bound yet: restored");
    sem_post(&detached);
    pthread_join(attacher, NULL);
    check_number(tileblas.detach(), 0, "nobody is bound: restored");
    check_calls(&tileblas, &module, false, "detached");
}

static void *moved; /* a module that is to be opened at another place, or NULL */

static void move_module(void)
{
    struct link_map *map;
    dlinfo(moved, RTLD_DI_LINKMAP, &map);
    void *const base = (void *)map->l_addr;
    own_open(modules[1], RTLD_LAZY); /* it stays, and does not come to lie there */
    own_close(moved);
    CHECK(mmap(base, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == base,
          "the module's place is taken");
    moved = NULL;
    own_open(modules[0], ON_ITS_OWN);
}

/* The library's, when it wants to hold an object that it has seen. */
void *dlopen(const char *path, int mode)
{
    if (moved && path && strcmp(path, modules[0]) == 0)
        move_module();
    return own_open(path, mode);
}

/* A module is closed, and opened at another place, between the look at it and the binding. */
static void moved_meanwhile(void)
{
    module module = open_first();
    moved = module.handle;
    check_number(tileblas.attach(), 0, "attach to a module that is gone: bound");
    CHECK(!moved, "the module was not moved");
    module = open_first();
    check_number(tileblas.attach(), REFERENCES, "attach: bound");
    check_calls(&tileblas, &module, true, "attached");
}

static const module *waiting;

static void *multiply(void *unused)
{
    check_call(&tileblas, waiting, false, true, "while a library is loaded");
    return unused;
}

/* The constructor of waiting.c calls it. */
void multiply_beside(void);
void multiply_beside(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, multiply, NULL);
    pthread_join(thread, NULL);
    waiting = NULL;
}

/* A constructor waits for a thread that multiplies: it does not wait for ever. */
static void followed_constructor(void)
{
    const module first = open_first();
    check_number(tileblas.attach(), REFERENCES, "attach: bound");
    check_call(&tileblas, &first, false, true, "whose BLAS is known by that");
    let_time_pass();
    waiting = &first;
    CHECK(dlopen(modules[2], RTLD_NOW | RTLD_LOCAL) && !waiting, "the constructor has not waited");
    const module second = open_module(modules[3], modules[4], ON_ITS_OWN);
    let_time_pass();
    check_call(&tileblas, &first, false, true, "after the constructor");
    check_calls(&tileblas, &second, true, "found by the next call");
}

int main(int argc, char **argv)
{
    static const scenario scenarios[] = {
        {"followed_without_thread", followed_without_thread},
        {"followed_fork", followed_fork},
        {"forked_when_binding", forked_when_binding},
        {"detached_when_binding", detached_when_binding},
        {"moved_meanwhile", moved_meanwhile},
        {"followed_constructor", followed_constructor},
    };
    return run_scenario(argc, argv, scenarios, sizeof scenarios / sizeof *scenarios);
}
