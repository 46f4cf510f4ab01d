/* Whether sides of an exchange wait for each other before they begin (side_by_side.c): one call at a time, each after
 * begin_side_by_side.
 */
#ifndef TB_SIDE_BY_SIDE_H
#define TB_SIDE_BY_SIDE_H

#include "lib/streaming/exchange.h"

#include <stdbool.h>

extern bool sides_wait;
void begin_side_by_side(void);

#endif
