/* A launcher that hands launches on to another one: for rows whose launches are, in part, those of other rows. */
#ifndef TB_FORWARDER_H
#define TB_FORWARDER_H

#include "kernels/kernel.h"

/* Hands launches on, or only sees to it that their code is there. */
typedef struct tb_forwarder {
    tb_launcher interface;
    const tb_launcher *device;
    bool only_loads;
} tb_forwarder;

tb_forwarder tb_forward_to(const tb_launcher *device);

#endif
