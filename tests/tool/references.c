/* A library that refers to a routine by every name that TileBLAS takes over: more than most programs do together. */
#include "compat/spellings.h"

#define DECLARE(ROUTINE, symbol, bits)         extern void symbol(void) __attribute__((weak));
#define REFERENCE(ROUTINE, symbol, bits)       symbol,
#define TB_ROUTINE(NAME, name, CLASS, element) TB_SPELLINGS_OF(DECLARE, DECLARE, NAME, name)
#define TB_LAPACK_ROUTINE(NAME, name, CLASS, element)                                                        \
    TB_LAPACK_SPELLINGS_OF(DECLARE, DECLARE, DECLARE, NAME, name)
#include "words/routines.def"
#undef TB_ROUTINE

void (*const references[])(void) = {
#define TB_ROUTINE(NAME, name, CLASS, element) TB_SPELLINGS_OF(REFERENCE, REFERENCE, NAME, name)
#define TB_LAPACK_ROUTINE(NAME, name, CLASS, element)                                                        \
    TB_LAPACK_SPELLINGS_OF(REFERENCE, REFERENCE, REFERENCE, NAME, name)
#include "words/routines.def"
#undef TB_ROUTINE
};
