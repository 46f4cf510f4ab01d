/* The kernels of panels. */
#include "tests/emulated/cuda.h"
#include "tests/emulated/table.h"

#include "kernels/panels/panel.h"

extern "C" void dpotrf_panel(const tb_potrf_panel x);

const emulated_row emulated_rows[] = {{"dpotrf_panel", emulated_call<tb_potrf_panel, dpotrf_panel>},
                                      {nullptr, nullptr}};
