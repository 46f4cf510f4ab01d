#include "bench/regret_report.h"

#include "bench/expect.h"
#include "bench/timing.h"

#include <math.h>

/* A product for which one of these is exceeded gets a line: our time over the best choice's, and over the host's. */
#define REGRET_NAMED    1.3
#define OVER_HOST_NAMED 1.1

static void write_product(bench_json *json, regret_memory memory, const tb_product *p,
                          const regret_times *times)
{
    bench_json_begin(json, NULL, '{');
    bench_json_text(json, "memory", regret_memory_names[memory]);
    bench_json_integer(json, "m", p->m);
    bench_json_integer(json, "n", p->n);
    bench_json_integer(json, "k", p->k);
    bench_json_text(json, "transposes", regret_letters(p));
    bench_json_number(json, "flop", bench_flop(p));
    bench_json_number(json, "bytes", (double)tb_product_bytes(p));
    bench_json_text(json, "plan", times->plan);
    bench_json_text(json, "best_route", times->best.route);
    bench_json_text(json, "best_kernel", times->best.kernel);
    bench_json_number(json, "seconds", times->alone.seconds);
    bench_json_number(json, "best_seconds", times->best.seconds);
    if (memory != REGRET_DEVICE) {
        bench_json_number(json, "host_seconds", times->host.seconds);
        bench_json_number(json, "streamed_seconds", times->streamed.seconds);
        bench_json_integer(json, "turns", times->turns);
        bench_json_integer(json, "turns_left_host", times->turns_left_host);
        bench_json_number(json, "settled_over_host", times->outcome.settled);
        bench_json_integer(json, "settling_rounds", times->settling_rounds);
    }
    bench_json_number(json, "regret", times->outcome.regret);
    bench_json_end(json, '}');
}

static void print_product(regret_memory memory, const tb_product *p, const regret_times *times)
{
    printf("%-8s %5lld %5lld %5lld %s %6.2f, settled %.2f of the host's  %.3f ms by \"%s\"; best %s %s\n",
           regret_memory_names[memory], (long long)p->m, (long long)p->n, (long long)p->k, regret_letters(p),
           times->outcome.regret, times->outcome.settled, 1e3 * times->alone.seconds, times->plan,
           times->best.route, times->best.kernel);
}

void regret_report_product(bench_json *json, regret_memory memory, const tb_product *p,
                           const regret_times *times)
{
    const regret_outcome *outcome = &times->outcome;
    write_product(json, memory, p, times);
    if (outcome->regret > REGRET_NAMED || outcome->over_host > OVER_HOST_NAMED ||
        outcome->settled > OVER_HOST_NAMED)
        print_product(memory, p, times);
}

regret_summary regret_summarize(const regret_outcome *outcomes, int count)
{
    regret_summary summary = {0};
    double *regrets = malloc((size_t)count * sizeof *regrets);
    bench_expect(regrets != NULL, "out of memory");
    double sum = 0;
    for (int i = 0; i < count; i++) {
        regrets[i] = outcomes[i].regret;
        sum += log(regrets[i]);
        summary.left_host += outcomes[i].over_host > 0;
        summary.worst_over_host = fmax(summary.worst_over_host, outcomes[i].over_host);
        summary.settled_away += outcomes[i].settled > 0;
        summary.worst_settled = fmax(summary.worst_settled, outcomes[i].settled);
    }
    qsort(regrets, (size_t)count, sizeof *regrets, bench_compare);
    summary.mean = exp(sum / count);
    summary.high = regrets[count * 95 / 100];
    summary.worst = regrets[count - 1];
    free(regrets);
    return summary;
}

void regret_print_summary(regret_memory memory, const regret_summary *summary, int count)
{
    printf("%-8s %d shapes: geometric mean %.3f, 95th percentile %.2f, worst %.2f",
           regret_memory_names[memory], count, summary->mean, summary->high, summary->worst);
    if (memory != REGRET_DEVICE)
        printf("; %d left the host, at worst %.2f of its time; settled %d, at worst %.2f", summary->left_host,
               summary->worst_over_host, summary->settled_away, summary->worst_settled);
    printf("\n");
    fflush(stdout);
}

void regret_write_summary(bench_json *json, regret_memory memory, const regret_summary *summary)
{
    bench_json_begin(json, regret_memory_names[memory], '{');
    bench_json_number(json, "geometric_mean", summary->mean);
    bench_json_number(json, "percentile_95", summary->high);
    bench_json_number(json, "worst", summary->worst);
    if (memory != REGRET_DEVICE) {
        bench_json_integer(json, "left_host", summary->left_host);
        bench_json_number(json, "worst_over_host", summary->worst_over_host);
        bench_json_integer(json, "settled_away", summary->settled_away);
        bench_json_number(json, "worst_settled", summary->worst_settled);
    }
    bench_json_end(json, '}');
}
