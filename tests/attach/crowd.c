/* Attaching and detaching while others are at work.
 *
 *   crowd threads TILEBLAS MODULE BLAS    threads call, for the first time too, while others attach and detach
 *   crowd fork TILEBLAS MODULE BLAS       children are forked meanwhile, call, attach and detach
 *   crowd loading TILEBLAS MODULE BLAS    modules are opened and closed meanwhile
 */
#include "tests/attach/process.h"
#include "tests/sim/children.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__) /* which makes seconds of each hundred, and sees more of them */
enum { ROUNDS = 100 };
#else
enum { ROUNDS = 300 };
#endif
enum { CALLERS = 3, ATTACHERS = 2, CHILDREN = 20, SMALL = 12, CHILD_SECONDS = 60 };

static library tileblas;
static module called;
static char **modules; /* and their BLAS */
static atomic_bool finished;

static void *call(void *unused)
{
    long errors = 0;
    for (int i = 0; !finished; i++)
        errors += called.errors(i & 1, i % 16 ? SMALL : SIZE);
    CHECK(errors == 0, "%ld elements are wrong", errors);
    return unused;
}

static void *attach_and_detach(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        const int bound = tileblas.attach(), restored = tileblas.detach();
        CHECK(bound >= 0 && restored >= 0, "attach: %d, detach: %d", bound, restored);
    }
    return unused;
}

static void *open_and_close(void *unused)
{
    while (!finished) {
        void *handle = dlopen(modules[2], ON_ITS_OWN);
        CHECK(handle, "%s", dlerror());
        if (handle)
            dlclose(handle);
    }
    return unused;
}

typedef struct crowd {
    pthread_t callers[CALLERS], attachers[ATTACHERS];
} crowd;

static void start(crowd *crowd)
{
    for (int i = 0; i < CALLERS; i++)
        pthread_create(&crowd->callers[i], NULL, call, NULL);
    for (int i = 0; i < ATTACHERS; i++)
        pthread_create(&crowd->attachers[i], NULL, attach_and_detach, NULL);
}

static void join(crowd *crowd)
{
    for (int i = 0; i < ATTACHERS; i++)
        pthread_join(crowd->attachers[i], NULL);
    finished = true;
    for (int i = 0; i < CALLERS; i++)
        pthread_join(crowd->callers[i], NULL);
    check_calls(&tileblas, &called, false, "at the end, detached");
    CHECK(tileblas.attach() > 0, "nothing is bound at the end");
    check_calls(&tileblas, &called, true, "at the end, attached");
}

static void beside_threads(void)
{
    crowd crowd;
    start(&crowd);
    join(&crowd);
}

/* Children that have bound references, counted in memory that they share. A fork waits a second at most for who is
 * inside of the dynamic linker, which a loaded machine may take longer for: the child then has nothing to do with the
 * linker, and says -1. */
static atomic_int *bound_children;

static void work_as_child(void)
{
    long errors = called.errors(true, SIZE);
    const int bound = tileblas.attach();
    errors += called.errors(true, SIZE) + called.errors(false, SIZE);
    const int restored = tileblas.detach();
    errors += called.errors(true, SIZE) + called.errors(false, SIZE);
    CHECK(errors == 0, "in a child %ld elements are wrong", errors);
    CHECK((bound > 0 || bound == -1) && restored == bound, "a child has bound %d and restored %d", bound,
          restored);
    atomic_fetch_add(bound_children, bound > 0);
}

static void beside_forks(void)
{
    crowd crowd;
    bound_children =
        mmap(NULL, sizeof *bound_children, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    start(&crowd);
    for (int i = 0; i < CHILDREN; i++) {
        const pid_t child = fork();
        if (child == 0) {
            check_failures = 0; /* its own */
            work_as_child();
            _exit(check_result());
        }
        const child_end end = child_wait(child, CHILD_SECONDS);
        CHECK(end == CHILD_RIGHT, "child %d was %s", i, child_end_text(end));
    }
    CHECK(atomic_load(bound_children) > 0, "no child has bound anything");
    join(&crowd);
}

static void beside_loading(void)
{
    crowd crowd;
    pthread_t opener;
    start(&crowd);
    pthread_create(&opener, NULL, open_and_close, NULL);
    join(&crowd);
    pthread_join(opener, NULL);
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    tileblas = open_library(argv[2]);
    modules = argv + 3;
    called = open_module(modules[0], modules[1], ON_ITS_OWN);
    if (strcmp(argv[1], "threads") == 0)
        beside_threads();
    else if (strcmp(argv[1], "fork") == 0)
        beside_forks();
    else
        beside_loading();
    return check_result();
}
