/* A client's connection to the server (`tileblas serve`): the greeting, and orders and answers by what the two then share (wire.h).
 *
 * One connection a process at a time. It is lost when the server ends, stands still for long, or has found something wrong; every
 * order answers TB_DEVICE_LOST at once then, until the connection is forgotten.
 */
#ifndef TB_CONNECTION_H
#define TB_CONNECTION_H

#include "lib/serving/wire.h"

#include <sched.h>

/* Whether a server answers, within so long: it may only be being started behind its socket. slot_bytes: as a pipeline's slots will
 * be. */
bool tb_connect_to_server(size_t slot_bytes, int milliseconds);

/* Nobody uses the connection any more; or this is a forked child, whose parent's it is. Another one may be made. */
void tb_forget_server(void);
void tb_forget_server_in_child(void);

/* What the server has said of its devices. Connected only. */
const tb_welcome *tb_server_welcome(void);

/* Memory that both sides map, as tb_server_welcome()->slots says, and by how many steps it has grown up to now. */
char *tb_server_slots(void);
uint32_t tb_server_slots_steps(void);

/* Whether the server has been told of the key of an operand, not 0. */
bool tb_server_knows_key(uint64_t key);

/* Around all that a thread orders. Where the server has taken back what this client held of the devices' memory while no thread was
 * between the two, forget is called first, by one thread. */
void tb_begin_orders(void (*forget)(void));
void tb_end_orders(void);

/* The cores on which the server's thread for this client had better run, as the client's own threads want the others; once. */
bool tb_server_knows_cores(void);
void tb_tell_server_cores(const cpu_set_t *cores);

/* Sends an order. Of those that are answered the answer is waited for; answers may be NULL. */
tb_status tb_send_order(const tb_order *order);
tb_status tb_ask_server(tb_order *order, uint64_t answers[2]);

/* Waits until the record has passed; and whether it has. */
tb_status tb_wait_for_record(uint32_t event, uint32_t number);
bool tb_record_has_passed(uint32_t event, uint32_t number);

#endif
