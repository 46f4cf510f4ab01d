/* Threads of the library's own beside the program's. */
#ifndef TB_THREADS_H
#define TB_THREADS_H

#include <pthread.h>
#include <stdbool.h>

/* Starts a thread with all signals blocked: the program's signals are for the program's threads. With thread NULL
 * nobody will join it. False when no thread could be had. */
bool tb_start_thread(pthread_t *thread, void *(*work)(void *), void *argument);

#endif
