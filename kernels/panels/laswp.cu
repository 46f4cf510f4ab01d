/* laswp: exchanges of rows, of all elements. */
#include "kernels/panels/laswp.cuh"

TB_LASWP_STAMP(s, float)
TB_LASWP_STAMP(d, double)
TB_LASWP_STAMP(c, panels::complex<float>)
TB_LASWP_STAMP(z, panels::complex<double>)
