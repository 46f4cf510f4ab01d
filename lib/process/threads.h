/* Threads of the library's own beside the program's. */
#ifndef TB_THREADS_H
#define TB_THREADS_H

#include <signal.h>
#include <stdbool.h>

/* Starts a thread that nobody will join. The program's signals are for the program's threads: all are blocked
 * in it but those that its own instructions raise, by which write barriers and garbage collectors live. It
 * begins with the default floating-point environment, whatever the caller's is. False when no thread could be
 * had. */
bool tb_start_thread(void *(*work)(void *), void *argument);

/* Around a few steps that a jump out of a handler must not divide: the program's signals wait meanwhile, for
 * this thread or another one. */
void tb_hold_signals(sigset_t *before);
void tb_let_signals(const sigset_t *before);

#endif
