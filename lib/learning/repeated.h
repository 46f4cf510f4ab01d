/* Products that a program computes again and again: what each way took of this very product, for the last
 * thousand or so different ones. That is a better forecast than any model of the machine.
 */
#ifndef TB_REPEATED_H
#define TB_REPEATED_H

#include "dispatch/plan.h"
#include "words/product.h"

/* Fills facts->repeated, and the machine's ratios where both have been learned from this product; the
 * operands have been located, and the ratios filled from the product's class. */
void tb_recall_product(const tb_product *product, tb_facts *facts);

/* The call took so many seconds. facts are those of its decision; calls whose way was forced teach nothing. */
void tb_learn_product(const tb_product *product, const tb_facts *facts, const tb_plan *plan, double seconds);

#endif
