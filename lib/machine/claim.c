#include "lib/machine/claim.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Processes that a device is claimed by, at most. */
enum { CLAIMS_MOST = 64 };

static bool has_identity(const tb_device_description *description)
{
    static const unsigned char nobody[sizeof description->uuid];
    return memcmp(description->uuid, nobody, sizeof nobody) != 0;
}

/* Of the abstract namespace, which has no files: the leading zero. */
static socklen_t name_claim(const tb_device_description *description, int number, struct sockaddr_un *name)
{
    char *text = name->sun_path + 1, *const end = name->sun_path + sizeof name->sun_path;
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    text += snprintf(text, (size_t)(end - text), "tileblas-%d-", number);
    for (size_t i = 0; i < sizeof description->uuid; i++)
        text += snprintf(text, (size_t)(end - text), "%02x", description->uuid[i]);
    return (socklen_t)(text - (char *)name);
}

/* The socket is never closed: the program may have closed it, and its number be another file's. Where there are no sockets
 * nobody claims anything. */
static bool claim(const tb_device_description *description, int number)
{
    struct sockaddr_un name;
    const socklen_t length = name_claim(description, number, &name);
    const int claimed = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (claimed < 0 || bind(claimed, (struct sockaddr *)&name, length) == 0)
        return true;
    const bool is_taken = errno == EADDRINUSE;
    close(claimed);
    return !is_taken;
}

bool tb_claim_device(const tb_device_description *description)
{
    return !has_identity(description) || claim(description, 0);
}

int tb_claim_home(const tb_device_description *descriptions, int count)
{
    if (count < 2 || !has_identity(&descriptions[0]))
        return 0;
    for (int number = 0; number < CLAIMS_MOST; number++)
        for (int device = 0; device < count; device++)
            if (strcmp(descriptions[device].name, descriptions[0].name) == 0 &&
                claim(&descriptions[device], number))
                return device;
    return 0;
}
