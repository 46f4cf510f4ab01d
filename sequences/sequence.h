/* Algorithms: tasks that no kernel does as a whole, written down as steps that kernels do. A row of the catalog that is a
 * sequence says which one (tb_kernel.sequence).
 *
 * A sequence is a walk: it hands its steps to a visitor, one after the other, and each may read all that those before it have
 * written. It knows no device, clock or kernel. One visitor forecasts what the steps take and chooses a row of the catalog
 * for each size of product (dispatch/sequence_choice.c); another launches them (launch_row.c). A walk may hand on the steps
 * of another one.
 */
#ifndef TB_SEQUENCE_H
#define TB_SEQUENCE_H

#include "kernels/kernel.h"
#include "words/factor.h"
#include "words/lowered.h"

typedef enum tb_step_kind {
    TB_STEP_PRODUCT,  /* of any kind, also in C's place: by another row of the catalog */
    TB_STEP_MOVE,     /* an operand is written out, or scaled where it lies */
    TB_STEP_MEND,     /* tb_launch_mending: by the code of the sequence's own row */
    TB_STEP_PANEL,    /* a block of a factorization, by kernels/panels */
    TB_STEP_EXCHANGE, /* of rows */
    TB_STEP_REFLECT, /* a panel's B, by the reflectors that its A has below the diagonal; on the host alone */
} tb_step_kind;

typedef struct tb_sequence_step {
    tb_step_kind kind;
    /* A product's: those of one size are computed by one row, which is chosen for the first of them. */
    int64_t size;
    union {
        tb_product
            product; /* A and B are the parts of matrices that are read, C is the part that is written */
        tb_expansion move;
        tb_row_exchange exchange;
    };
    bool is_of_a;          /* a move: of A alone, so that what the launch before has written serves again */
    bool notes_rows;       /* a move with notes: as in tb_launch_noting_expand */
    uint32_t *notes;       /* NULL: none are taken */
    const tb_matrix *copy; /* mending: of C as it was */
    tb_factor panel;       /* which begins at a position of the task's matrix */
    int64_t position;
    tb_range finished; /* columns of the task's result that no later step writes; a count of 0: none */
} tb_sequence_step;

typedef struct tb_visitor tb_visitor;
struct tb_visitor {
    tb_status (*visit)(tb_visitor *visitor, const tb_sequence_step *step);
};

/* The walk of an algorithm. block: how finely it cuts the task, one of its blocks. workspace: where its steps write what is
 * neither the task's nor a row's. */
tb_status tb_walk(tb_sequence sequence, const tb_product *task, int64_t block, void *workspace,
                  tb_visitor *visitor);

/* Blocks that are worth a forecast, at least one; returns how many. */
enum { TB_BLOCKS_MOST = 3 };
int tb_blocks_of(tb_sequence sequence, const tb_product *task, int64_t blocks[TB_BLOCKS_MOST]);

/* Bytes of the workspace that the walk writes itself. */
size_t tb_workspace_of(tb_sequence sequence, const tb_product *task);

/* ---- What is chosen for a sequence ------------------------------------------------------------------------ */

/* A schedule's deal. A size that is not listed, as where there are too many, has the row of the last one. */
enum { TB_SIZES_MOST = 40 };
typedef struct tb_sequence_deal {
    int64_t block;
    int32_t count;
    uint32_t sizes[TB_SIZES_MOST];
    int16_t rows[TB_SIZES_MOST]; /* of the catalog */
} tb_sequence_deal;

/* The size's place in the list, or the count where it is not there. */
int tb_find_size(const tb_sequence_deal *deal, int64_t size);

/* What rows compute of a step's product: itself, or the one that it is lowered to. What is written out for that lies in the
 * workspace, from *used on. */
const tb_product *tb_lower_step(const tb_product *product, void *workspace, size_t *used,
                                tb_product *lowered);

/* Gives an operand its place in the workspace, from *used on. */
void tb_place_operand(tb_matrix *operand, void *workspace, size_t *used);

/* Launches a row of the catalog, whether it is a sequence or a kernel, as has been scheduled for this very product and target
 * (dispatch/schedule.h). Of a sequence nothing is launched before all code that it takes is on the device. */
tb_status tb_launch_row(const tb_launcher *launcher, const tb_kernel *kernel, const tb_product *product,
                        const tb_schedule *schedule, void *workspace);

#endif
