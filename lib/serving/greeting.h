/* How a process finds the server's socket, whom it takes for a server of the user's own, and what that says. For connection.c, and for the
 * command, which asks without becoming a client.
 */
#ifndef TB_GREETING_H
#define TB_GREETING_H

#include "lib/serving/wire.h"

#include <sys/types.h>

/* Choices of the option SERVER, in their order. */
enum { TB_SERVER_AUTO, TB_SERVER_NEVER, TB_SERVER_PATH };

/* Where a server's socket is looked for, as the option says; empty where there is no place for one. */
void tb_print_server_place(char *path, size_t size);

/* A connection to the socket of a server of this user's; -1: there is none. */
int tb_open_server_socket(void);

/* What comes beside the welcome. */
typedef struct tb_enclosed {
    pid_t process;        /* the server's; 0: it is in a place where this process does not see it */
    bool is_of_this_user; /* who has sent it: behind systemd, the peer of the socket is another process */
    bool has_files;
    int files[2]; /* the caller's, where it has them */
} tb_enclosed;

/* The answer to a hello that was sent, within so long; false: it is none that can be used. */
bool tb_receive_welcome(int socket, int milliseconds, tb_welcome *welcome, tb_enclosed *beside);

/* What a server says of itself, without a connection; false: there is none, or it does not answer within so long. Its process is 0 where
 * it is in a place that this process does not see into. */
bool tb_ask_status(tb_welcome *welcome, int milliseconds);

/* In words: why the last of these questions was not answered. */
const char *tb_why_no_server(void);

/* Whether somebody listens who has not answered yet: systemd starts a server behind the socket for the first that comes. */
bool tb_server_is_coming(void);

#endif
