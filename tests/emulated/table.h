/* The kernels that a program of emulated ones has, by their symbols: crt_kernels.cpp's or fp64_kernels.cpp's. */
#ifndef TB_EMULATED_TABLE_H
#define TB_EMULATED_TABLE_H

#include "tests/emulated/block.h"

struct emulated_row {
    const char *symbol; /* nullptr: behind the last one */
    emulated_kernel *kernel;
};
extern const emulated_row emulated_rows[];

/* A kernel that is given the address of its argument. */
template <class type, void kernel(type)> void emulated_call(const void *argument)
{
    kernel(*static_cast<const type *>(argument));
}

#endif
