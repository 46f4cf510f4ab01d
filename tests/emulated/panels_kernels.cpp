/* The kernels of panels. */
#include "tests/emulated/cuda.h"
#include "tests/emulated/table.h"

#include "kernels/panels/panel.h"

#define ROUTINES(ROW) ROW(spotrf_panel) ROW(dpotrf_panel) ROW(cpotrf_panel) ROW(zpotrf_panel)

#define DECLARE(name) extern "C" void name(const tb_potrf_panel x);
ROUTINES(DECLARE)

#define ROW(name) {#name, emulated_call<tb_potrf_panel, name>},
const emulated_row emulated_rows[] = {ROUTINES(ROW){nullptr, nullptr}};
