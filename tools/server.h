/* What `tileblas serve`, `run --serve`, `info` and `explain` do with a server: start it, ask it, end it. */
#ifndef TOOL_SERVER_H
#define TOOL_SERVER_H

#include "lib/reports/json.h"
#include "lib/server/server.h"

/* A server without a program for so long ends, where it was started in the background. */
#define SERVER_IDLE_SECONDS 900

/* Serves in this process until it is told to end; when_ready: it says on standard output that it is ready. Answers an exit status. */
int server_serve(tb_server_options options);

/* Returns when a server answers: one that runs already, or one that was started in the background. Answers an exit status; complains as
 * the subcommand. */
int server_start(const char *subcommand, tb_server_options options);

/* What the server that runs has to do, as a table or as JSON; and its end. Answer exit statuses. */
int server_print_status(bool as_json);
int server_stop(void);

/* Whether a server answers: asked once, and waited for where it is being started. */
bool server_answers(void);

/* The same and what programs do with it, in a line; and as the member "server". For `info` and `explain`. */
void server_say_state(void);
void server_write_state(tb_json *json);

/* The unit of systemd's: "socket" or "service". Answers an exit status. */
int server_print_unit(const char *kind);

#endif
