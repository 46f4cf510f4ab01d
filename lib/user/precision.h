/* What callers demand of results: the option PRECISION, or what the calling thread has said for itself. */
#ifndef TB_PRECISION_H
#define TB_PRECISION_H

#include "kernels/catalog.h"

tb_accuracy tb_wanted_accuracy(void);

#endif
