/* Lines to files that people name in options, while the program is the program's: whatever the file is, the program waits for it no
 * longer than a second, and is not ended by a signal that writing to it raises.
 */
#ifndef TB_APPEND_H
#define TB_APPEND_H

#include <stdbool.h>
#include <stddef.h>

/* Whether all was written. What one call writes to a file on this machine lies in one piece, beside what other processes append. */
bool tb_write_whole(int file, const char *bytes, size_t size);

/* Has write append to the file, which is made where there is none. False where it cannot be written, as a pipe that nobody reads, or
 * not all was. */
bool tb_append(const char *path, bool (*write)(int file));

#endif
