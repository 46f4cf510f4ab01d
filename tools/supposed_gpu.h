/* GPUs that can be supposed where there is none, or another one. */
#ifndef TOOL_SUPPOSED_GPU_H
#define TOOL_SUPPOSED_GPU_H

#include "dispatch/plan.h"

typedef struct supposed_gpu {
    const char *option, *name;
    bool measured; /* the cost model was, on this one; of others it goes by the data sheet */
    tb_chip chip;
} supposed_gpu;

/* Finds it by the option's name; NULL where there is no such. */
const supposed_gpu *find_supposed_gpu(const char *option);

/* The machine has this one, up and running, and no other. */
void suppose_gpu(const supposed_gpu *gpu, tb_machine *machine);

#endif
