/* The server: a process of the user's that keeps devices up for all of the user's programs (`tileblas serve`). */
#ifndef TB_SERVER_H
#define TB_SERVER_H

#include <stdint.h>

typedef struct tb_server_options {
    double idle_seconds;  /* without a client it ends after so long; 0: never */
    uint64_t memory_most; /* bytes of each device that clients may have; 0: all */
} tb_server_options;

typedef enum tb_server_end {
    TB_SERVER_STOPPED, /* by a signal, or for being idle */
    TB_SERVER_IS_THERE_ALREADY,
    TB_SERVER_HAS_NO_DEVICE,
    TB_SERVER_HAS_NO_SOCKET,
    TB_SERVER_LOST_DEVICE,
} tb_server_end;

/* Serves until SIGTERM or SIGINT. One server a user and build; says on standard output that it is ready. */
tb_server_end tb_serve(const tb_server_options *options);

#endif
