#include "lib/machine/slots.h"

#include "dispatch/tiling.h"
#include "lib/machine/machine.h"
#include "lib/user/options.h"

/* Slots of 8 MiB, unless the option says otherwise: long enough for the link's full rate, and all of them
 * together stay in the caches of a host that has a GPU. */
#define PINNED_MIB        (2L * TB_SLOTS * 8)
#define PINNED_MIB_IN_ALL 256L

size_t tb_slot_bytes(void)
{
    long mib = tb_option_value(TB_OPTION_PINNED_MEMORY);
    int devices = tb_machine_device_count();
    if (mib == 0)
        mib = devices * PINNED_MIB > PINNED_MIB_IN_ALL ? PINNED_MIB_IN_ALL / devices : PINNED_MIB;
    return ((size_t)mib << 20) / (2 * TB_SLOTS);
}
