/* The folder that the user's processes share while they run, where nobody else can put, take or hold anything. */
#ifndef TB_PRIVATE_FOLDER_H
#define TB_PRIVATE_FOLDER_H

/* An open folder, or -1: below $XDG_RUNTIME_DIR or /run/user, else one in /tmp that is checked for its owner and mode. All processes
 * of a user find the same one. Set-uid programs believe no variable. */
int tb_open_private_folder(void);

/* The same, but where there is none none is made. */
int tb_find_private_folder(void);

/* The same file by a number that is none of the standard files', which a program without them may expect its own next files to have.
 * Less than 0 stays so. */
int tb_above_standard_files(int file);

#endif
