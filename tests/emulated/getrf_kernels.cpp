/* The kernels of GETRF's panels: for 7.5 those of one element. */
#include "tests/emulated/cuda.h"
#include "tests/emulated/table.h"

#include "kernels/panels/getrf.h"

#define FOUR(ROW, letter) ROW(letter##getrf_alone_4) ROW(letter##getrf_cluster_4) ROW(letter##getrf_grid_4)
#define ALL(ROW, letter)                                                                                     \
    FOUR(ROW, letter)                                                                                        \
    ROW(letter##getrf_alone_8) ROW(letter##getrf_cluster_8) ROW(letter##getrf_grid_8)                        \
        ROW(letter##getrf_alone_deep) ROW(letter##getrf_cluster_deep) ROW(letter##getrf_grid_deep)
#if defined EMULATED_ARCHITECTURE && EMULATED_ARCHITECTURE == 75
#define PANELS(ROW) ALL(ROW, d)
#define EXCHANGES(ROW)
#else
#define PANELS(ROW) ALL(ROW, s) ALL(ROW, d) ALL(ROW, c) FOUR(ROW, z)
#define EXCHANGES(ROW)                                                                                       \
    ROW(slaswp)                                                                                              \
    ROW(dlaswp)                                                                                              \
    ROW(claswp) ROW(zlaswp) ROW(spanel_laswp) ROW(dpanel_laswp) ROW(cpanel_laswp) ROW(zpanel_laswp)
#endif

#define DECLARE_PANEL(name)    extern "C" void name(const tb_getrf_panel x);
#define DECLARE_EXCHANGE(name) extern "C" void name(const tb_laswp x);
PANELS(DECLARE_PANEL)
EXCHANGES(DECLARE_EXCHANGE)

#define PANEL_ROW(name)    {#name, emulated_call<tb_getrf_panel, name>},
#define EXCHANGE_ROW(name) {#name, emulated_call<tb_laswp, name>},
const emulated_row emulated_rows[] = {PANELS(PANEL_ROW) EXCHANGES(EXCHANGE_ROW){nullptr, nullptr}};
