/* bench/regret [--routine NAME] FILE [SHAPES [MEMORY ...]]: how much the dispatcher loses by choosing as it
 * does.
 *
 * Random products of the routine, SGEMM unless said otherwise, which may be any of level 3 that is no batch; each extent
 * log-uniform from 1 to 16384, all transposes and sides, operands in ordinary, pinned and device memory, or in the ones that
 * are named: the library left alone, beside the fastest of the routes and kernels that can be forced. Everything is timed in
 * turns in one process; medians. What the library learns on the way, it learns as in any program.
 */
#include "bench/expect.h"
#include "bench/regret_report.h"

#include <stdlib.h>
#include <string.h>

enum { SHAPES_DEFAULT = 200 };

/* The same products in every memory. */
static regret_summary run_products(bench_json *json, const bench_routine *routine, regret_memory memory,
                                   int shapes)
{
    regret_outcome *outcomes = malloc((size_t)shapes * sizeof *outcomes);
    bench_expect(outcomes != NULL, "out of memory");
    srand(1);
    for (int i = 0; i < shapes; i++) {
        tb_product p = regret_draw_product(routine);
        regret_make_operands(memory, &p);
        const regret_times times = regret_time(memory, &p);
        regret_report_product(json, memory, &p, &times);
        outcomes[i] = times.outcome;
        regret_release_operands(memory, &p);
        if ((i + 1) % 20 == 0)
            fprintf(stderr, "%s: %d of %d\n", regret_memory_names[memory], i + 1, shapes);
    }
    const regret_summary summary = regret_summarize(outcomes, shapes);
    regret_print_summary(memory, &summary, shapes);
    free(outcomes);
    return summary;
}

static bool is_memory(const char *name)
{
    for (regret_memory memory = 0; memory < REGRET_MEMORIES; memory++)
        if (strcmp(name, regret_memory_names[memory]) == 0)
            return true;
    return false;
}

/* All that are named, or all there are. */
static bool is_wanted(regret_memory memory, int count, char **names)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], regret_memory_names[memory]) == 0)
            return true;
    return count <= 0;
}

int main(int argc, char **argv)
{
    const bool named = argc > 2 && strcmp(argv[1], "--routine") == 0;
    const bench_routine *routine = bench_find_any_routine(named ? argv[2] : "sgemm");
    argv += named ? 2 : 0;
    argc -= named ? 2 : 0;
    if (argc < 2 || !routine) {
        fprintf(stderr, "usage: regret [--routine NAME] FILE.json [SHAPES [pageable|pinned|device ...]]\n");
        return 2;
    }
    int shapes = argc > 2 ? atoi(argv[2]) : SHAPES_DEFAULT;
    bench_expect(shapes > 0, "how many shapes?");
    for (int i = 3; i < argc; i++)
        bench_expect(is_memory(argv[i]), "there is no such memory");
    regret_summary summaries[REGRET_MEMORIES];
    regret_open_library(routine);
    FILE *file = fopen(argv[1], "w");
    bench_expect(file != NULL, argv[1]);
    bench_json json = bench_json_to(file);
    bench_json_begin(&json, NULL, '{');
    bench_json_text(&json, "routine", routine->name);
    bench_json_begin(&json, "products", '[');
    for (regret_memory memory = 0; memory < REGRET_MEMORIES; memory++)
        if (is_wanted(memory, argc - 3, argv + 3))
            summaries[memory] = run_products(&json, routine, memory, shapes);
    bench_json_end(&json, ']');
    for (regret_memory memory = 0; memory < REGRET_MEMORIES; memory++)
        if (is_wanted(memory, argc - 3, argv + 3))
            regret_write_summary(&json, memory, &summaries[memory]);
    bench_json_end(&json, '}');
    return fclose(file) == 0 ? 0 : 1;
}
