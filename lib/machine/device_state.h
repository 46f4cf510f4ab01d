/* In words: whether products of this process can run on a device, and why not. For tileblas.h's reports and for the command,
 * which so say the same.
 */
#ifndef TB_DEVICE_STATE_H
#define TB_DEVICE_STATE_H

#include <stddef.h>

/* "up: NVIDIA H200", "not started yet: ...", "none: no NVIDIA driver ..."; returns what snprintf returns. */
int tb_print_device_state(char *text, size_t size);

/* Why there is none, once it has been looked for. */
const char *tb_why_no_device(void);

#endif
