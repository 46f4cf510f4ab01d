/* The products of bench/regret: random shapes of a routine, and their operands in ordinary, pinned or device memory. */
#ifndef BENCH_REGRET_PRODUCTS_H
#define BENCH_REGRET_PRODUCTS_H

#include "bench/routine.h"

typedef enum regret_memory { REGRET_PAGEABLE, REGRET_PINNED, REGRET_DEVICE, REGRET_MEMORIES } regret_memory;
extern const char *const regret_memory_names[REGRET_MEMORIES];

/* Draws by rand(). The operands are nowhere yet. One of GEMMT's factors is transposed. */
tb_product regret_draw_product(const bench_routine *routine);

/* Random numbers, in matrices that regret_release_operands frees. */
void regret_make_operands(regret_memory memory, tb_product *p);
void regret_release_operands(regret_memory memory, const tb_product *p);

/* "NT" for op(A) and op(B); or "LN" for the side of what is no general matrix, and whether that is transposed. */
const char *regret_letters(const tb_product *p);

#endif
