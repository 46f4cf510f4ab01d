#include "tools/server_again.h"

#include "lib/process/clock.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* How many servers before this one have lost a device soon, each of them in less than so long. */
#define COUNT        "TILEBLAS_SERVERS_LOST"
#define SOON_SECONDS 60.0

enum { AT_ONCE = 2, PAUSE_SECONDS = 20, ARGUMENTS_MOST = 32 };

int tool_is_watched_over(void)
{
    return getenv("LISTEN_FDS") != NULL;
}

/* And this one. */
static long count_lost(double began)
{
    const char *before = getenv(COUNT);
    return 1 + (before && tb_seconds() - began < SOON_SECONDS ? strtol(before, NULL, 10) : 0);
}

void tool_serve_again(char **argv, double began)
{
    char text[24], *arguments[ARGUMENTS_MOST] = {"tileblas", "serve"};
    const long lost = count_lost(began);
    for (int i = 1; argv[i]; i++) {
        if (i + 2 >= ARGUMENTS_MOST)
            return;
        arguments[i + 1] = argv[i];
    }
    snprintf(text, sizeof text, "%ld", lost);
    if (setenv(COUNT, text, 1) != 0)
        return;
    /* A signal that ends the server ends this as well. */
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    fputs("tileblas serve: the device was lost; another server begins\n", stderr);
    if (lost > AT_ONCE)
        nanosleep(&(struct timespec){.tv_sec = PAUSE_SECONDS}, NULL);
    execv("/proc/self/exe", arguments);
}
