/* Where an operand lies. Vocabulary shared by the device interface, the runtime and the dispatcher. */
#ifndef TB_PLACE_H
#define TB_PLACE_H

#include <stdbool.h>

typedef enum tb_memory {
    TB_MEMORY_HOST,    /* ordinary pageable memory */
    TB_MEMORY_PINNED,  /* host memory the device can reach by itself */
    TB_MEMORY_MANAGED, /* migrates; host and device can both reach it */
    TB_MEMORY_DEVICE,  /* only the device can reach it */
} tb_memory;

typedef struct tb_place {
    tb_memory memory;
    int device;          /* ordinal; meaningful for managed and device memory */
    bool write_combined; /* pinned memory that the host reads at a hundredth of its speed */
    void *context;       /* the driver's context that owns it, NULL for the primary one */
} tb_place;

/* Kernels can use it as it is, at full speed. */
static inline bool tb_is_on_device(const tb_place *place)
{
    return place->memory == TB_MEMORY_DEVICE || place->memory == TB_MEMORY_MANAGED;
}

static inline bool tb_is_in_host_memory(const tb_place *place)
{
    return !tb_is_on_device(place);
}

#endif
