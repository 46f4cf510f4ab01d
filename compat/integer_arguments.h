/* What the exported functions of every class of routines share: integers as their callers meant them. */
#ifndef TB_INTEGER_ARGUMENTS_H
#define TB_INTEGER_ARGUMENTS_H

#include "compat/host_blas.h"

#include <stdint.h>
#include <string.h>

#define TB_EXPORTED __attribute__((visibility("default")))
/* Inlined into each stamp: a call of its own would have to copy the stack arguments. */
#define TB_INLINED static inline __attribute__((always_inline))

/* The upper half of a 32-bit argument is whatever was there before. */
TB_INLINED int64_t tb_integer_from(const tb_host_blas *host, int64_t value)
{
    return host->integer_bits == 32 ? (int32_t)value : value;
}

TB_INLINED int64_t tb_integer_at(const tb_host_blas *host, const void *address)
{
    int32_t narrow;
    int64_t wide;
    if (host->integer_bits == 64) {
        memcpy(&wide, address, sizeof wide);
        return wide;
    }
    memcpy(&narrow, address, sizeof narrow);
    return narrow;
}

/* An integer argument of the call that `host` is for, in either calling convention. */
#define OF_CBLAS(argument)   tb_integer_from(host, argument)
#define OF_FORTRAN(argument) tb_integer_at(host, argument)

#endif
