/* Attaching to modules that preloading would not reach, and detaching from them.
 *
 *   attach SCENARIO TILEBLAS MODULE BLAS [MODULE BLAS]
 *
 * TILEBLAS is opened by this program; the module (caller.c) is linked with its BLAS (tests/abi/fixture_blas.c) and opened
 * RTLD_LOCAL and RTLD_DEEPBIND. TILEBLAS_ROUTE says where products are to go.
 */
#include "tests/attach/process.h"
#include "tests/sim/children.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static library tileblas;
static char **modules; /* and their BLAS */

/* References of a module: two by its procedure linkage table or its global offset table, and two in its data. */
enum { REFERENCES = 4, CHILD_SECONDS = 20 };

static module open_first(void)
{
    return open_module(modules[0], modules[1], ON_ITS_OWN);
}

static void check_number(int count, int expected, const char *what)
{
    CHECK(count == expected, "%s %d references instead of %d", what, count, expected);
}

/* Every word and every page is as it was. */
static void check_same(const picture *before, const module *module, const char *when)
{
    picture *now = take_picture(module);
    const int different = compare_pictures(before, now);
    CHECK(different == 0, "%s: %d words are not as they were", when, different);
    CHECK(strcmp(before->maps, now->maps) == 0, "%s: mapped\n%s instead of\n%s", when, now->maps,
          before->maps);
    free(now);
}

/* ---- One module ---------------------------------------------------------------------------------------------- */

static void there_and_back(void)
{
    const module module = open_first();
    check_calls(&tileblas, &module, false, "before attaching");
    picture *before = take_picture(&module);
    for (int round = 0; round < 3; round++) {
        check_number(tileblas.attach(), REFERENCES, "attach: bound");
        picture *attached = take_picture(&module);
        check_number(compare_pictures(before, attached), REFERENCES, "attached: changed");
        CHECK(strcmp(before->maps, attached->maps) == 0, "attached: mapped\n%s", attached->maps);
        free(attached);
        check_calls(&tileblas, &module, true, "attached");
        check_number(tileblas.attach(), REFERENCES, "attached again: bound");
        check_number(tileblas.detach(), REFERENCES, "detach: restored");
        check_same(before, &module, "detached");
        check_number(tileblas.detach(), 0, "detached again: restored");
        check_calls(&tileblas, &module, false, "detached");
    }
    free(before);
}

/* Slots that were never called through lead to the linker. */
static void never_called(void)
{
    const module module = open_first();
    picture *before = take_picture(&module);
    check_number(tileblas.attach(), REFERENCES, "attach: bound");
    check_number(tileblas.detach(), REFERENCES, "detach: restored");
    check_same(before, &module, "detached");
    check_number(tileblas.attach(), REFERENCES, "attach: bound");
    check_calls(&tileblas, &module, true, "attached");
    check_number(tileblas.detach(), REFERENCES, "detach: restored");
    check_calls(&tileblas, &module, false, "detached");
    free(before);
}

/* Pointers that the program has changed are its own, before attaching and after. */
static void changed_pointers(void)
{
    static int nothing;
    const module module = open_first();
    void *const original = *module.variable();
    *module.variable() = &nothing;
    check_number(tileblas.attach(), REFERENCES - 1, "attach: bound");
    CHECK(*module.variable() == &nothing, "a pointer of the program's was bound");
    CHECK(module.constant() != original, "a pointer in read-only data was not bound");
    *module.variable() = original;
    check_number(tileblas.attach(), REFERENCES, "attach: bound");
    CHECK(*module.variable() == module.constant(), "two references are bound to different functions");
    *module.variable() = &nothing;
    check_number(tileblas.detach(), REFERENCES - 1, "detach: restored");
    CHECK(*module.variable() == &nothing, "a pointer of the program's was restored");
    CHECK(module.constant() == original, "a pointer in read-only data was not restored");
}

/* A function of the same library under another name is not what the reference is named for. */
static void other_functions(void)
{
    const module module = open_first();
    void *blas = dlopen(modules[1], RTLD_LAZY | RTLD_NOLOAD);
    void *other = blas ? dlsym(blas, "fixture_square") : NULL;
    *module.variable() = other;
    check_number(tileblas.attach(), REFERENCES - 1, "attach: bound");
    CHECK(other && *module.variable() == other, "a function of another name was bound");
}

/* The library whose plain names have 64 bits takes none whose width it does not know. */
static void other_width(void)
{
    const module module = open_first();
    check_number(tileblas.attach(), 0, "attach to calls of another width: bound");
    check_calls(&tileblas, &module, false, "of another width");
}

