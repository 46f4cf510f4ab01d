/* The answer of `tileblas explain`: all candidates, the choice and the reason, in words and as JSON. */
#include "tools/explain_answer.h"

#include "lib/reports/json.h"
#include "lib/machine/device_state.h"
#include "lib/machine/machine.h"
#include "tools/server.h"
#include "tools/tool.h"
#include "words/members.h"
#include "words/folded.h"
#include "words/task.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

typedef struct candidate {
    bool possible;
    double seconds;
    const char *remark; /* why it is not possible */
} candidate;

typedef struct answer {
    candidate routes[TB_ROUTE_COUNT];
    tb_plan plan;
    tb_plan if_alike;    /* where its reason is that magnitudes are not known */
    size_t kernel_count; /* of the element of what is multiplied */
} answer;

static bool has_device(const question *question)
{
    return question->facts.machine.readiness == TB_READY;
}

static const tb_chip *chip_of(const question *question)
{
    return &question->facts.machine.chips[0];
}

static tb_plan plan_for(const question *question, tb_route route)
{
    tb_plan plan = {.route = route};
    memcpy(plan.places, question->facts.places, sizeof plan.places);
    if (has_device(question))
        plan.place.device = chip_of(question)->device;
    return plan;
}

static bool is_pitched(const question *question)
{
    return question->memory == TB_MEMORY_HOST || question->memory == TB_MEMORY_PINNED;
}

/* What is multiplied at a time: on the streamed route one of a batch's products, else one of two terms. */
static tb_product part_of(const question *question)
{
    return is_pitched(question) ? tb_member_of(&question->product, 0) : tb_term_of(&question->product, 0);
}

/* The same as the row multiplies it: complex numbers as they lie, or the real product. */
static tb_product multiplied_by(const question *question, const tb_kernel *kernel)
{
    const tb_product part = part_of(question);
    return kernel->reads == TB_READS_COMPLEX ? part : tb_lowered(&part);
}

static double kernel_seconds(const question *question, const tb_kernel *kernel)
{
    const tb_product multiplied = multiplied_by(question, kernel);
    return is_pitched(question) ? tb_kernel_seconds_by_swaths(kernel, &multiplied, chip_of(question))
                                : tb_resident_seconds(kernel, &question->product, chip_of(question));
}

/* The same of a row of the list: where updates of rank 2k are joined or folded, by each kernel for which that takes less time. */
static double row_seconds(const question *question, const answer *answer, const tb_kernel *kernel)
{
    double by_terms = kernel_seconds(question, kernel);
    if (answer->plan.joins && tb_kernel_joins(kernel, &question->product))
        by_terms = fmin(by_terms, tb_kernel_seconds(kernel, &question->product, chip_of(question)));
    if (!answer->plan.folds)
        return by_terms;
    const tb_product sums = tb_to_be_folded(&question->product);
    return fmin(by_terms, tb_resident_seconds(kernel, &sums, chip_of(question)) +
                              tb_folding_seconds(&question->product, chip_of(question)));
}

/* The kernel that would be taken on the resident route, if nothing were forced. */
static const tb_kernel *best_kernel(const question *question)
{
    const tb_product part = part_of(question), lowered = tb_lowered(&part);
    tb_plan plan = plan_for(question, TB_ROUTE_RESIDENT), directly = plan;
    if (!has_device(question) || !tb_choose_kernel(&lowered, &question->facts, false, &plan))
        return NULL;
    if (!tb_choose_kernel(&part, &question->facts, false, &directly) ||
        directly.kernel->reads != TB_READS_COMPLEX)
        return plan.kernel;
    return kernel_seconds(question, directly.kernel) < kernel_seconds(question, plan.kernel) ? directly.kernel
                                                                                             : plan.kernel;
}

/* The forecast of the streamed route, by as many devices as would share it; a batch's products go there one by one. */
static double streamed_seconds(const question *question)
{
    const tb_product one = tb_member_of(&question->product, 0), multiplied = tb_lowered(&one);
    const double members = (double)tb_members_of(&question->product);
    tb_plan plan = plan_for(question, TB_ROUTE_STREAMED);
    if (!has_device(question) || !tb_choose_kernel(&multiplied, &question->facts, false, &plan))
        return members * tb_streamed_seconds_least(&one, &question->facts);
    tb_choose_regions(&multiplied, &question->facts, false, &plan);
    return members * plan.device_seconds;
}

