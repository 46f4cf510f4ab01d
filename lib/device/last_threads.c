/* A main thread may end by pthread_exit while others go on. When the last thread ends the GNU C library ends the process, as by
 * exit(0). The library's own threads, and those that the driver has made for it, never end: once the main thread is gone, one
 * more looks from time to time whether any others are left, and ends the process in the same way when there are none.
 *
 * Programs whose main thread does not end like that have no such thread. The main thread is known when the library is loaded by
 * it, or when it starts one of the library's threads.
 */
#include "lib/device/platform.h"
#include "lib/process/threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Between two looks, in nanoseconds: at first, and at most. */
#define LOOK_FIRST 20000000L
#define LOOK_LAST  500000000L

/* A thread may be started while the folder of threads is read. */
enum { LOOKS_THAT_AGREE = 2 };

static pthread_key_t main_thread;
static atomic_bool has_key; /* read by threads that start others while the process ends */
static atomic_bool is_watching;

/* ---- Whose threads are left ------------------------------------------------------------------------------- */

/* The beginning of a thread's file in /proc; nothing where the thread has ended. */
static void read_of_thread(const char *thread, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%.16s/%s", thread, name);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = file < 0 ? 0 : read(file, text, size - 1);
    if (file >= 0)
        close(file);
    text[length > 0 ? length : 0] = '\0';
}

/* The state comes behind the name, which is in parentheses and may hold some itself. */
static bool has_ended(const char *thread)
{
    char text[256];
    read_of_thread(thread, "stat", text, sizeof text);
    const char *name_end = strrchr(text, ')');
    return !name_end || name_end[1] == '\0' || name_end[2] == 'Z' || name_end[2] == 'X';
}

static bool is_drivers(const char *thread)
{
    char name[32];
    const char *prefix = tb_platform.thread_names;
    read_of_thread(thread, "comm", name, sizeof name);
    return prefix && strncmp(name, prefix, strlen(prefix)) == 0;
}

/* False where nobody can tell. */
static bool programs_threads_have_ended(void)
{
    DIR *threads = opendir("/proc/self/task");
    bool ended = threads != NULL;
    for (const struct dirent *entry; ended && (entry = readdir(threads));) {
        const long thread = strtol(entry->d_name, NULL, 10);
        ended = thread <= 0 || tb_is_own_thread((uint32_t)thread) || is_drivers(entry->d_name) ||
                has_ended(entry->d_name);
    }
    if (threads)
        closedir(threads);
    return ended;
}

/* ---- Watching --------------------------------------------------------------------------------------------- */

static void *watch(void *unused)
{
    struct timespec pause = {.tv_nsec = LOOK_FIRST};
    for (int agree = 0; agree < LOOKS_THAT_AGREE;) {
        nanosleep(&pause, NULL);
        agree = programs_threads_have_ended() ? agree + 1 : 0;
        if (agree == 0 && 2 * pause.tv_nsec <= LOOK_LAST)
            pause.tv_nsec *= 2;
    }
    /* What the program's last thread would have had: signals that nobody has taken are taken now. */
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    exit(EXIT_SUCCESS);
    return unused;
}

static void start_watching(void)
{
    if (!atomic_exchange(&is_watching, true) && !tb_start_thread(watch, NULL))
        atomic_store(&is_watching, false);
}

/* At the end of the main thread, and of no process that ends otherwise. */
static void main_thread_leaves(void *unused)
{
    (void)unused;
    atomic_store(&tb_when_started, start_watching);
    if (tb_has_own_threads())
        start_watching();
}

/* The thread that is the main one from now on. */
static void know_main_thread(void)
{
    if (atomic_load(&has_key) && gettid() == getpid())
        pthread_setspecific(main_thread, &main_thread);
}

static void begin_anew_in_child(void)
{
    atomic_store(&is_watching, false);
    atomic_store(&tb_when_started, know_main_thread);
    know_main_thread();
}

__attribute__((constructor)) static void look_out_for_the_end(void)
{
    atomic_store(&has_key, pthread_key_create(&main_thread, main_thread_leaves) == 0);
    atomic_store(&tb_when_started, know_main_thread);
    know_main_thread();
    pthread_atfork(NULL, NULL, begin_anew_in_child);
}

/* The library may be unloaded. */
__attribute__((destructor)) static void look_out_no_more(void)
{
    if (atomic_exchange(&has_key, false))
        pthread_key_delete(main_thread);
}
