#include "kernels/launch.h"

#include "kernels/forecast.h"
#include "words/integers.h"

#include <math.h>

#define ARGUMENTS_OF(type, real, product)                                                                    \
    (type)                                                                                                   \
    {                                                                                                        \
        .m = (product)->m, .n = (product)->n, .k = (product)->k, .lda = (product)->a.ld,                     \
        .ldb = (product)->b.ld, .ldc = (product)->c.ld, .a = (product)->a.data, .b = (product)->b.data,      \
        .c = (product)->c.data, .alpha = (real)(product)->alpha.re, .beta = (real)(product)->beta.re,        \
        .transpose_a = (product)->a.transposed, .transpose_b = (product)->b.transposed,                      \
        .mask = (int32_t)(product)->mask, .mask_step = (int32_t)tb_mask_step(product),                       \
        .diagonal = (product)->diagonal,                                                                     \
    }

tb_sgemm tb_sgemm_of(const tb_product *product)
{
    return ARGUMENTS_OF(tb_sgemm, float, product);
}

tb_dgemm tb_dgemm_of(const tb_product *product)
{
    return ARGUMENTS_OF(tb_dgemm, double, product);
}

tb_batches tb_batches_of(const tb_batch *batch)
{
    tb_batches batches = {.many = batch->count > 1};
    for (tb_role role = TB_A; role < TB_ROLES && batches.many; role++) {
        const tb_members *members = &batch->members[role];
        batches.strides[role] = members->stride;
        batches.tables[role] = members->uneven ? members->starts : NULL;
    }
    return batches;
}

tb_status tb_launch_tiles(const tb_launcher *launcher, const tb_kernel *kernel, const tb_product *product,
                          const tb_schedule *schedule, void *workspace)
{
    (void)schedule, (void)workspace;
    int64_t tiles_m = tb_ceil_div(product->m, kernel->tile_m),
            tiles_n = tb_ceil_div(product->n, kernel->tile_n);
    union {
        tb_sgemm single_precision;
        tb_dgemm double_precision;
    } arguments;
    if (kernel->element == TB_FP64) {
        arguments.double_precision = tb_dgemm_of(product);
        arguments.double_precision.unless = launcher->unless;
    } else
        arguments.single_precision = tb_sgemm_of(product);
    if (tiles_m > TB_BLOCKS_MAXIMUM / tiles_n)
        return TB_UNSUPPORTED;
    return launcher->launch(launcher, &kernel->entries[tb_transposition(product)], tiles_m * tiles_n,
                            kernel->threads, kernel->shared_bytes, &arguments);
}

/* A cluster lies within a group of multiprocessors. Large devices have eight groups, small ones at most one for every 16;
 * multiprocessors come in pairs, so that a group may have room for an even number of blocks left over. */
#define GROUPS_MAXIMUM        8
#define GROUP_MULTIPROCESSORS 16
#define SMALL_DEVICE          60

static int64_t least_clusters(int cluster, int multiprocessors)
{
    bool small = multiprocessors <= SMALL_DEVICE;
    int64_t groups = small ? tb_ceil_div(multiprocessors, GROUP_MULTIPROCESSORS) : GROUPS_MAXIMUM;
    int64_t room = (int64_t)multiprocessors - groups * ((cluster - 1) / 2 * 2);
    return room > 0 ? room / cluster : 0;
}

int64_t tb_clusters_at_a_time(int cluster, int blocks, tb_target target)
{
    if (target.clusters && blocks <= TB_CLUSTER_LEVELS)
        return target.clusters->at_a_time[0][cluster] > 0 ? target.clusters->at_a_time[blocks - 1][cluster]
                                                          : 0;
    return blocks * least_clusters(cluster, target.multiprocessors);
}

int64_t tb_busiest_share(int64_t blocks, int cluster, int most, tb_target target)
{
    int share = 1;
    if (cluster <= 2)
        return tb_ceil_div(blocks, target.multiprocessors);
    while (share < most && blocks / cluster > tb_clusters_at_a_time(cluster, share, target))
        share++;
    return share;
}

