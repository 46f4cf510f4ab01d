/* Words for people, on standard error and nowhere else: warnings that are said once, and the lines of
 * TILEBLAS_VERBOSE. Never anything else, never standard output.
 */
#ifndef TB_LOG_H
#define TB_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

/* One line, prefixed "tileblas: ", in one write. Whether it was written. */
bool tb_log_to(int file, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define tb_log(...) ((void)tb_log_to(STDERR_FILENO, __VA_ARGS__))

/* As tb_log, of texts one after another up to a NULL, which are the library's own: for threads with little
 * stack, of which formatting takes 3 KiB. */
void tb_log_texts(const char *const texts[]);

/* As tb_log, the first time that this place in the code is reached. */
#define tb_warn_once(...)                                                                                    \
    do {                                                                                                     \
        static atomic_flag tb_warned = ATOMIC_FLAG_INIT;                                                     \
        if (!atomic_flag_test_and_set(&tb_warned))                                                           \
            tb_log(__VA_ARGS__);                                                                             \
    } while (0)

#endif
