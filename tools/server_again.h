/* Another server in the place of one that has lost its device. */
#ifndef TOOLS_SERVER_AGAIN_H
#define TOOLS_SERVER_AGAIN_H

/* What the driver has of an error ends with the program that it happened to: the process becomes `tileblas serve` anew, with the same
 * arguments and the same number, as it was then. At once twice in a minute, after a pause from then on. Returns where it cannot. The
 * server had begun at that time (CLOCK_MONOTONIC). Where somebody else watches over the server, and hands it its socket, that one
 * starts the next. */
void tool_serve_again(char **argv, double began);

/* Whether somebody else does; before the server begins. */
int tool_is_watched_over(void);

#endif
