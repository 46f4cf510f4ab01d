/* What a client's order may do: nothing but to what the client holds. An order is looked at as a copy that the client cannot reach any
 * more; what passes may be given to a device as it is, whatever bytes the client has sent.
 */
#ifndef TB_CHECK_ORDER_H
#define TB_CHECK_ORDER_H

#include "lib/serving/wire.h"

/* What an order comes to that the client may not give, beside what devices answer. */
#define TB_REFUSED ((tb_status)-1)

/* What a client holds. */
typedef struct tb_holdings {
    char *slots;                   /* as the server has mapped them */
    const tb_slots_extent *extent; /* of those */
    uint32_t steps;                /* by which they have grown */
    /* Whether all these bytes of the device's memory are the client's. */
    bool (*holds)(const struct tb_holdings *holdings, int device, uint64_t address, uint64_t bytes);
} tb_holdings;

/* An offset in the slots becomes an address; NULL: not all of the bytes lie there, in one of the pieces that devices reach. */
char *tb_check_slot(const tb_holdings *holdings, uint64_t first, uint64_t bytes);

/* Whether the command is one that a device of this kind can carry out for the client. Offsets in the slots become addresses, and the
 * schedule of a launch is made anew. */
bool tb_check_command(const tb_holdings *holdings, const tb_chip *chip, tb_command *command);

#endif