/* ---- Several modules -------------------------------------------------------------------------------------------- */

static void loaded_later(void)
{
    check_number(tileblas.attach(), 0, "attach to nobody: bound");
    const module first = open_first();
    check_calls(&tileblas, &first, false, "loaded after attaching");
    check_number(tileblas.attach(), REFERENCES, "attach: bound");
    const module second = open_module(modules[2], modules[3], ON_ITS_OWN);
    check_calls(&tileblas, &second, false, "loaded after attaching");
    check_number(tileblas.attach(), 2 * REFERENCES, "attach: bound");
    check_calls(&tileblas, &first, true, "attached twice");
    check_calls(&tileblas, &second, true, "attached");
    check_number(tileblas.detach(), 2 * REFERENCES, "detach: restored");
    check_calls(&tileblas, &first, false, "detached");
    check_calls(&tileblas, &second, false, "detached");
}

/* Longer than a tick of the coarse clock. */
static void let_time_pass(void)
{
    usleep(30000);
}

/* By an address that nobody has bound. */
static void call_library(void)
{
    static float a[SIZE * SIZE], b[SIZE * SIZE], c[SIZE * SIZE];
    void (*gemm)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                 int);
    *(void **)&gemm = dlsym(tileblas.handle, "cblas_sgemm");
    for (int i = 0; i < SIZE * SIZE; i++)
        a[i] = b[i] = 1;
    const int before = count_of_library(&tileblas);
    gemm(102, 111, 111, SIZE, SIZE, SIZE, 1, a, SIZE, b, SIZE, 0, c, SIZE);
    CHECK(count_of_library(&tileblas) == before + 1 && c[SIZE] == SIZE,
          "the library was not called, or wrongly");
}

/* The next call of an attached module finds what was loaded meanwhile, and detaching restores it; detached, nothing is found. */
static void followed(void)
{
    const module first = open_first();
    check_number(tileblas.attach(), REFERENCES, "attach: bound");
    const module second = open_module(modules[2], modules[3], ON_ITS_OWN);
    check_calls(&tileblas, &second, false, "before the next call");
    let_time_pass();
    picture *before = take_picture(&second);
    check_call(&tileblas, &first, false, true, "the next call");
    check_calls(&tileblas, &second, true, "found by the next call");
    check_number(tileblas.detach(), 2 * REFERENCES, "detach: restored");
    check_same(before, &second, "detached");
    check_calls(&tileblas, &second, false, "detached");
    free(before);

    const module third = open_module(modules[4], modules[5], ON_ITS_OWN);
    let_time_pass();
    call_library();
    check_calls(&tileblas, &third, false, "loaded when detached");
}

/* What happens when the library starts a thread, in place of that if it returns true; NULL: nothing. */
static bool (*at_new_thread)(void);

