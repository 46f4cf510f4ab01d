/* A caller jumps out of a call while a helper of the library's is at the program's memory: fills a slot from
 * A, empties one into C, or touches pages of C. The jump is over when the helper is done with it, and nobody
 * comes to that memory any more, which the program may free then.
 *
 * The helper is held where it comes to memory that is closed to it, or asks the kernel for pages, until the
 * caller has jumped, and a while longer, in which the caller must not come out.
 *
 * Every second page is closed, the first of them the block's first: the calling thread touches the last byte
 * of what helpers are to copy before they come, and what is copied at a time is an even number of pages.
 */
#include "include/tileblas.h"
#include "tests/sim/children.h"
#include "tests/sim/known_product.h"
#include "words/role.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <string.h>
#include <sys/mman.h>

/* A and C take more of a slot than what threads copy alone. */
enum { M = 1024, N = 512, K = 512 };
#define BLOCK_BYTES (sizeof(float[M * K]))

/* Many times what the caller takes from its jump until it is out, if it does not wait. */
enum { HELD_MICROSECONDS = 50000, STILL_MICROSECONDS = 10000 };
#define TRIAL_SECONDS 60.0

static pthread_t caller;
static sigjmp_buf before_call;
static atomic_bool is_held, has_jumped, is_out;
static char *closed; /* NULL: none */
static bool touches; /* the helper is held when it asks for pages */

static void pause_briefly(void)
{
    usleep(100);
}

static void jump(int signal)
{
    atomic_store(&has_jumped, true);
    siglongjmp(before_call, signal);
}

static void hold_helper(void)
{
    while (!atomic_load(&has_jumped))
        pause_briefly();
    for (int i = 0; i < HELD_MICROSECONDS / 100 && !atomic_load(&is_out); i++)
        pause_briefly();
    CHECK(!atomic_load(&is_out), "the caller has come out, and a helper is at the program's memory");
}

/* Who calls jumps when the helper is there, too. */
static void come_to_closed_memory(int signal)
{
    if (pthread_equal(pthread_self(), caller)) {
        while (!atomic_load(&is_held))
            pause_briefly();
        jump(signal);
    }
    atomic_store(&is_held, true);
    hold_helper();
    mprotect(closed, BLOCK_BYTES, PROT_READ | PROT_WRITE);
}

/* Stands in front of the C library's. */
__attribute__((visibility("default"))) int madvise(void *first, size_t bytes, int advice)
{
    int (*real)(void *, size_t, int);
    *(void **)&real = dlsym(RTLD_NEXT, "madvise");
    if (touches && !pthread_equal(pthread_self(), caller) && !atomic_exchange(&is_held, true)) {
        pthread_kill(caller, SIGUSR1);
        hold_helper();
    }
    return real(first, bytes, advice);
}

static void close_pages(char *block)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t at = 0; at < BLOCK_BYTES; at += 2 * page)
        mprotect(block + at, page, PROT_NONE);
}

static char *map(int more)
{
    void *block = mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | more, -1, 0);
    if (block == MAP_FAILED)
        abort();
    return block;
}

/* Comes after a call for which the device is brought up. */
static void multiply_and_jump(char *const *operands)
{
    const struct sigaction at_closed = {.sa_handler = come_to_closed_memory}, at_once = {.sa_handler = jump};
    caller = pthread_self();
    sigaction(SIGSEGV, &at_closed, NULL);
    sigaction(SIGUSR1, &at_once, NULL);
    if (sigsetjmp(before_call, 1) == 0)
        cblas_sgemm(102, 111, 111, M, N, K, 1, (const float *)operands[TB_A], M,
                    (const float *)operands[TB_B], K, 0, (float *)operands[TB_C], M);
    atomic_store(&is_out, true);
}

typedef struct trial {
    const char *name;
    tb_role at;
    bool touches;
} trial;

static void run_trial(void *argument)
{
    const trial *trial = argument;
    char *operands[TB_ROLES], *before = map(0);
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
    tileblas_set_option("COPY_THREADS", "2");
    tileblas_set_option("OPERAND_CACHE", "0");
    CHECK(known_multiply_once(300, 200, 30, 0, 3, TB_MEMORY_HOST) == 0, "wrong");
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        operands[role] = map(trial->touches && role == TB_C ? 0 : MAP_POPULATE);
    touches = trial->touches;
    closed = operands[trial->at];
    if (!touches)
        close_pages(closed);
    multiply_and_jump(operands);
    CHECK(atomic_load(&is_held) && atomic_load(&has_jumped), "nobody jumped beside a helper");
    touches = false;
    mprotect(closed, BLOCK_BYTES, PROT_READ | PROT_WRITE);
    memcpy(before, operands[TB_C], BLOCK_BYTES);
    usleep(STILL_MICROSECONDS);
    CHECK(memcmp(before, operands[TB_C], BLOCK_BYTES) == 0, "C is written after the jump");
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        munmap(operands[role], BLOCK_BYTES);
    CHECK(known_multiply_once(M, N, 30, 1, 2, TB_MEMORY_HOST) == 0, "wrong after the jump");
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 and later */
#endif

static bool kernel_populates(void)
{
    char *block = map(0);
    caller = pthread_self();
    const bool does = madvise(block, BLOCK_BYTES, MADV_POPULATE_WRITE) == 0;
    munmap(block, BLOCK_BYTES);
    return does;
}

int main(void)
{
    static const trial trials[] = {{"fills a slot from A", TB_A, false},
                                   {"empties a slot into C", TB_C, false},
                                   {"touches pages of C", TB_C, true}};
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        trial trial = trials[i];
        if (trial.touches && !kernel_populates()) {
            printf("left out: %s\n", trial.name);
            continue;
        }
        const child_end end = child_run(run_trial, &trial, TRIAL_SECONDS);
        CHECK(end == CHILD_RIGHT, "a helper %s: %s", trial.name, child_end_text(end));
    }
    return check_result();
}
