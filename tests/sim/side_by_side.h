/* Whether sides of an exchange wait for each other before they begin (side_by_side.c). Then there is one call at a time. */
#ifndef TB_SIDE_BY_SIDE_H
#define TB_SIDE_BY_SIDE_H

#include <stdbool.h>

extern bool sides_wait;

#endif
