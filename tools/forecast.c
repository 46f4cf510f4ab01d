/* `tileblas forecast`: what a recorded program's products would take on another machine. Each kind of call is decided upon by
 * the library's own tb_decide, for the GPU that is supposed; what the host takes for it was measured where the record was
 * made.
 */
#include "lib/call/facts.h"
#include "lib/reports/json.h"
#include "lib/user/printable.h"
#include "tools/explain_answer.h"
#include "tools/record.h"
#include "tools/supposed_gpu.h"
#include "tools/tool.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: tileblas forecast FILE [OPTION]...\n"
    "\n"
    "What the products of a program that `tileblas run --record FILE` has run would take on a machine with "
    "another GPU,\n"
    "in all and by routine. Host times are those of the record; the GPU is taken to be up from the start.\n"
    "\n"
    "  --assume h200|h100|l40s|rtx4090   the GPU; h200 is the default\n"
    "  --json                            as one line of JSON\n"
    "  --help                            this\n";

/* Seconds of some calls: as they were recorded, on the host alone, and with the GPU. */
typedef struct outlook {
    double calls, device_calls; /* those that the GPU would serve */
    double if_alike;            /* of these, if magnitudes are alike, as it is supposed */
    double recorded, host, then;
} outlook;

static void add(outlook *sum, const outlook *amount)
{
    sum->calls += amount->calls;
    sum->device_calls += amount->device_calls;
    sum->if_alike += amount->if_alike;
    sum->recorded += amount->recorded;
    sum->host += amount->host;
    sum->then += amount->then;
}

static tb_memory memory_of(char letter)
{
    return letter == 'p'   ? TB_MEMORY_PINNED
           : letter == 'm' ? TB_MEMORY_MANAGED
           : letter == 'd' ? TB_MEMORY_DEVICE
                           : TB_MEMORY_HOST;
}

/* What the host takes for one of them: as measured, or as was forecast where it was not measured; 0 where neither is known. */
static double host_seconds_of(const tb_called *called)
{
    if (called->host_calls > 0)
        return called->host_seconds / (double)called->host_calls;
    return called->device_calls > 0 ? called->host_forecast / (double)called->device_calls : 0;
}

/* A plan for operands on the device has no forecast, as there is no choice. */
static double device_seconds_of(const tb_product *product, const tb_plan *plan, const tb_chip *chip)
{
    if (plan->device_seconds > 0 || !plan->kernel)
        return plan->device_seconds;
    return tb_plan_seconds(plan, product, chip);
}

static outlook look_ahead(const tb_called *called, const supposed_gpu *gpu, int cores)
{
    const problem problem = record_problem(called);
    tb_product product = problem_product(&problem);
    tb_facts facts = {0};
    problem_settle_leading_dimensions(&product);
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        facts.places[role] = (tb_place){.memory = memory_of(called->places[role])};
    tb_gather_facts(tb_task_of_product(&product), &facts);
    suppose_gpu(gpu, &facts.machine);
    facts.machine.host_cores = cores > 0 ? cores : facts.machine.host_cores;
    facts.machine.host_ratio = facts.machine.streamed_ratio = facts.machine.sharing_ratio = 1;
    facts.repeated = (tb_repeated){0};
    const double presumed = tb_host_seconds(&product, &facts.machine), measured = host_seconds_of(called);
    const double host = measured > 0 ? measured : presumed;
    if (presumed > 0)
        facts.machine.host_ratio = host / presumed;
    tb_plan plan = tb_decide(&product, &facts);
    product.like_magnitudes = plan.reason == TB_REASON_MAGNITUDES;
    if (product.like_magnitudes)
        plan = tb_decide(&product, &facts);
    const double calls = (double)(called->host_calls + called->device_calls);
    const double device = plan.route == TB_ROUTE_HOST ? 0 : device_seconds_of(&product, &plan, &gpu->chip);
    return (outlook){.calls = calls,
                     .device_calls = device > 0 ? calls : 0,
                     .if_alike = device > 0 && product.like_magnitudes ? calls : 0,
                     .recorded = called->host_seconds + called->device_seconds,
                     .host = calls * host,
                     .then = calls * (device > 0 ? device : host)};
}

static double times(const outlook *outlook)
{
    return outlook->then > 0 ? outlook->host / outlook->then : 1;
}

/* Sums of what a stranger's file says may be more than an integer holds. */
static long long whole(double calls)
{
    return (long long)fmin(calls, 9e18);
}

