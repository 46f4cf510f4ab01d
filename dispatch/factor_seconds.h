/* What a factorization takes, in seconds: of the host, and of a device to which the stored triangle travels, and back. */
#ifndef TB_FACTOR_SECONDS_H
#define TB_FACTOR_SECONDS_H

#include "dispatch/plan.h"
#include "words/factor.h"

/* Factorizations of a smaller order are the host's without any forecast: even a device that has the matrix takes as long. */
#define TB_FACTOR_ORDER_LEAST 256

double tb_factor_host_seconds(const tb_factor *factor, const tb_machine *machine);

/* Less than any device takes that is like the machine's first, or, while it is not ready, about what a middling one takes: quick to
 * tell. */
double tb_factor_seconds_least(const tb_factor *factor, const tb_facts *facts);

/* With blocks of so many columns on the device. */
double tb_factor_seconds(const tb_factor *factor, const tb_facts *facts, const tb_chip *chip, int64_t block);

/* The steps alone, whatever has been learned. As many of them are looked at as some blocks have, however many there are. */
double tb_factor_steps_seconds(const tb_factor *factor, const tb_facts *facts, const tb_chip *chip,
                               int64_t block);

#endif