/* What `dealt` tiles read of one operand, in its rows or columns of so many bytes. The tiles lie in so many lines, and in as many
 * columns of tiles as `times`. */
static double scattered_extent(double bytes, int64_t dealt, int64_t lines, int64_t times, int64_t tile,
                               int64_t extent)
{
    const int64_t together = tb_smaller(lines * tile, extent);
    const bool stays = bytes * (double)together <= TB_L2_BYTES / 2;
    return (double)(stays ? together : tb_smaller(dealt * tile, times * together));
}

double tb_scattered_readings(const tb_kernel *kernel, const tb_product *product, int64_t dealt, int group)
{
    if (tb_is_batch(product))
        return 0;
    const int64_t tiles_m = tb_ceil_div(product->m, kernel->tile_m),
                  tiles_n = tb_ceil_div(product->n, kernel->tile_n);
    const int64_t rows = tb_smaller(tb_ceil_div(dealt, tb_smaller(group, tiles_n)), tiles_m),
                  columns = tb_smaller(tb_ceil_div(dealt, rows), tiles_n);
    /* Complex numbers in A are half as many bytes as what they stand for. */
    const double share = kernel->reads == TB_READS_COMPLEX ? 0.5 : 1,
                 bytes = (double)product->k * (double)tb_bytes_of(tb_real_of(kernel->element));
    return (share * scattered_extent(share * bytes, dealt, rows, columns, kernel->tile_m, product->m) +
            scattered_extent(bytes, dealt, columns, rows, kernel->tile_n, product->n)) /
           (share * (double)product->m + (tb_has_one_operand(product) ? 0 : (double)product->n));
}

bool tb_moves_vectors(const tb_product *product)
{
    enum { VECTOR = 16 };
    const tb_kernel aligned = {.alignment = VECTOR / (int)tb_bytes_of(tb_real_of(tb_element_of(product)))};
    return tb_kernel_takes(&aligned, product, TB_A) && tb_kernel_takes(&aligned, product, TB_B);
}

int32_t tb_reduce_lanes(int64_t parts)
{
    return parts < 4 ? 256 : parts < 16 ? 64 : 16;
}

/* Multiprocessors of 7.5 and 8.0 do 64 (CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions"). */
double tb_share_of_lanes(int architecture)
{
    return architecture == 75 || architecture == 80 ? 0.5 : 1;
}

/* FP64 multiply-adds against FP32 ones, by the same table: 32 of 64 on 8.0, 64 of 128 on 9.0 and 10.0, 2 of 64 on 7.5, and 2 of
 * 128 on the others. */
double tb_share_of_element(tb_element element, int architecture)
{
    if (tb_real_of(element) == TB_FP32)
        return 1;
    switch (architecture) {
    case 80:
    case 90:
    case 100:
        return 1.0 / 2;
    case 75:
        return 1.0 / 32;
    default:
        return 1.0 / 64;
    }
}

double tb_share_of_row(const tb_kernel *kernel, int architecture)
{
    enum { MEASURED_ARCHITECTURE = 90 };
    return fmin(tb_share_of_element(kernel->element, architecture),
                kernel->efficiency * tb_share_of_element(kernel->element, MEASURED_ARCHITECTURE));
}

double tb_row_clocks(const tb_kernel *kernel, const tb_product *product, tb_target target)
{
    const double rate = TB_FMA_A_CLOCK * tb_share_of_row(kernel, target.architecture);
    return tb_masked_elements(product) * (double)product->k / (rate * target.multiprocessors);
}

double tb_memory_bytes_a_clock(tb_target target, double clock, double memory_rate)
{
    const double clocks = clock * tb_share_of_lanes(target.architecture) * target.multiprocessors;
    return clocks > 0 && memory_rate > 0 ? memory_rate / clocks : 0;
}
