/* What kernels are told of a batch, and of one product: whether there are many, and where a next matrix lies.
 * A kernel that takes a batch for one product computes its first product alone.
 */
#include "kernels/batches.h"
#include "kernels/catalog.h"
#include "kernels/expand/expand.h"
#include "kernels/fp64/dgemm_mma.h"
#include "kernels/launch.h"
#include "kernels/simt/simt.h"
#include "kernels/structured/structured.h"
#include "tests/check.h"
#include "tests/unit/products.h"
#include "words/members.h"
#include "words/lowered.h"

#include <string.h>

enum { SIDE = 70, MEMBERS = 5, STRIDE = 2 * SIDE * SIDE };

static tb_batches told;
static int launches;

static tb_status note_nothing(const tb_launcher *launcher, tb_entry *entry)
{
    (void)launcher, (void)entry;
    return TB_OK;
}

/* Stands in for a device: keeps what the launch is told. */
static tb_status note_launch(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                             int shared_bytes, const void *argument)
{
    (void)launcher, (void)blocks, (void)threads, (void)shared_bytes;
    const char *stem = entry->symbol;
    launches++;
    told = strstr(stem, "expand")       ? ((const tb_expand *)argument)->batches
           : strstr(stem, "structured") ? ((const tb_structured *)argument)->batches
           : strstr(stem, "gemm_mma")   ? ((const tb_dgemm_arguments *)argument)->batches
                                        : ((const tb_simt_arguments *)argument)->batches;
    return TB_OK;
}

static tb_status note_clusters(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int cluster,
                               int threads, int shared_bytes, const void *argument)
{
    (void)cluster;
    return note_launch(launcher, entry, blocks, threads, shared_bytes, argument);
}

static const tb_launcher launcher = {.target = {.architecture = 90, .multiprocessors = 132},
                                     .load = note_nothing,
                                     .launch = note_launch,
                                     .launch_clusters = note_clusters};

static tb_product product_of(tb_routine routine, bool is_batch)
{
    tb_product product = tb_gemm(routine, false, false, SIDE, SIDE, SIDE, 1, (void *)(1 << 12), SIDE,
                                 (void *)(1 << 13), SIDE, 0, (void *)(1 << 14), SIDE);
    for (tb_role role = TB_A; role < TB_ROLES && is_batch; role++)
        tb_spread(&product, role, MEMBERS, STRIDE, NULL);
    return product;
}

/* parts: in which the stride is counted, of a number. */
static void is_told(const char *who, bool is_batch, int parts)
{
    CHECK(launches > 0 && told.many == is_batch, "%s: %d launches, of %s", who, launches,
          told.many ? "many products" : "one product");
    CHECK(!is_batch || (told.strides[TB_A] == parts * STRIDE && !told.tables[TB_A]),
          "%s: the next A is %lld further on", who, (long long)told.strides[TB_A]);
}

static void rows_are_told(bool is_batch)
{
    static const tb_routine routines[] = {[TB_FP32] = TB_SGEMM,
                                          [TB_FP64] = TB_DGEMM,
                                          [TB_COMPLEX_FP32] = TB_CGEMM,
                                          [TB_COMPLEX_FP64] = TB_ZGEMM};
    for (size_t row = 0; row < tb_catalog_size; row++) {
        const tb_kernel *kernel = &tb_catalog[row];
        if (!kernel->batches || !tb_kernel_runs_on(kernel, 90))
            continue;
        const tb_product product = product_of(routines[kernel->element], is_batch);
        const tb_schedule schedule = tb_prepare(kernel, &product, launcher.target);
        launches = 0;
        CHECK(kernel->launch(&launcher, kernel, &product, &schedule, (void *)(1 << 20)) == TB_OK,
              "%s: not launched", kernel->name);
        is_told(kernel->name, is_batch, kernel->reads == TB_READS_COMPLEX ? 2 : 1);
    }
}

static void expansions_are_told(bool is_batch)
{
    const tb_product given = product_of(TB_ZGEMM, is_batch);
    tb_product lowered = tb_lowered(&given);
    lowered.a.data = (void *)(1 << 16);
    const tb_expansion expansion = tb_expansion_of(&given, &lowered, TB_A, 0);
    launches = 0;
    CHECK(tb_launch_expand(&launcher, &expansion) == TB_OK, "not launched");
    is_told("expand", is_batch, 1);
}

int main(void)
{
    for (int is_batch = 0; is_batch < 2; is_batch++) {
        rows_are_told(is_batch);
        expansions_are_told(is_batch);
    }
    return check_result();
}
