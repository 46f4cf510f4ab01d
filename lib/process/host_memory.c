#include "lib/process/host_memory.h"

#include "lib/process/linker.h"
#include "lib/process/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Atomic(uintptr_t) tb_heap_start = UINTPTR_MAX, tb_program_start = UINTPTR_MAX, tb_program_end;
_Thread_local tb_stack_span tb_stack __attribute__((tls_model("initial-exec")));

/* A field of /proc/self/stat, counted from 1. */
#define FIELD_START_BREAK 47

static void learn_heap(void)
{
    char text[1024];
    int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    if (length <= 0)
        return;
    text[length] = '\0';
    /* The second field, the program's name in parentheses, may hold blanks and parentheses itself. */
    const char *field = strrchr(text, ')');
    for (int number = 2; field && number < FIELD_START_BREAK; number++)
        field = strchr(field + 1, ' ');
    uintptr_t start = field ? (uintptr_t)strtoull(field, NULL, 10) : 0;
    if (start > 0)
        atomic_store(&tb_heap_start, start);
}

/* The first object of the walk is the program. */
static int note_program(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    uintptr_t start = UINTPTR_MAX, end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t first = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD)
            continue;
        start = first < start ? first : start;
        end = first + segment->p_memsz > end ? first + segment->p_memsz : end;
    }
    /* Whoever sees the beginning sees the end. */
    atomic_store_explicit(&tb_program_end, end, memory_order_relaxed);
    atomic_store_explicit(&tb_program_start, start, memory_order_release);
    return 1;
}

static void learn_host_memory(void)
{
    tb_enter_linker();
    dl_iterate_phdr(note_program, NULL);
    tb_leave_linker();
    learn_heap();
}

void tb_learn_host_memory(void)
{
    static tb_once once = TB_ONCE;
    tb_do_once(&once, learn_host_memory);
}

static tb_stack_span find_stack(void)
{
    pthread_attr_t attributes;
    void *lowest;
    size_t size;
    tb_stack_span found = {.size = 1};
    sigset_t signals;
    tb_hold_signals(&signals); /* the C library's allocator is not to be left in the middle */
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &lowest, &size) == 0)
            found = (tb_stack_span){(uintptr_t)lowest, size};
        pthread_attr_destroy(&attributes);
    }
    tb_let_signals(&signals);
    return found;
}

/* For the main thread a file is read, which may not be there. */
void tb_learn_stack(void)
{
    const int error = errno;
    tb_stack = find_stack();
    errno = error;
}

size_t tb_stack_left(void)
{
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    stack_t handlers;
    if (tb_stack.size == 0)
        tb_learn_stack();
    /* It may lie within the thread's own. */
    if (sigaltstack(NULL, &handlers) == 0 && (handlers.ss_flags & SS_ONSTACK))
        return here - (uintptr_t)handlers.ss_sp;
    return here - tb_stack.start < tb_stack.size ? here - tb_stack.start : 0;
}
