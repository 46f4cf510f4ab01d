/* What has been learned about a machine, kept in a file: `tileblas tune` writes it, programs begin with it.
 * One line of text a ratio, behind two that say what file it is and for which machine. The library itself
 * writes nothing.
 */
#ifndef TB_PROFILE_H
#define TB_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

/* Where the user's profile lies: tileblas/profile in the cache folder ($XDG_CACHE_HOME, or $HOME/.cache). False when
 * there is no such folder, or the program is set-uid. */
bool tb_profile_path(char *path, size_t size);

/* Lets learning begin with the user's profile, if there is one for this machine; device is the name of the device in
 * use. One that is damaged, another machine's or another version's is ignored with one line on standard error. */
void tb_load_profile(const char *device);

/* Writes what has been learned so far, through a second file that takes the first one's place. False when it cannot,
 * with errno set. */
bool tb_save_profile(const char *path, const char *device);

#endif
