#include "lib/threads.h"

#include <signal.h>

bool tb_start_thread(pthread_t *thread, void *(*work)(void *), void *argument)
{
    sigset_t all, before;
    pthread_t alone;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(thread ? thread : &alone, NULL, work, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started && !thread)
        pthread_detach(alone);
    return started;
}
