/* The socket at which clients come: one that the server makes under a name that is its own, or one that whoever started the server
 * (systemd) listens at already and hands over. For server.c.
 */
#ifndef TB_LISTENING_H
#define TB_LISTENING_H

#include "lib/serving/wire.h"

#include <stdbool.h>
#include <sys/types.h>

typedef enum tb_naming {
    TB_NAMED,
    TB_NAME_IS_TAKEN,      /* another server has it, or systemd listens for one */
    TB_NAME_IS_IMPOSSIBLE, /* there is no such folder, or something else has the name */
    TB_HANDED_ANOTHER,     /* what was handed over is no socket for clients */
} tb_naming;

typedef struct tb_listening {
    int socket;     /* -1: nobody can come yet */
    bool is_handed; /* whoever has handed it over keeps the name */
    int folder, lock;
    char name[TB_WIRE_NAME_SIZE]; /* in the folder */
    dev_t device;                 /* of the name's file, as the server has made it */
    ino_t inode;
} tb_listening;

/* A socket that was handed over, or else the name at which the server will listen: before its devices are up, so that two servers do not
 * bring them up at once. path: NULL for the name in the user's own folder, where clients look by themselves. */
tb_naming tb_take_name(tb_listening *listening, const char *path);

/* False: the socket cannot be made. */
bool tb_listen(tb_listening *listening);

/* Whether clients still find it: nobody has removed the name, or put another socket there. */
bool tb_is_found(const tb_listening *listening);

void tb_stop_listening(tb_listening *listening);

#endif
