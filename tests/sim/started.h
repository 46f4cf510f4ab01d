/* For tests that use the device by themselves: a first call brings it up. */
#ifndef TB_TEST_STARTED_H
#define TB_TEST_STARTED_H

#include "include/tileblas.h"

void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                 int);

static inline void start_device(void)
{
    static float a[1], b[1], c[1];
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("START", "wait");
    cblas_sgemm(102, 111, 111, 1, 1, 1, 1, a, 1, b, 1, 0, c, 1);
}

#endif
