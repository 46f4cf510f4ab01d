/* What bench/regret says: of each product an object of JSON, and a line where the choice was a bad one; of all products in one
 * memory a line and an object.
 */
#ifndef BENCH_REGRET_REPORT_H
#define BENCH_REGRET_REPORT_H

#include "bench/json.h"
#include "bench/regret_choices.h"

void regret_report_product(bench_json *json, regret_memory memory, const tb_product *p,
                           const regret_times *times);

typedef struct regret_summary {
    double mean, high, worst; /* geometric mean, 95th percentile */
    int left_host;            /* products that left it in most of their turns */
    double worst_over_host;   /* of these */
    int settled_away;         /* products that most of the further turns left the host with */
    double worst_settled;
} regret_summary;

regret_summary regret_summarize(const regret_outcome *outcomes, int count);
void regret_print_summary(regret_memory memory, const regret_summary *summary, int count);
void regret_write_summary(bench_json *json, regret_memory memory, const regret_summary *summary);

#endif
