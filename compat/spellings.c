#include "compat/spellings.h"

const tb_spelling_row tb_spelling_rows[TB_SPELLING_COUNT] = {
#define TB_CBLAS_NAME(symbol, bits)   {#symbol, true, bits},
#define TB_FORTRAN_NAME(symbol, bits) {#symbol, false, bits},
#include "compat/sgemm_names.def"
#undef TB_CBLAS_NAME
#undef TB_FORTRAN_NAME
};