static tb_plan plan_if_alike(const question *question)
{
    tb_product alike = question->product;
    alike.like_magnitudes = true;
    return tb_decide(&alike, &question->facts);
}

/* Why no device computes: of this machine, or as was supposed. */
static const char *no_device(const question *question)
{
    static char text[256];
    if (question->assumed)
        return "supposed: none";
    tb_print_device_state(text, sizeof text);
    return text;
}

static answer find_answer(const question *question)
{
    const tb_product *product = &question->product;
    const tb_machine *machine = &question->facts.machine;
    const bool in_host = is_pitched(question);
    answer answer = {.plan = tb_decide(product, &question->facts), .if_alike = plan_if_alike(question)};
    candidate *host = &answer.routes[TB_ROUTE_HOST], *resident = &answer.routes[TB_ROUTE_RESIDENT],
              *streamed = &answer.routes[TB_ROUTE_STREAMED];

    host->seconds = tb_host_seconds(product, machine);
    host->remark = question->memory == TB_MEMORY_DEVICE ? "the host cannot reach the matrices" : NULL;
    streamed->seconds = streamed_seconds(question);
    streamed->remark = !has_device(question) ? no_device(question)
                       : !in_host            ? "the matrices need no streaming"
                                             : NULL;
    const tb_kernel *kernel = best_kernel(question);
    const bool all_at_once = answer.plan.folds || answer.plan.joins;
    resident->seconds = !kernel       ? 0
                        : all_at_once ? tb_plan_seconds(&answer.plan, product, chip_of(question))
                                      : kernel_seconds(question, kernel);
    resident->remark = !has_device(question) ? no_device(question)
                       : in_host             ? "the matrices lie in host memory"
                       : !kernel             ? "no kernel serves it"
                                             : NULL;
    for (tb_route route = 0; route < TB_ROUTE_COUNT; route++)
        answer.routes[route].possible = answer.routes[route].remark == NULL;
    return answer;
}

typedef struct kernel_row {
    const tb_kernel *kernel;
    bool serves;
    double seconds, at_risk;
} kernel_row;

static int compare_rows(const void *left, const void *right)
{
    const kernel_row *a = left, *b = right;
    if (a->serves != b->serves)
        return a->serves ? -1 : 1;
    return (a->seconds > b->seconds) - (a->seconds < b->seconds);
}

/* All of the catalog for the element of what is multiplied, the cheapest first; to be freed. */
static kernel_row *sort_kernels(const question *question, answer *answer)
{
    const bool pitched = is_pitched(question);
    kernel_row *rows = calloc(question->facts.kernel_count, sizeof *rows);
    size_t *count = &answer->kernel_count;
    *count = 0;
    for (size_t i = 0; rows && i < question->facts.kernel_count; i++) {
        const tb_kernel *kernel = &question->facts.kernels[i];
        const tb_product multiplied = multiplied_by(question, kernel);
        const bool is_structured =
            kernel->reads == TB_READS_STRUCTURED && kernel->in_place == TB_OUT_OF_PLACE;
        if (kernel->element != tb_element_of(&multiplied) || kernel->in_place != multiplied.in_place ||
            (is_structured && !tb_is_batch(&multiplied)) || (kernel->reads == TB_READS_COMPLEX && pitched))
            continue;
        kernel_row *row = &rows[(*count)++];
        row->kernel = kernel;
        row->serves = tb_kernel_serves(kernel, &multiplied, chip_of(question), pitched);
        if (!row->serves)
            continue;
        row->seconds = row_seconds(question, answer, kernel);
        row->at_risk = tb_time_kernel(kernel, &multiplied, chip_of(question)).at_risk;
    }
    if (rows)
        qsort(rows, *count, sizeof *rows, compare_rows);
    return rows;
}

static const char *objection_to(const question *question, const kernel_row *row)
{
    const tb_product multiplied = multiplied_by(question, row->kernel);
    return tb_kernel_objection(row->kernel, &multiplied, question->facts.accuracy,
                               chip_of(question)->architecture);
}

