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

enum { AT_ONCE = 2, PAUSE_SECONDS = 20, TEXT_SIZE = 160 };

bool tool_is_watched_over(void)
{
    return getenv("LISTEN_FDS") != NULL;
}

/* And this one. */
static long count_lost(double began)
{
    const char *before = getenv(COUNT);
    return 1 + (before && tb_seconds() - began < SOON_SECONDS ? strtol(before, NULL, 10) : 0);
}

/* Ordinals with commas between them; at most 64. */
static void print_devices(uint64_t devices, char *text)
{
    for (int device = 0; device < 64 && devices >> device != 0; device++)
        if (devices >> device & 1)
            text += sprintf(text, "%d,", device);
    text[-1] = '\0';
}

static void become_server(const tb_server_options *options)
{
    char idle[TEXT_SIZE], memory[TEXT_SIZE], devices[4 * TEXT_SIZE];
    char *arguments[12] = {"tileblas", "serve", "--idle", idle, "--memory", memory};
    int count = 6;
    snprintf(idle, sizeof idle, "%.17g", options->idle_seconds);
    snprintf(memory, sizeof memory, "%.17g", (double)options->memory_most / (1 << 20));
    if (options->devices != 0) {
        print_devices(options->devices, devices);
        arguments[count++] = "--devices";
        arguments[count++] = devices;
    }
    if (options->path) {
        arguments[count++] = "--socket";
        arguments[count++] = (char *)(uintptr_t)options->path;
    }
    execv("/proc/self/exe", arguments);
}

void tool_serve_again(const tb_server_options *options, double began)
{
    char text[24];
    const long lost = count_lost(began);
    snprintf(text, sizeof text, "%ld", lost);
    if (setenv(COUNT, text, 1) != 0)
        return;
    /* A signal that ends the server ends this as well. */
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    fputs("tileblas serve: the device was lost; another server begins\n", stderr);
    if (lost > AT_ONCE)
        nanosleep(&(struct timespec){.tv_sec = PAUSE_SECONDS}, NULL);
    become_server(options);
}
