/* Launch functions that catalog rows share. */
#ifndef TB_LAUNCH_H
#define TB_LAUNCH_H

#include "kernels/batches.h"
#include "kernels/dgemm.h"
#include "kernels/kernel.h"
#include "kernels/sgemm.h"
#include "words/folded.h"
#include "words/lowered.h"
#include "words/masked_copy.h"

/* gridDim.x of every architecture served. */
#define TB_BLOCKS_MAXIMUM INT64_C(0x7fffffff)

/* A product of single, or double, precision, as kernels are given it. */
tb_sgemm tb_sgemm_of(const tb_product *product);
tb_dgemm tb_dgemm_of(const tb_product *product);

/* Where the matrices of a batch lie; of a single product, whatever number 0 makes of it. */
tb_batches tb_batches_of(const tb_batch *batch);

/* One block per tile of C, in a one-dimensional grid: the kernel itself maps blocks to tiles. */
tb_status tb_launch_tiles(const tb_launcher *launcher, const tb_kernel *kernel, const tb_product *product,
                          const tb_schedule *schedule, void *workspace);

/* Writes an operand out: kernels/expand. Source and target do not overlap; or they are the same memory, of a general source that
 * is neither transposed nor embedded. Both are aligned to reals of their precision. */
tb_status tb_launch_expand(const tb_launcher *launcher, const tb_expansion *expansion);

/* The same; and for each tile of the target, TB_EXPAND_TILE numbers wide and high, numbered by columns, a word of bits tells
 * which of its columns, or rows, have numbers that are not finite. */
tb_status tb_launch_noting_expand(const tb_launcher *launcher, const tb_expansion *expansion, bool notes_rows,
                                  uint32_t *notes);

/* Adds a matrix and its transpose to C: kernels/fold. */
tb_status tb_launch_fold(const tb_launcher *launcher, const tb_folding *folding);

/* Copies a part of a matrix: kernels/masked. Source and target do not overlap, and are aligned to reals of their precision. What is no
 * masked copy is refused, TB_UNSUPPORTED. */
tb_status tb_launch_masked_copy(const tb_launcher *launcher, const tb_masked_copy *copy);

/* Triangular products and solves in C's place, in one launch, without workspace: kernels/triangular. C has elements, and alpha is
 * not 0. */
TB_DECLARE_CALLBACKS(triangle);

/* FP64 from INT8: kernels/crt. */
TB_DECLARE_CALLBACKS(crt_sm90);
TB_DECLARE_CALLBACKS(crt_sm75);
TB_DECLARE_CALLBACKS(crt_sm80);

/* Numbers of an operand: of some rows of op(A), or columns of op(B), which are this one's rows, at some of their steps of k. */
enum { TB_SAMPLE_ROWS = 16, TB_SAMPLE_STEPS = 64 };
typedef struct tb_sample {
    double numbers[TB_SAMPLE_ROWS][TB_SAMPLE_STEPS];
} tb_sample;

/* Whether scaled integers serve for operands with so many steps of k, of which these are samples (tb_product.like_magnitudes). */
bool tb_crt_suits(const tb_sample *a, const tb_sample *b, int64_t k);

/* So many clusters of so many blocks run at a time where `blocks` fit a multiprocessor. Where the device's are not known, as few
 * as on any device. */
int64_t tb_clusters_at_a_time(int cluster, int blocks, tb_target target);

/* Blocks of the busiest multiprocessor, which has room for so many; with clusters, as many as share one before all of those are
 * running. */
int64_t tb_busiest_share(int64_t blocks, int cluster, int most, tb_target target);

/* What pieces that do not end with tiles read from memory for their `dealt` tiles, of a group's columns: so many times what A and
 * B have together. Blocks at work are then at different k, so that tiles with a panel in common read it once each, unless L2
 * holds what all of these tiles read of its operand. 0 of a batch. */
double tb_scattered_readings(const tb_kernel *kernel, const tb_product *product, int64_t dealt, int group);

/* Whether both operands can be copied 16 bytes at a time, in every product of a batch. */
bool tb_moves_vectors(const tb_product *product);

/* Lanes that add up a share of a tile's parts each: fewer, and so more groups of them and more blocks, the more parts there
 * are. */
int32_t tb_reduce_lanes(int64_t parts);

/* The share that a multiprocessor does of the 128 multiply-adds a clock that forecasts count with. */
double tb_share_of_lanes(int architecture);

/* How many multiply-adds of an element a multiprocessor does, as a share of its FP32 multiply-adds a clock. */
double tb_share_of_element(tb_element element, int architecture);

/* The same with a row that has an efficiency and no forecast of its own. What keeps it from the peak of 9.0, where efficiencies
 * are measured, are not the units of its element: chips with fewer of these are no slower until that is their peak. */
double tb_share_of_row(const tb_kernel *kernel, int architecture);

/* The clocks of such a row. It leaves out what is masked, and no zeros. */
double tb_row_clocks(const tb_kernel *kernel, const tb_product *product, tb_target target);

/* A target's memory_bytes_a_clock, of a data sheet's highest rates, in Hz and bytes a second; 0 where one of them is unknown. */
double tb_memory_bytes_a_clock(tb_target target, double clock, double memory_rate);

#endif
