/* Every file of device code that the catalog names has been compiled, and every one that has been compiled is named. */
#include "kernels/catalog.h"
#include "kernels/fp64/launch_dgemm.h"
#include "kernels/panels/launch_geqrf.h"
#include "kernels/panels/launch_getrf.h"
#include "kernels/panels/launch_laswp.h"
#include "kernels/panels/launch_panel.h"
#include "lib/device/code.h"
#include "tests/check.h"

/* The first word of a fat binary. */
#define FAT_BINARY 0xba55ed50u

enum { MOST = 256 };

extern const tb_code tb_own_code;

static const tb_module *modules[MOST];
static int module_count;

static void note(const tb_module *module)
{
    for (int i = 0; i < module_count; i++)
        if (modules[i] == module)
            return;
    if (CHECK(module_count < MOST, "more than %d files", MOST))
        modules[module_count++] = module;
}

int main(void)
{
    for (size_t row = 0; row < tb_catalog_size; row++)
        note(tb_catalog[row].entries->module);
    note(tb_entry_simt_reduce.module);
    note(tb_entry_dgemm_mma_reduce.module);
    for (tb_element element = TB_FP32; element <= TB_FP64; element++) {
        note(tb_entry_skinny_reduce[element].module);
        note(tb_entries_expand[element][0].module);
    }
    note(tb_entries_fold[TB_FP32].module);
    note(tb_entries_laswp[TB_FP32].module);
    note(tb_entries_panel_laswp[TB_FP32].module);
    note(tb_entries_masked_copy[TB_FP32].module);
    for (tb_element element = 0; element < TB_ELEMENTS; element++) {
        note(tb_entries_potrf_panel[element].module);
        note(tb_entries_getrf[TB_GETRF_ALONE][TB_GETRF_ROWS_4][element].module);
        note(tb_entries_geqrf[TB_GEQRF_ALONE][element].module);
    }
    for (int i = 0; i < module_count; i++) {
        const uint32_t *binary = tb_binary_in(&tb_own_code, modules[i]->name);
        CHECK(binary && *binary == FAT_BINARY, "there is no fat binary of %s", modules[i]->name);
    }
    CHECK((uint64_t)module_count == tb_own_code.count, "%d files are named, %d compiled", module_count,
          (int)tb_own_code.count);
    return check_result();
}
