/* Commands: what a device is told to do in a stream (tb_enqueue, lib/device/device.h), as plain data of bounded size.
 *
 * A command can be copied byte by byte, and carried out by another process of the same build: kernels are named by their rows in
 * the catalog, and what it reads and writes lies in device memory, in pinned memory, or, of a copy to or from a device that
 * takes it (copies_pageable), anywhere in host memory. That goes for tables of a batch's matrices, too. Fields that the
 * command's kind, or its batch, has no use for mean nothing.
 */
#ifndef TB_COMMAND_H
#define TB_COMMAND_H

#include "kernels/catalog.h"
#include "words/factor.h"
#include "words/folded.h"
#include "words/masked_copy.h"

typedef enum tb_direction { TB_HOST_TO_DEVICE, TB_DEVICE_TO_HOST, TB_DEVICE_TO_DEVICE } tb_direction;

/* rows of row_bytes each; pitches are the distance between rows in bytes, at least row_bytes when rows > 1. */
typedef struct tb_copy {
    tb_direction direction;
    void *target;
    size_t target_pitch;
    const void *source;
    size_t source_pitch;
    size_t row_bytes, rows;
} tb_copy;

/* A copy of so many bytes that lie together. */
static inline tb_copy tb_copy_of_bytes(tb_direction direction, void *target, const void *source, size_t bytes)
{
    return (tb_copy){direction, target, bytes, source, bytes, bytes, 1};
}

/* The product's operands are of the kernel's element; the workspace has as many bytes as the schedule asks for, which was
 * prepared for this product. */
typedef struct tb_launch {
    uint32_t row; /* the kernel's, in the catalog */
    /* The launch before in this stream was of the same row with this workspace and this A, whose elements have not changed: what
     * was made of A serves again. */
    bool same_a;
    void *workspace;
    tb_product product;
    tb_schedule schedule;
} tb_launch;

/* A block of a factorization, which begins at a position of the matrix (kernels/panels/launch_panel.h); its pivots, info and the
 * workspace, which may be NULL where tb_panel_workspace is 0, are in device memory. */
typedef struct tb_panel {
    tb_factor block;
    int64_t position;
    int64_t *info;
    void *workspace;
} tb_panel;

typedef enum tb_command_kind {
    TB_COMMAND_COPY,
    TB_COMMAND_COPY_MASKED, /* copies a part of a matrix within the device; source and target do not overlap */
    TB_COMMAND_EXPAND, /* writes an operand out; source and target do not overlap, unless they are the same and nothing moves */
    TB_COMMAND_FOLD,     /* adds a square matrix and its transpose to C; none of them overlap */
    TB_COMMAND_LAUNCH,   /* computes a product */
    TB_COMMAND_PANEL,    /* factors a block; POTRF's only while info is 0 */
    TB_COMMAND_EXCHANGE, /* exchanges rows by pivots, which are in device memory */
} tb_command_kind;

typedef struct tb_command {
    tb_command_kind kind;
    union {
        tb_copy copy;
        tb_masked_copy masked;
        tb_expansion expansion;
        tb_folding folding;
        tb_launch launch;
        tb_panel panel;
        tb_row_exchange exchange;
    };
} tb_command;

/* The program's list of matrices that are equally far apart is left behind: nobody reads it. */
static inline void tb_leave_lists(tb_batch *batch)
{
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        if (!batch->members[role].uneven)
            batch->members[role].starts = NULL;
}

/* Begins to make a launch, in place: the product, the schedule and the workspace are the caller's to set. */
static inline tb_launch *tb_begin_launch(tb_command *command, const tb_kernel *kernel)
{
    command->kind = TB_COMMAND_LAUNCH;
    command->launch.row = tb_row_of(kernel);
    command->launch.same_a = false;
    return &command->launch;
}

/* The kernel of a launch that a device of this compute capability can carry out; NULL: it is refused. Refused are
 *
 *   - a row that the catalog does not have, or that does not run on the device;
 *   - a product that its row does not compute (tb_kernel_computes): a batch, a mask, a second term, ...;
 *   - operands of another element than the row's, or whose sizes are not those that m, n and k say;
 *   - an A or B that misses the row's alignment;
 *   - no workspace where the schedule asks for one.
 *
 * Whether memory is there, as far as operands reach, and whether the schedule is the product's, is not looked at. */
static inline const tb_kernel *tb_kernel_of(const tb_launch *launch, int architecture)
{
    const tb_product *product = &launch->product;
    if (launch->row >= tb_catalog_size)
        return NULL;
    const tb_kernel *kernel = &tb_catalog[launch->row];
    const bool accepted =
        tb_kernel_runs_on(kernel, architecture) && tb_kernel_computes(kernel, product) &&
        product->a.element == kernel->element && product->b.element == kernel->element &&
        tb_sizes_agree(product) && (launch->workspace || launch->schedule.workspace == 0) &&
        (kernel->alignment == 1 || product->k == 0 ||
         (tb_kernel_takes(kernel, product, TB_A) && tb_kernel_takes(kernel, product, TB_B)));
    return accepted ? kernel : NULL;
}

#endif