static void print_kernel(const question *question, const kernel_row *row, bool chosen)
{
    const char *objection = objection_to(question, row);
    char at_risk[64] = "";
    if (row->at_risk > 0)
        snprintf(at_risk, sizeof at_risk, "  %.6g ms more unless magnitudes are alike", 1e3 * row->at_risk);
    if (row->serves)
        tool_say("  %-34s %.6g ms%s%s%s%s\n", row->kernel->name, 1e3 * row->seconds, at_risk,
                 objection ? "  " : "", objection ? objection : "", chosen ? "  <- chosen" : "");
    else
        tool_say("  %-34s cannot serve it\n", row->kernel->name);
}

/* Kernels that are chosen only when forced, and were not, are counted, unless all are wanted. */
static void print_kernels(const question *question, const answer *answer, const kernel_row *rows)
{
    int left_out = 0;
    printf("\nkernels      forecast, without what is copied over the link\n");
    for (size_t i = 0; i < answer->kernel_count; i++) {
        const bool chosen = rows[i].kernel == answer->plan.kernel;
        if (question->wants_all || chosen ||
            tb_kernel_is_free_on(rows[i].kernel, chip_of(question)->architecture))
            print_kernel(question, &rows[i], chosen);
        else
            left_out++;
    }
    if (left_out > 0)
        tool_say("  and %d more, chosen only when forced: --all shows them\n", left_out);
}

/* "" of a routine that has none: the triangle of C, or of SYMM's or TRMM's A. */
static const char *triangle_of(const tb_product *product)
{
    const tb_triangle of_operand = product->a.structure != TB_GENERAL ? product->a.stored : product->b.stored;
    const tb_triangle triangle = product->mask != TB_FULL ? product->mask : of_operand;
    return triangle == TB_LOWER ? "L" : triangle == TB_UPPER ? "U" : "";
}

static bool has_side(const tb_product *product)
{
    return product->a.structure != TB_GENERAL || product->b.structure != TB_GENERAL;
}

static const char *operation_of(const tb_operand *operand)
{
    return operand->conjugated ? "C" : operand->transposed ? "T" : "N";
}

static void print_words(const question *question, const answer *answer, const kernel_row *rows)
{
    const tb_machine *machine = &question->facts.machine;
    char plan[512], text[TB_TASK_TEXT_SIZE];
    tb_print_plan(&answer->plan, plan, sizeof plan);
    tb_print_task(tb_task_of_product(&question->product), text);
    tool_say("product      %s\n", text);
    tool_say("matrices in  %s memory\n", tb_memory_text(question->memory));
    tool_say("host         %d cores\n", machine->host_cores);
    if (has_device(question))
        tool_say("GPU          %s%s, compute capability %d.%d, %d multiprocessors%s\n",
                 question->assumed ? "supposed: " : "",
                 question->assumed ? question->assumed : tb_machine_device(chip_of(question)->device)->name,
                 chip_of(question)->architecture / 10, chip_of(question)->architecture % 10,
                 chip_of(question)->multiprocessors, chip_of(question)->apart ? ", the server's" : "");
    else
        tool_say("GPU          %s\n", no_device(question));
    if (!question->assumed)
        server_say_state();

    printf("\nroutes       forecast\n");
    for (tb_route route = 0; route < TB_ROUTE_COUNT; route++) {
        const candidate *candidate = &answer->routes[route];
        if (candidate->possible)
            tool_say("  %-10s %.6g ms%s\n", tb_route_text(route), 1e3 * candidate->seconds,
                     route == answer->plan.route ? "  <- chosen" : "");
        else
            tool_say("  %-10s not possible: %s\n", tb_route_text(route), candidate->remark);
    }
    if (rows)
        print_kernels(question, answer, rows);
    tool_say("\nchoice       %s\n", plan);
    if (answer->plan.reason == TB_REASON_MAGNITUDES) {
        tb_print_plan(&answer->if_alike, plan, sizeof plan);
        tool_say("if alike     %s\n", plan);
    }
}

