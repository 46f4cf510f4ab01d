/* The platform: what the runtime asks of the process rather than of a device. Whose memory an address is, pinned memory,
 * which every device reaches, and which devices there are. Which platform a binary has is decided at link time by the object
 * that defines tb_platform.
 */
#ifndef TB_PLATFORM_H
#define TB_PLATFORM_H

#include "lib/device/device.h"

/* Some bytes of the address space. */
typedef struct tb_span {
    uintptr_t start, bytes;
} tb_span;

typedef struct tb_platform_operations {
    const char *name;     /* "cuda", "simulated"; "none" where there are never any devices */
    const char *identity; /* of the kernels' code: another one's commands mean something else */
    /* What the names begin with of threads that the driver makes for itself, as the kernel has them; NULL: there are none. */
    const char *thread_names;

    /* Whether anything in this process could have handed out device memory. Cheap: asked on every call. */
    bool (*in_process)(void);

    /* The file that the kernels' code was found in, or an empty text where it was not. NULL, as the answer or in place of
     * this: no file was looked for. */
    const char *(*code_file)(void);

    /* Where an address lies. Any address is allowed; one the driver does not know is TB_MEMORY_HOST. And the bytes around it
     * that lie there too; none where nobody knows. span may be NULL. */
    void (*locate)(const void *address, tb_place *place, tb_span *span);

    tb_status (*allocate_pinned)(size_t bytes, void **memory);
    void (*release_pinned)(void *memory, size_t bytes); /* as many as were allocated */
    /* Makes memory that is there already pinned, which other processes may have mapped as well; and takes that back. A device is
     * open. */
    tb_status (*pin)(void *memory, size_t bytes);
    void (*unpin)(void *memory);

    /* Brings the driver up; called at most once. */
    tb_status (*open)(int *device_count);
    /* By ordinal: the table that serves the device, from then on. NULL: there are never any. */
    const tb_device_operations *const *tables;
} tb_platform_operations;

extern const tb_platform_operations tb_platform;

static inline bool tb_has_platform(void)
{
    return tb_platform.tables != NULL;
}

/* Devices that another process has up begin at this ordinal; below it are the platform's own. */
#define TB_SERVED_FIRST 32

/* Who serves those; NULL: nobody up to now. Set once, by lib/serving/device_served.c. */
extern const tb_device_operations *tb_served_devices;

/* The table of a device. */
static inline const tb_device_operations *tb_device_at(int ordinal)
{
    return ordinal >= TB_SERVED_FIRST ? tb_served_devices : tb_platform.tables[ordinal];
}

/* By whoever serves the device. */
TB_STAMP_SERVED(tb_status, allocate, tb_device_at(device), (int device, size_t bytes, void **memory),
                (device, bytes, memory))
TB_STAMP_SERVED(void, release, tb_device_at(device), (int device, void *memory), (device, memory))
TB_STAMP_SERVED(tb_status, create_stream, tb_device_at(device), (int device, tb_stream **stream),
                (device, stream))
TB_STAMP_SERVED(tb_status, create_event, tb_device_at(device), (int device, tb_event **event),
                (device, event))
TB_STAMP_SERVED(tb_status, adopt_stream, tb_device_at(place->device),
                (const tb_place *place, void *native, tb_stream **stream), (place, native, stream))
TB_STAMP_SERVED(bool, reaches, tb_device_at(device), (int device, int other), (device, other))
TB_STAMP_SERVED(tb_status, enable_access, tb_device_at(device), (int device, int other), (device, other))

#endif
