/* What tests ask tb_decide: a product, where its operands lie, the state of a machine with H200s, and what is forced. A row also
 * holds what the answer has to be, where it is one of the table in decide.c.
 */
#ifndef TB_DECIDE_ROW_H
#define TB_DECIDE_ROW_H

#include "dispatch/plan.h"

#define H TB_MEMORY_HOST
#define P TB_MEMORY_PINNED
#define M TB_MEMORY_MANAGED
#define D TB_MEMORY_DEVICE

#define H200(ordinal)                                                                                        \
    {                                                                                                        \
        .device = (ordinal), .open = true, .architecture = 90, .multiprocessors = 132, .clock = 1.76e9,      \
        .memory_rate = 4.2e12, .link_in = 55e9, .link_out = 55e9                                             \
    }
static const tb_chip h200s[] = {H200(0), H200(1), H200(2), H200(3), H200(4), H200(5), H200(6), H200(7)};

enum { AUTO = -1 };

typedef struct row {
    int64_t m, n, k;
    tb_memory a, b, c;
    tb_readiness readiness;
    int route;          /* forced, or AUTO */
    const char *kernel; /* forced, or "" */
    const char *plan;   /* how its text begins */
    tb_start start;
} row;

/* All operands on the device; nothing is forced. */
static inline row row_on_device(int64_t m, int64_t n, int64_t k)
{
    return (row){m, n, k, D, D, D, TB_READY, AUTO, "", "", TB_START_NOT};
}

/* Operands 64 bytes aligned, leading dimensions as short as they can be. */
static inline tb_product product_of(const row *row)
{
    static float memory[16] __attribute__((aligned(64)));
    return tb_gemm(TB_SGEMM, false, false, row->m, row->n, row->k, 1, memory, row->m, memory,
                   row->k > 0 ? row->k : 1, 1, memory, row->m);
}

/* The row's product of another element. */
static inline tb_product product_of_element(const row *row, tb_element element)
{
    tb_product product = product_of(row);
    product.routine = element == TB_FP64 ? TB_DGEMM : TB_SGEMM;
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        product.operands[role].element = element;
    return product;
}

/* The product reads the same matrix, of which the transpose lies in memory. */
static inline void lay_across(tb_operand *operand)
{
    const int64_t rows = operand->rows;
    operand->rows = operand->columns;
    operand->columns = rows;
    operand->transposed = !operand->transposed;
    operand->ld = operand->rows;
}

static inline tb_facts facts_of(const row *row)
{
    tb_facts facts = {
        .places = {{.memory = row->a}, {.memory = row->b}, {.memory = row->c}},
        .machine = {.readiness = row->readiness, .host_cores = 16},
        .kernels = tb_catalog,
        .kernel_count = tb_catalog_size,
        .route_forced = row->route != AUTO,
        .forced_route = row->route != AUTO ? (tb_route)row->route : TB_ROUTE_HOST,
        .kernel_forced = row->kernel[0] != '\0',
        .forced_kernel = tb_find_kernel(row->kernel),
    };
    if (row->readiness == TB_READY) {
        facts.machine.chips = h200s;
        facts.machine.chip_count = 1;
    }
    return facts;
}

#endif
