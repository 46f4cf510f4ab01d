/* A socket of the test's own at the place where programs look for a server. */
#ifndef TEST_DOOR_H
#define TEST_DOOR_H

#include "lib/serving/greeting.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The path may be too long for an address: by its name in its folder. */
static inline int open_door(int type)
{
    char path[PATH_MAX], before[PATH_MAX];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    tb_print_server_place(path, sizeof path);
    char *name = strrchr(path, '/');
    const int file = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    *name++ = '\0';
    snprintf(address.sun_path, sizeof address.sun_path, "%s", name);
    /* Few may wait there: who asks again and again finds no room. */
    if (!getcwd(before, sizeof before) || chdir(path) != 0 || file < 0 ||
        bind(file, (const struct sockaddr *)&address, sizeof address) != 0 || listen(file, 1) != 0 ||
        chdir(before) != 0)
        abort();
    return file;
}

#endif
