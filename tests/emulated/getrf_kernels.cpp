/* The kernels of GETRF's panels: for 7.5 those of one element. */
#include "tests/emulated/cuda.h"
#include "tests/emulated/table.h"

#include "kernels/panels/getrf.h"

#define FORMS(ROW, letter) ROW(letter##getrf_alone) ROW(letter##getrf_cluster) ROW(letter##getrf_grid)
#if defined EMULATED_ARCHITECTURE && EMULATED_ARCHITECTURE == 75
#define PANELS(ROW) FORMS(ROW, d)
#define EXCHANGES(ROW)
#else
#define PANELS(ROW)    FORMS(ROW, s) FORMS(ROW, d) FORMS(ROW, c) FORMS(ROW, z)
#define EXCHANGES(ROW) ROW(slaswp) ROW(dlaswp) ROW(claswp) ROW(zlaswp)
#endif

#define DECLARE_PANEL(name)    extern "C" void name(const tb_getrf_panel x);
#define DECLARE_EXCHANGE(name) extern "C" void name(const tb_laswp x);
PANELS(DECLARE_PANEL)
EXCHANGES(DECLARE_EXCHANGE)

#define PANEL_ROW(name)    {#name, emulated_call<tb_getrf_panel, name>},
#define EXCHANGE_ROW(name) {#name, emulated_call<tb_laswp, name>},
const emulated_row emulated_rows[] = {PANELS(PANEL_ROW) EXCHANGES(EXCHANGE_ROW){nullptr, nullptr}};
