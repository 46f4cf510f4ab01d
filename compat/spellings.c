#include "compat/spellings.h"

#define CBLAS(ROUTINE, symbol, bits)   {#symbol, TB_##ROUTINE, true, false, bits},
#define WORK(ROUTINE, symbol, bits)    {#symbol, TB_##ROUTINE, true, true, bits},
#define FORTRAN(ROUTINE, symbol, bits) {#symbol, TB_##ROUTINE, false, false, bits},

const tb_spelling_row tb_spelling_rows[TB_SPELLING_COUNT] = {
#define TB_ROUTINE(NAME, name, CLASS, element)        TB_SPELLINGS_OF(CBLAS, FORTRAN, NAME, name)
#define TB_LAPACK_ROUTINE(NAME, name, CLASS, element) TB_LAPACK_SPELLINGS_OF(CBLAS, WORK, FORTRAN, NAME, name)
#include "words/routines.def"
#undef TB_ROUTINE
};
