/* What the host does of a factorization. */
#ifndef TB_FINISH_FACTOR_H
#define TB_FINISH_FACTOR_H

#include "lib/call/host.h"

/* What is left where so many columns of A are finished, and so many of B, and the others are as they were: brings A's up to date, and has
 * the host factor what is to be factored still; and solves for B's. info: of the finished columns, which a factorization with pivots went on
 * after. */
void tb_finish_factor(const tb_factor *factor, int64_t done, int64_t solved, int64_t info,
                      const tb_host *host);

/* Where numbers on A's diagonal that are 0 end all, before anything is written. */
bool tb_divides_by_diagonal(const tb_factor *factor);

/* There the first of these, from 1; or 0. */
int64_t tb_first_zero(const tb_factor *factor);

/* A square matrix in host memory becomes I. */
void tb_set_identity(const tb_matrix *matrix);

#endif
