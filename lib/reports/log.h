/* Words for people, on standard error and nowhere else: warnings that are said once, and the lines of
 * TILEBLAS_VERBOSE. Never anything else, never standard output.
 */
#ifndef TB_LOG_H
#define TB_LOG_H

#include <stdatomic.h>
#include <stdbool.h>

/* One line, prefixed "tileblas: ", in one write. */
void tb_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, to a file of one's own. Whether it was written. */
bool tb_log_to(int file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As tb_log, the first time that this place in the code is reached. */
#define tb_warn_once(...)                                                                                    \
    do {                                                                                                     \
        static atomic_flag tb_warned = ATOMIC_FLAG_INIT;                                                     \
        if (!atomic_flag_test_and_set(&tb_warned))                                                           \
            tb_log(__VA_ARGS__);                                                                             \
    } while (0)

#endif
