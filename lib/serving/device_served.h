/* Devices that the server has up: a table like any device's (lib/device/device.h), whose operations are orders (wire.h). */
#ifndef TB_DEVICE_SERVED_H
#define TB_DEVICE_SERVED_H

#include <stdbool.h>
#include <stddef.h>

/* Whether there is a server: from then on its devices have ordinals from TB_SERVED_FIRST on, are open, and may be used
 * (lib/device/served_use.h). What they are tb_server_welcome() tells. The last one, if there was any, has been forgotten. */
bool tb_meet_server(size_t slot_bytes, int milliseconds);

/* In a forked child. */
void tb_forget_served_devices(void);

#endif
