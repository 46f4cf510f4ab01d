/* The catalog of a build for old chips alone, whose code newer chips run as PTX: it has no row whose kernel is empty there, and
 * no kernel is launched early, since none waits.
 */
#include "kernels/catalog.h"
#include "kernels/simt/launch_simt.h"
#include "kernels/simt/launch_skinny.h"
#include "tests/check.h"

#include <string.h>

/* The rows are those that this build compiles for its own architectures; the tensor-core rows are always for sm_80 or sm_90a. */
static void a_row_suits(const tb_kernel *kernel)
{
    static const int architectures[] = {75, 80, 86, 89, 90, 100, 103, 120};
    const bool is_for_later = strcmp(kernel->name, "sgemm_simt_128x256") == 0 ||
                              strcmp(kernel->name, "sgemm_simt_128x128_2") == 0 ||
                              strcmp(kernel->name, "sgemm_simt_128x64_4") == 0 ||
                              strcmp(kernel->name, "sgemm_simt_128x16_k") == 0 ||
                              strcmp(kernel->name, "sgemm_simt_16x128_k") == 0 ||
                              strcmp(kernel->name, "sgemm_simt_64x64_4") == 0;
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++)
        CHECK(tb_kernel_runs_on(kernel, architectures[i]) != is_for_later, "%s on %d", kernel->name,
              architectures[i]);
    for (int entry = 0; entry < TB_SIMT_VECTOR; entry++)
        CHECK(!kernel->entries[entry].early, "%s is launched early", kernel->entries[entry].symbol);
}

/* Whose kernels add nothing up between blocks where the code is older than clusters. */
static void a_skinny_row_is_never_early(const tb_kernel *kernel)
{
    const int entries = TB_SKINNY_ENTRIES_COUNT((int)tb_bytes_of(kernel->element));
    for (int entry = 0; entry < entries; entry++)
        CHECK(!kernel->entries[entry].early, "%s is launched early", kernel->entries[entry].symbol);
}

int main(void)
{
    int rows = 0, skinny = 0;
    for (size_t row = 0; row < tb_catalog_size; row++)
        if (tb_catalog[row].launch == tb_launch_simt) {
            a_row_suits(&tb_catalog[row]);
            rows++;
        } else if (tb_catalog[row].launch == tb_launch_skinny) {
            a_skinny_row_is_never_early(&tb_catalog[row]);
            skinny++;
        }
    CHECK(rows >= 14 && skinny == TB_REAL_ELEMENTS, "only %d and %d rows of the families", rows, skinny);
    return check_result();
}
