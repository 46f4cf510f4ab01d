/* Another server in the place of one that has lost its device. */
#ifndef TOOLS_SERVER_AGAIN_H
#define TOOLS_SERVER_AGAIN_H

#include "lib/server/server.h"

#include <stdbool.h>

/* What the driver has of an error ends with the program that it happened to: the process becomes `tileblas serve` anew, with these
 * options and the same number. At once twice in a minute, after a pause from then on. Returns where it cannot. The server had begun at
 * that time (CLOCK_MONOTONIC). Where somebody else watches over the server, and hands it its socket, that one starts the next. */
void tool_serve_again(const tb_server_options *options, double began);

/* Whether somebody else does; before the server begins. */
bool tool_is_watched_over(void);

#endif
