/* The kernels of GEQRF's panels. */
#include "tests/emulated/cuda.h"
#include "tests/emulated/table.h"

#include "kernels/panels/geqrf.h"

#define FORMS(ROW, letter) ROW(letter##geqrf_alone) ROW(letter##geqrf_cluster) ROW(letter##geqrf_grid)
#define PANELS(ROW)        FORMS(ROW, s) FORMS(ROW, d) FORMS(ROW, c) FORMS(ROW, z)

#define DECLARE(name) extern "C" void name(const tb_geqrf_panel x);
PANELS(DECLARE)

#define ROW(name) {#name, emulated_call<tb_geqrf_panel, name>},
const emulated_row emulated_rows[] = {PANELS(ROW){nullptr, nullptr}};
