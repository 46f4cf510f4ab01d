/* A question to `tileblas explain` and its answer. explain.c reads the question, explain_answer.c answers it.
 */
#ifndef TOOL_EXPLAIN_ANSWER_H
#define TOOL_EXPLAIN_ANSWER_H

#include "dispatch/plan.h"

typedef struct question {
    tb_product product;
    tb_memory memory;
    const char *assumed; /* name of the GPU that is supposed, "none", or NULL: this machine's */
    tb_facts facts;
    bool as_json;
    bool wants_all; /* kernels too that are chosen only when forced; JSON has them anyway */
} question;

/* Decides and prints; answers an exit status. */
int explain_answer(const question *question);

#endif
