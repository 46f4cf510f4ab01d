/* The server: a process of the user's that keeps devices up for all of the user's programs (`tileblas serve`). */
#ifndef TB_SERVER_H
#define TB_SERVER_H

#include <stdint.h>

typedef struct tb_server_options {
    double idle_seconds;  /* without a client it ends after so long; 0: never */
    uint64_t memory_most; /* bytes of each device that clients may have; 0: all */
    uint64_t devices;     /* of the machine, that it has up: a bit for each ordinal; 0: all */
    const char *path; /* of its socket; NULL: in the user's own folder, where programs look by themselves */
    void (*when_ready)(const char *device_name); /* clients are received from now on */
} tb_server_options;

typedef enum tb_server_end {
    TB_SERVER_STOPPED, /* by a signal, or for being idle */
    TB_SERVER_IS_THERE_ALREADY,
    TB_SERVER_HAS_NO_DEVICE,
    TB_SERVER_HAS_NO_SOCKET,     /* no folder, or something else has its name */
    TB_SERVER_IS_HANDED_ANOTHER, /* by systemd: what it got is no socket for clients */
    TB_SERVER_LOST_DEVICE,
} tb_server_end;

/* Serves until SIGTERM or SIGINT. One server a user and build, or a path. Where the process was started by systemd for a socket at which
 * that listens, the server takes this one. */
tb_server_end tb_serve(const tb_server_options *options);

#endif