static int (*own_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static int (*own_close)(void *);
static void *(*own_open)(const char *, int);

/* At the start: the linker is not asked while a constructor has its lock. */
__attribute__((constructor)) static void find_own(void)
{
    *(void **)&own_create = dlsym(RTLD_NEXT, "pthread_create");
    *(void **)&own_close = dlsym(RTLD_NEXT, "dlclose");
    *(void **)&own_open = dlsym(RTLD_NEXT, "dlopen");
}

/* For the library, too. */
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

/* Another object comes to lie in the list where one lay that refers to nothing. */
static void closed_before(void)
{
    void *bare = dlopen(modules[3], ON_ITS_OWN);
    check_number(tileblas.attach(), 0, "attach to nobody: bound");
    CHECK(bare && dlclose(bare) == 0 && !dlopen(modules[3], RTLD_LAZY | RTLD_NOLOAD),
          "a BLAS is kept loaded");
    const module module = open_first();
    check_number(tileblas.attach(), REFERENCES, "attach: bound");
    check_calls(&tileblas, &module, true, "attached");
}

/* Modules that are closed take their references along, and others come to lie where they lay. One that has called keeps
 * loaded, as its host BLAS does. */
static void closed_meanwhile(void)
{
    char **of = modules;
    for (int round = 0; round < 6; round++) {
        of = round % 2 ? modules : modules + 2;
        const module module = open_module(of[0], of[1], ON_ITS_OWN);
        check_number(tileblas.attach(), REFERENCES, "attach: bound");
        if (round % 3 == 2)
            check_number(tileblas.detach(), REFERENCES, "detach: restored");
        dlclose(module.handle);
        CHECK(!dlopen(of[0], RTLD_LAZY | RTLD_NOLOAD), "round %d: attaching keeps a module loaded", round);
        check_number(tileblas.detach(), 0, "nobody is there: restored");
    }
    for (int round = 0; round < 2; round++, of = modules + 2) {
        const module module = open_module(of[0], of[1], ON_ITS_OWN);
        check_number(tileblas.attach(), (round + 1) * REFERENCES, "attach: bound");
        check_calls(&tileblas, &module, true, "attached");
    }
    check_number(tileblas.detach(), 2 * REFERENCES, "detach: restored");
}

/* A BLAS whose CBLAS calls its own Fortran by the name that we take over keeps these calls to itself. */
static void inside_blas(void)
{
    const module module = open_first();
    check_number(tileblas.attach(), REFERENCES, "attach: bound");
    void *blas = dlopen(modules[1], RTLD_LAZY | RTLD_NOLOAD);
    void (*square)(void);
    *(void **)&square = blas ? dlsym(blas, "fixture_square") : NULL;
    const int before = count_of_library(&tileblas), fortran = module.blas->fortran_calls;
    square();
    CHECK(module.blas->fortran_calls - fortran == 1, "a BLAS's call of itself does not arrive");
    CHECK(count_of_library(&tileblas) == before, "a BLAS's call of itself was taken over");
    check_call(&tileblas, &module, false, true, "attached");
}

/* So does one that has CBLAS alone, and calls the Fortran of another. */
static void before_blas(void)
{
    const module module = open_first();
    check_number(tileblas.attach(), REFERENCES, "attach: bound");
    check_call(&tileblas, &module, true, true, "attached");
    const int before = count_of_library(&tileblas), fortran = module.blas->fortran_calls;
    CHECK(module.errors(false, SIZE) == 0, "CBLAS in front of another BLAS is wrong");
    CHECK(count_of_library(&tileblas) == before + 1, "a call was taken over %d times",
          count_of_library(&tileblas) - before);
    CHECK(module.blas->fortran_calls == fortran + 1, "the BLAS behind was not called");
}

/* In front of a library that hands calls to a TileBLAS, which is none of the attached one's business: it is asked for what it
 * computes itself, or not at all. Every call is right, and arrives once. */
static void before_forwarder(void)
{
    const module module = open_first();
    check_number(tileblas.attach(), REFERENCES, "attach: bound");
    for (int form = 0; form < 4; form++) {
        const int before = count_of_library(&tileblas);
        const long errors = module.errors(form & 1, form < 2 ? SIZE : 2);
        CHECK(errors == 0, "call %d: %ld elements are wrong", form, errors);
        CHECK(count_of_library(&tileblas) == before + 1, "call %d was taken over %d times", form,
              count_of_library(&tileblas) - before);
    }
    check_number(tileblas.detach(), REFERENCES, "detach: restored");
}

/* The library that was loaded first does the work, whoever is asked: here the program preloaded one, or opened it before. */
static void several_libraries(void)
{
    char path[512];
    const library second = open_library(modules[2]);
    const module module = open_first();
    check_number(second.attach(), REFERENCES, "the second library attaches: bound");
    check_calls(&tileblas, &module, true, "attached by the second library");
    CHECK(count_of_library(&second) == 0, "the second library was called");
    second.runtime(path, sizeof path);
    CHECK(strcmp(path, modules[3]) == 0, "the runtime is %s instead of %s", path, modules[3]);
    check_number(tileblas.detach(), REFERENCES, "the first library detaches: restored");
    check_calls(&tileblas, &module, false, "detached");
}

static const struct {
    const char *name;
    void (*run)(void);
} scenarios[] = {
    {"there_and_back", there_and_back},
    {"never_called", never_called},
    {"changed_pointers", changed_pointers},
    {"other_functions", other_functions},
    {"other_width", other_width},
    {"loaded_later", loaded_later},
    {"moved_meanwhile", moved_meanwhile},
    {"closed_before", closed_before},
    {"closed_meanwhile", closed_meanwhile},
    {"detached_when_binding", detached_when_binding},
    {"inside_blas", inside_blas},
    {"before_blas", before_blas},
    {"followed", followed},
    {"followed_constructor", followed_constructor},
    {"followed_fork", followed_fork},
    {"forked_when_binding", forked_when_binding},
    {"followed_without_thread", followed_without_thread},
    {"before_forwarder", before_forwarder},
    {"several_libraries", several_libraries},
};

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    tileblas = open_library(argv[2]);
    modules = argv + 3;
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        if (strcmp(argv[1], scenarios[i].name) == 0)
            scenarios[i].run();
    return check_result();
}