static int print_json(const question *question, const answer *answer, const kernel_row *rows)
{
    const tb_product *product = &question->product;
    const tb_plan *plan = &answer->plan;
    char text[512];
    tb_print_plan(plan, text, sizeof text);
    tb_json json = {0};
    tb_json_open(&json, NULL, '{');
    tb_json_open(&json, "problem", '{');
    tb_json_text(&json, "routine", tb_routine_rows[product->routine].name);
    if (has_side(product))
        tb_json_text(&json, "side", tb_is_symmetric_left(product) ? "L" : "R");
    if (*triangle_of(product))
        tb_json_text(&json, "uplo", triangle_of(product));
    if (product->in_place != TB_OUT_OF_PLACE)
        tb_json_text(&json, "diag", product->a.unit_diagonal || product->b.unit_diagonal ? "U" : "N");
    tb_json_text(&json, "transa", operation_of(&product->a));
    tb_json_text(&json, "transb", operation_of(&product->b));
    if (tb_class_of(product->routine)->is_batch)
        tb_json_integer(&json, "products", tb_members_of(product));
    tb_json_integer(&json, "m", product->m);
    tb_json_integer(&json, "n", product->n);
    tb_json_integer(&json, "k", product->k);
    tb_json_integer(&json, "lda", product->a.ld);
    tb_json_integer(&json, "ldb", product->b.ld);
    tb_json_integer(&json, "ldc", product->c.ld);
    tb_json_number(&json, "alpha", product->alpha.re);
    tb_json_number(&json, "beta", product->beta.re);
    tb_json_text(&json, "pointers", tb_memory_text(question->memory));
    tb_json_close(&json, '}');
    tb_json_open(&json, "machine", '{');
    tb_json_integer(&json, "host_cores", question->facts.machine.host_cores);
    tb_json_boolean(&json, "device", has_device(question));
    tb_json_text(&json, "no_device", has_device(question) ? NULL : no_device(question));
    tb_json_text(&json, "supposed", question->assumed);
    tb_json_integer(&json, "architecture", has_device(question) ? chip_of(question)->architecture : 0);
    tb_json_integer(&json, "multiprocessors", has_device(question) ? chip_of(question)->multiprocessors : 0);
    tb_json_integer(&json, "devices", question->facts.machine.chip_count);
    tb_json_close(&json, '}');
    if (!question->assumed)
        server_write_state(&json);
    tb_json_open(&json, "routes", '[');
    for (tb_route route = 0; route < TB_ROUTE_COUNT; route++) {
        const candidate *candidate = &answer->routes[route];
        tb_json_open(&json, NULL, '{');
        tb_json_text(&json, "route", tb_route_text(route));
        tb_json_boolean(&json, "possible", candidate->possible);
        if (candidate->possible)
            tb_json_number(&json, "seconds", candidate->seconds);
        else
            tb_json_text(&json, "remark", candidate->remark);
        tb_json_close(&json, '}');
    }
    tb_json_close(&json, ']');
    tb_json_open(&json, "kernels", '[');
    for (size_t i = 0; rows && i < answer->kernel_count; i++) {
        tb_json_open(&json, NULL, '{');
        tb_json_text(&json, "name", rows[i].kernel->name);
        tb_json_boolean(&json, "serves", rows[i].serves);
        if (objection_to(question, &rows[i]))
            tb_json_text(&json, "objection", objection_to(question, &rows[i]));
        if (rows[i].serves)
            tb_json_number(&json, "seconds", rows[i].seconds);
        if (rows[i].serves)
            tb_json_number(&json, "seconds_at_risk", rows[i].at_risk);
        tb_json_close(&json, '}');
    }
    tb_json_close(&json, ']');
    tb_json_open(&json, "choice", '{');
    tb_json_text(&json, "route", tb_route_text(plan->route));
    tb_json_text(&json, "kernel", plan->kernel ? plan->kernel->name : NULL);
    if (tb_class_of(product->routine)->is_batch)
        tb_json_boolean(&json, "separately", plan->separately);
    tb_json_text(&json, "reason", tb_reason_text(plan->reason));
    tb_json_text(&json, "text", text);
    if (plan->reason == TB_REASON_MAGNITUDES) {
        tb_print_plan(&answer->if_alike, text, sizeof text);
        tb_json_text(&json, "if_alike", text);
    }
    tb_json_close(&json, '}');
    tb_json_close(&json, '}');
    return tool_print_json(&json);
}

int explain_answer(const question *question)
{
    answer answer = find_answer(question);
    kernel_row *rows = has_device(question) ? sort_kernels(question, &answer) : NULL;
    int status = TOOL_OK;
    if (question->as_json)
        status = print_json(question, &answer, rows);
    else
        print_words(question, &answer, rows);
    free(rows);
    return status == TOOL_OK ? tool_print("") : status;
}
