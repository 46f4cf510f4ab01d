/* Every function of the driver that the library looks up, but for those of libcuda.c: out of memory is what it says. */
#include "lib/device/driver.h"

/* Each has the driver's own name, whatever its parameters are. */
#define TEXT(name) #name
#define ANSWER(name)                                                                                         \
    __attribute__((weak, visibility("default"))) CUresult answer_##name(void) __asm__(TEXT(name));           \
    CUresult answer_##name(void)                                                                             \
    {                                                                                                        \
        return CUDA_ERROR_OUT_OF_MEMORY;                                                                     \
    }

TB_DRIVER_FUNCTIONS(ANSWER)
