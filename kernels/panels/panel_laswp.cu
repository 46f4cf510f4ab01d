/* panel_laswp: a panel's exchanges of rows, of all elements. */
#include "kernels/panels/panel_laswp.cuh"

TB_PANEL_LASWP_STAMP(s, float)
TB_PANEL_LASWP_STAMP(d, double)
TB_PANEL_LASWP_STAMP(c, panels::complex<float>)
TB_PANEL_LASWP_STAMP(z, panels::complex<double>)