static void write_members(tb_json *json, const outlook *outlook)
{
    tb_json_integer(json, "calls", whole(outlook->calls));
    tb_json_integer(json, "device_calls", whole(outlook->device_calls));
    tb_json_integer(json, "device_calls_if_alike", whole(outlook->if_alike));
    tb_json_number(json, "recorded_seconds", outlook->recorded);
    tb_json_number(json, "host_seconds", outlook->host);
    tb_json_number(json, "seconds", outlook->then);
}

static int print_json(const record *record, const supposed_gpu *gpu, const outlook *all,
                      const outlook *by_routine)
{
    tb_json json = {0};
    tb_json_open(&json, NULL, '{');
    tb_json_text(&json, "program", record->program);
    tb_json_text(&json, "gpu", gpu->name);
    tb_json_boolean(&json, "measured", gpu->measured);
    tb_json_integer(&json, "cores", record->cores);
    tb_json_integer(&json, "left_out", (long long)record->left_out);
    write_members(&json, all);
    tb_json_open(&json, "routines", '{');
    for (tb_routine routine = 0; routine < TB_PRODUCT_ROUTINES; routine++) {
        if (by_routine[routine].calls == 0)
            continue;
        tb_json_open(&json, tb_routine_rows[routine].name, '{');
        write_members(&json, &by_routine[routine]);
        tb_json_close(&json, '}');
    }
    tb_json_close(&json, '}');
    tb_json_close(&json, '}');
    return tool_print_json(&json);
}

static void print_row(const char *name, const outlook *row)
{
    tool_say("%-10s %10.0f %10.0f %12.3f %12.3f %8.1f\n", name, row->calls, row->device_calls, row->host,
             row->then, times(row));
}

static int print_words(const record *record, const supposed_gpu *gpu, const outlook *all,
                       const outlook *by_routine)
{
    static char program[sizeof record->program];
    strcpy(program, record->program);
    tb_make_printable(program); /* its line ends as well */
    tool_say("%s: %.0f products, %.3f s in them as recorded, on %d cores\n", program, all->calls,
             all->recorded, record->cores);
    if (record->left_out > 0)
        tool_say("%llu more were called, of which the record keeps no shape\n", record->left_out);
    tool_say("with      %s%s\n\n", gpu->name, gpu->measured ? "" : ", by its data sheet");
    tool_say("%-10s %10s %10s %12s %12s %8s\n", "routine", "calls", "on the GPU", "host alone",
             "with the GPU", "times");
    for (tb_routine routine = 0; routine < TB_PRODUCT_ROUTINES; routine++)
        if (by_routine[routine].calls > 0)
            print_row(tb_routine_rows[routine].name, &by_routine[routine]);
    print_row("all", all);
    if (all->if_alike > 0)
        tool_say("\n%.0f of the calls on the GPU are there only if magnitudes in each matrix are alike\n",
                 all->if_alike);
    return tool_print("");
}

static int forecast(const char *path, const supposed_gpu *gpu, bool as_json)
{
    static outlook by_routine[TB_PRODUCT_ROUTINES];
    static record record;
    outlook all = {0};
    tb_called called;
    if (!record_read(path, &record)) {
        tool_complain("forecast", "%s: %s", path, errno ? strerror(errno) : "this is no record");
        return TOOL_FAILED;
    }
    for (size_t place = 0; place < TB_CALLED_PLACES; place++) {
        if (!tb_read_called(place, &called))
            continue;
        const outlook amount = look_ahead(&called, gpu, record.cores);
        add(&by_routine[called.routine], &amount);
        add(&all, &amount);
    }
    return (as_json ? print_json : print_words)(&record, gpu, &all, by_routine);
}

int tool_forecast(int argc, char **argv)
{
    static const struct option options[] = {
        {"assume", required_argument, NULL, 'a'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    const supposed_gpu *gpu = find_supposed_gpu("h200");
    bool as_json = false;
    int option;
    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1)
        switch (option) {
        case 'a':
            gpu = find_supposed_gpu(optarg);
            if (!gpu)
                return tool_usage("forecast", "--assume cannot be '%s'", optarg);
            break;
        case 'j':
            as_json = true;
            break;
        case 'h':
            return tool_print(help);
        default:
            return tool_usage("forecast", "wrong option");
        }
    if (argc - optind != 1)
        return tool_usage("forecast", "which record?");
    return forecast(argv[optind], gpu, as_json);
}
