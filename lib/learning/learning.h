/* What calls really took, against what had been forecast, by element and class of shape. A forecast is
 * multiplied by what has been learned of its class; where nothing has, by what has been learned of the class
 * nearest in size. Elements learn nothing of each other: they are multiplied by other instructions, or even
 * kernels. Nor do products and factorizations, whose ratios are not in the table that is kept.
 */
#ifndef TB_LEARNING_H
#define TB_LEARNING_H

#include "dispatch/plan.h"
#include "words/task.h"

/* ---- As a table, to be kept ------------------------------------------------------------------------------- */

typedef enum tb_learned {
    TB_LEARNED_HOST,
    TB_LEARNED_PAGEABLE,        /* streamed, an operand in ordinary memory */
    TB_LEARNED_PINNED,          /* streamed, all of them pinned */
    TB_LEARNED_SHARED_PAGEABLE, /* the same, through several devices */
    TB_LEARNED_SHARED_PINNED,
    TB_LEARNED_KINDS,
} tb_learned;

enum { TB_LEARNED_CLASSES = 48 };

/* A class's ratio, 0 where nothing has been learned. */
float tb_get_learned(tb_element element, tb_learned kind, int class);

/* A ratio to begin with: what has been learned already stays. */
void tb_suggest_learned(tb_element element, tb_learned kind, int class, float ratio);

/* ---- Tasks ------------------------------------------------------------------------------------------------ */

/* What is learned is learned of single products and of factorizations, in classes and of each that is repeated (repeated.h). */

/* Fills in the facts what is known of the task; its matrices have been located. Of a batch that is what is known of its first
 * product. */
void tb_recall_task(tb_task task, tb_facts *facts);

/* The call took so many seconds. facts are those of its decision. */
void tb_learn_task(tb_task task, const tb_facts *facts, const tb_plan *plan, double seconds);

/* ---- Products by their classes ---------------------------------------------------------------------------- */

/* Fills facts->machine's ratios for this product; the operands have been located. */
void tb_recall(const tb_product *product, tb_facts *facts);

/* A call that the host answered, or that was streamed, took so many seconds. facts are those of its decision. */
void tb_learn_host(const tb_product *product, const tb_facts *facts, double seconds);
void tb_learn_streamed(const tb_product *product, const tb_facts *facts, const tb_plan *plan, double seconds);

#endif
