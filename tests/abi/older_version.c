/* What a BLAS had under a name before: kept for programs that were linked with it then, and for nobody else. */
#include <stdlib.h>

void older_sgemm(void);
__asm__(".symver older_sgemm, sgemm_@OLDER");

void older_sgemm(void)
{
    abort();
}
