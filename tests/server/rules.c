/* Orders that a client may give, and the same with one thing changed that makes them such as no kernel takes: they are refused, though all
 * that they name is the client's. Sessions in this process, on the simulated device.
 */
#include "kernels/panels/launch_panel.h"
#include "tests/server/raw_client.h"
#include "tests/sim/device_sim.h"

#include <string.h>

enum { N = 16, BLOCK_BYTES = 1 << 15, NOTES_BYTES = 64 };

/* Of the client that has come: more than an order needs. */
static uint64_t first, second, third;

static void *at(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

/* Of LU. */
static tb_pivots pivots_at(uint64_t address)
{
    return (tb_pivots){.data = at(address), .bits = 32};
}

static tb_panel lu_panel(int64_t rows)
{
    return (tb_panel){.block = tb_getrf(TB_DGETRF, rows, N, at(first), rows, pivots_at(second), NULL),
                      .info = at(third)};
}

static tb_panel qr_panel(int64_t rows)
{
    tb_panel panel = {.block = tb_geqrf(TB_DGEQRF, rows, N, at(first), rows, at(second), NULL),
                      .info = at(second)};
    panel.block.reflectors =
        (tb_reflectors){.tau = at(second), .t = at(second), .v = at(second), .ld_of_t = N, .ld_of_v = rows};
    return panel;
}

static tb_matrix matrix_at(uint64_t address)
{
    return (tb_matrix){.data = at(address), .rows = N, .columns = N, .ld = N, .element = TB_FP64};
}

/* ---- Sound ones -------------------------------------------------------------------------------------------- */

static tb_order make(tb_command_kind kind)
{
    tb_order order = {.kind = TB_ORDER_COMMAND};
    tb_command *command = &order.command;
    command->kind = kind;
    switch (kind) {
    case TB_COMMAND_COPY:
        command->copy = tb_copy_of_bytes(TB_DEVICE_TO_DEVICE, at(second), at(first), N);
        break;
    case TB_COMMAND_COPY_MASKED:
        command->masked =
            (tb_masked_copy){.source = matrix_at(first), .target = matrix_at(second), .mask = TB_LOWER};
        break;
    case TB_COMMAND_EXPAND:
        command->expansion = (tb_expansion){
            .source = {.matrix = matrix_at(first)}, .target = matrix_at(second), .factor = {1, 0}};
        break;
    case TB_COMMAND_FOLD:
        command->folding = (tb_folding){
            .sums = matrix_at(first), .c = {.matrix = matrix_at(second)}, .beta = {1, 0}, .mask = TB_LOWER};
        break;
    case TB_COMMAND_LAUNCH:
        tb_begin_launch(command, tb_find_kernel("dgemm_naive"));
        command->launch.product =
            tb_gemm(TB_DGEMM, false, false, N, N, N, 1, at(first), N, at(second), N, 0, at(third), N);
        break;
    case TB_COMMAND_PANEL:
        command->panel =
            (tb_panel){.block = tb_potrf(TB_DPOTRF, TB_LOWER, N, at(first), N, NULL), .info = at(second)};
        break;
    case TB_COMMAND_EXCHANGE:
        command->exchange = (tb_row_exchange){
            .matrix = matrix_at(first), .count = N, .pivots = {.data = at(second), .bits = 32}};
        break;
    }
    return order;
}

/* ---- Changes ----------------------------------------------------------------------------------------------- */

/* Neither true nor false. */
static void make_neither(bool *is)
{
    memset(is, 2, sizeof *is);
}

#define CHANGE(name, statement)                                                                              \
    static void name(tb_command *command)                                                                    \
    {                                                                                                        \
        statement;                                                                                           \
    }

CHANGE(nothing, (void)command)
CHANGE(kind, *(uint32_t *)&command->kind = TB_COMMAND_EXCHANGE + 1)
CHANGE(copy_direction, *(uint32_t *)&command->copy.direction = TB_DEVICE_TO_DEVICE + 1)
CHANGE(copy_pitch, command->copy.rows = 2; command->copy.target_pitch = N - 1)
CHANGE(masked_full, command->masked.mask = TB_FULL)
CHANGE(masked_mask, *(uint32_t *)&command->masked.mask = TB_UPPER + 1)
CHANGE(masked_rows, command->masked.source.rows--)
CHANGE(masked_columns, command->masked.source.columns--)
CHANGE(masked_element, command->masked.source.element = TB_FP32)
CHANGE(masked_unknown, *(uint32_t *)&command->masked.target.element = TB_ELEMENTS)
CHANGE(masked_diagonal, command->masked.diagonal = INT64_MAX)
CHANGE(masked_neither, make_neither(&command->masked.pairs))
CHANGE(masked_from_anywhere, command->masked.source.data = at(first + 4))
CHANGE(masked_to_anywhere, command->masked.target.data = at(second + 4))
CHANGE(masked_beyond_source, command->masked.source.ld = BLOCK_BYTES)
CHANGE(masked_beyond_target, command->masked.target.ld = BLOCK_BYTES)
CHANGE(expand_rows, command->expansion.target.rows--)
CHANGE(expand_columns, command->expansion.target.columns--)
CHANGE(expand_element, command->expansion.target.element = TB_FP32)
CHANGE(expand_unknown, *(uint32_t *)&command->expansion.source.element = TB_ELEMENTS)
CHANGE(expand_embedded, command->expansion.embedded = true; command->expansion.target.columns *= 2)
CHANGE(expand_neither, make_neither(&command->expansion.source.transposed))
CHANGE(expand_structure, *(uint32_t *)&command->expansion.source.structure = TB_TRIANGULAR + 1)
CHANGE(expand_batch, command->expansion.batch.count = 2)
CHANGE(expand_from_anywhere, command->expansion.source.data = at(first + 4))
CHANGE(expand_to_anywhere, command->expansion.target.data = at(second + 4))
CHANGE(fold_rows, command->folding.sums.rows--)
CHANGE(fold_square, command->folding.sums.columns--; command->folding.c.columns--)
CHANGE(fold_element, command->folding.sums.element = TB_FP32)
CHANGE(fold_full, command->folding.mask = TB_FULL)
CHANGE(fold_mask, *(uint32_t *)&command->folding.mask = TB_UPPER + 1)
CHANGE(launch_row, command->launch.row = UINT32_MAX)
CHANGE(launch_routine, *(uint32_t *)&command->launch.product.routine = TB_ROUTINES)
CHANGE(launch_element, command->launch.product.a.element = TB_FP32)
CHANGE(launch_rows, command->launch.product.a.rows--)
CHANGE(launch_columns, command->launch.product.b.columns--)
CHANGE(launch_negative, command->launch.product.k = -1)
CHANGE(launch_batch, command->launch.product.batch.count = 2)
CHANGE(launch_terms, command->launch.product.terms = 3)
CHANGE(launch_neither, make_neither(&command->launch.same_a))
CHANGE(launch_anywhere, command->launch.product.c.data = at(third + 4))
CHANGE(panel_routine, *(uint32_t *)&command->panel.block.routine = TB_ROUTINES)
CHANGE(panel_kind, command->panel.block.routine = TB_DGEMM)
CHANGE(panel_order, command->panel.block.n = -1)
CHANGE(panel_rows, command->panel.block.a.rows--)
CHANGE(panel_columns, command->panel.block.a.columns--)
CHANGE(panel_element, command->panel.block.a.element = TB_FP32)
CHANGE(panel_position, command->panel.position = -1)
CHANGE(panel_info, command->panel.info = at(second + 4))
CHANGE(panel_no_info, command->panel.info = NULL)
CHANGE(lu, command->panel = lu_panel(2 * N))
CHANGE(lu_order, command->panel = lu_panel(N); command->panel.block.n = command->panel.block.a.columns = 33)
CHANGE(lu_rows, command->panel = lu_panel(2 * N); command->panel.block.m--)
CHANGE(lu_empty, command->panel = lu_panel(N); command->panel.block.m = command->panel.block.a.rows = 0)
CHANGE(lu_position, command->panel = lu_panel(N); command->panel.position = INT32_MAX)
CHANGE(lu_pivots, command->panel = lu_panel(N); command->panel.block.pivots.data = at(second + 2))
CHANGE(lu_no_pivots, command->panel = lu_panel(N); command->panel.block.pivots.data = NULL)
CHANGE(lu_bits, command->panel = lu_panel(N); command->panel.block.pivots.bits = 64)
CHANGE(lu_stored, command->panel = lu_panel(N); command->panel.block.stored = TB_LOWER;
       command->panel.block.pivots.data = at(second + 2))
CHANGE(qr, command->panel = qr_panel(2 * N))
CHANGE(qr_wide, command->panel = qr_panel(N - 1))
CHANGE(qr_tau, command->panel = qr_panel(N); command->panel.block.reflectors.tau = at(second + 4))
CHANGE(qr_no_tau, command->panel = qr_panel(N); command->panel.block.reflectors.tau = NULL)
CHANGE(qr_t, command->panel = qr_panel(N); command->panel.block.reflectors.t = at(UINT64_C(1) << 40))
CHANGE(qr_ld_of_t, command->panel = qr_panel(N); command->panel.block.reflectors.ld_of_t = INT64_MAX / 16)
CHANGE(qr_v, command->panel = qr_panel(N); command->panel.block.reflectors.v = at(UINT64_C(1) << 40))
CHANGE(qr_ld_of_v, command->panel = qr_panel(N); command->panel.block.reflectors.ld_of_v = N - 1)
CHANGE(exchange_rows, command->exchange.count = N + 1)
CHANGE(exchange_first, command->exchange.first = 1)
CHANGE(exchange_before, command->exchange.first = -1; command->exchange.count = 1)
CHANGE(exchange_negative, command->exchange.count = -1)
CHANGE(exchange_element, *(uint32_t *)&command->exchange.matrix.element = TB_ELEMENTS)
CHANGE(exchange_neither, make_neither(&command->exchange.backwards))
CHANGE(exchange_pivots, command->exchange.pivots.data = at(second + 2))
CHANGE(exchange_no_pivots, command->exchange.pivots.data = NULL)
CHANGE(exchange_bits, command->exchange.pivots.bits = 64)
CHANGE(exchange_anywhere, command->exchange.matrix.data = at(first + 4))

/* ---- Trials ------------------------------------------------------------------------------------------------ */

typedef struct rule {
    const char *what;
    tb_command_kind kind;
    void (*change)(tb_command *);
} rule;

static bool is_sound(const rule *rule)
{
    return rule->change == nothing || rule->change == lu || rule->change == qr;
}

static void come(raw_client *client)
{
    uint64_t *const blocks[] = {&first, &second, &third};
    raw_come(client);
    for (int i = 0; i < 3; i++) {
        if (raw_take(client, BLOCK_BYTES, blocks[i]) != TB_OK)
            abort();
        raw_write(client, *blocks[i], BLOCK_BYTES, 0);
    }
}

static void check_order(const char *what, raw_client *client, const tb_order *order, bool expected)
{
    uint64_t bytes;
    raw_send(client, order);
    const bool goes_on = raw_ask(client, (tb_order){.kind = TB_ORDER_MEMORY}, &bytes) == TB_OK;
    raw_leave(client);
    CHECK(goes_on == expected && client->ending == (expected ? TB_CLIENT_LEFT : TB_CLIENT_REFUSED),
          "%s is %s", what, goes_on ? "taken" : "refused");
}

static void check_rule(const rule *rule)
{
    raw_client client;
    come(&client);
    tb_order order = make(rule->kind);
    rule->change(&order.command);
    check_order(rule->what, &client, &order, is_sound(rule));
}

static const rule rules[] = {
    {"a copy", TB_COMMAND_COPY, nothing},
    {"another kind", TB_COMMAND_COPY, kind},
    {"a copy to nowhere", TB_COMMAND_COPY, copy_direction},
    {"a copy of rows that overlap", TB_COMMAND_COPY, copy_pitch},
    {"a masked copy", TB_COMMAND_COPY_MASKED, nothing},
    {"a masked copy without a triangle", TB_COMMAND_COPY_MASKED, masked_full},
    {"a masked copy of no triangle", TB_COMMAND_COPY_MASKED, masked_mask},
    {"a masked copy of fewer rows", TB_COMMAND_COPY_MASKED, masked_rows},
    {"a masked copy of fewer columns", TB_COMMAND_COPY_MASKED, masked_columns},
    {"a masked copy from another element", TB_COMMAND_COPY_MASKED, masked_element},
    {"a masked copy of no element", TB_COMMAND_COPY_MASKED, masked_unknown},
    {"a masked copy along no diagonal", TB_COMMAND_COPY_MASKED, masked_diagonal},
    {"a masked copy of 2 for pairs", TB_COMMAND_COPY_MASKED, masked_neither},
    {"a masked copy from anywhere", TB_COMMAND_COPY_MASKED, masked_from_anywhere},
    {"a masked copy to anywhere", TB_COMMAND_COPY_MASKED, masked_to_anywhere},
    {"a masked copy from beyond", TB_COMMAND_COPY_MASKED, masked_beyond_source},
    {"a masked copy to beyond", TB_COMMAND_COPY_MASKED, masked_beyond_target},
    {"an expansion", TB_COMMAND_EXPAND, nothing},
    {"an expansion into fewer rows", TB_COMMAND_EXPAND, expand_rows},
    {"an expansion into fewer columns", TB_COMMAND_EXPAND, expand_columns},
    {"an expansion into another element", TB_COMMAND_EXPAND, expand_element},
    {"an expansion of no element", TB_COMMAND_EXPAND, expand_unknown},
    {"an embedding of reals", TB_COMMAND_EXPAND, expand_embedded},
    {"an expansion that is turned by 2", TB_COMMAND_EXPAND, expand_neither},
    {"an expansion of no structure", TB_COMMAND_EXPAND, expand_structure},
    {"a batch of expansions", TB_COMMAND_EXPAND, expand_batch},
    {"an expansion from anywhere", TB_COMMAND_EXPAND, expand_from_anywhere},
    {"an expansion to anywhere", TB_COMMAND_EXPAND, expand_to_anywhere},
    {"a folding", TB_COMMAND_FOLD, nothing},
    {"a folding of fewer rows", TB_COMMAND_FOLD, fold_rows},
    {"a folding that is not square", TB_COMMAND_FOLD, fold_square},
    {"a folding of another element", TB_COMMAND_FOLD, fold_element},
    {"a folding without a triangle", TB_COMMAND_FOLD, fold_full},
    {"a folding of no triangle", TB_COMMAND_FOLD, fold_mask},
    {"a launch", TB_COMMAND_LAUNCH, nothing},
    {"a launch of no row", TB_COMMAND_LAUNCH, launch_row},
    {"a launch of no routine", TB_COMMAND_LAUNCH, launch_routine},
    {"a launch with another element", TB_COMMAND_LAUNCH, launch_element},
    {"a launch with fewer rows", TB_COMMAND_LAUNCH, launch_rows},
    {"a launch with fewer columns", TB_COMMAND_LAUNCH, launch_columns},
    {"a launch of a negative size", TB_COMMAND_LAUNCH, launch_negative},
    {"a launch of a batch", TB_COMMAND_LAUNCH, launch_batch},
    {"a launch of three terms", TB_COMMAND_LAUNCH, launch_terms},
    {"a launch whose A is the same by 2", TB_COMMAND_LAUNCH, launch_neither},
    {"a launch to anywhere", TB_COMMAND_LAUNCH, launch_anywhere},
    {"a panel", TB_COMMAND_PANEL, nothing},
    {"a panel of no routine", TB_COMMAND_PANEL, panel_routine},
    {"a panel of a product", TB_COMMAND_PANEL, panel_kind},
    {"a panel of a negative size", TB_COMMAND_PANEL, panel_order},
    {"a panel of fewer rows", TB_COMMAND_PANEL, panel_rows},
    {"a panel of fewer columns", TB_COMMAND_PANEL, panel_columns},
    {"a panel of another element", TB_COMMAND_PANEL, panel_element},
    {"a panel before the matrix", TB_COMMAND_PANEL, panel_position},
    {"a panel that tells anywhere", TB_COMMAND_PANEL, panel_info},
    {"a panel that tells nowhere", TB_COMMAND_PANEL, panel_no_info},
    {"a panel of LU", TB_COMMAND_PANEL, lu},
    {"a panel of LU with too many columns", TB_COMMAND_PANEL, lu_order},
    {"a panel of LU with fewer rows", TB_COMMAND_PANEL, lu_rows},
    {"a panel of LU without rows", TB_COMMAND_PANEL, lu_empty},
    {"a panel of LU beyond the last row", TB_COMMAND_PANEL, lu_position},
    {"a panel of LU with pivots anywhere", TB_COMMAND_PANEL, lu_pivots},
    {"a panel of LU without pivots", TB_COMMAND_PANEL, lu_no_pivots},
    {"a panel of LU with larger pivots", TB_COMMAND_PANEL, lu_bits},
    {"a panel of LU of a triangle, with pivots anywhere", TB_COMMAND_PANEL, lu_stored},
    {"a panel of QR", TB_COMMAND_PANEL, qr},
    {"a panel of QR that is wide", TB_COMMAND_PANEL, qr_wide},
    {"a panel of QR with tau anywhere", TB_COMMAND_PANEL, qr_tau},
    {"a panel of QR without tau", TB_COMMAND_PANEL, qr_no_tau},
    {"a panel of QR with T anywhere", TB_COMMAND_PANEL, qr_t},
    {"a panel of QR with a T that is too large", TB_COMMAND_PANEL, qr_ld_of_t},
    {"a panel of QR with V anywhere", TB_COMMAND_PANEL, qr_v},
    {"a panel of QR with a V of fewer rows", TB_COMMAND_PANEL, qr_ld_of_v},
    {"an exchange", TB_COMMAND_EXCHANGE, nothing},
    {"an exchange of more rows", TB_COMMAND_EXCHANGE, exchange_rows},
    {"an exchange of rows beyond the last", TB_COMMAND_EXCHANGE, exchange_first},
    {"an exchange of rows before the first", TB_COMMAND_EXCHANGE, exchange_before},
    {"an exchange of a negative size", TB_COMMAND_EXCHANGE, exchange_negative},
    {"an exchange of no element", TB_COMMAND_EXCHANGE, exchange_element},
    {"an exchange that is backwards by 2", TB_COMMAND_EXCHANGE, exchange_neither},
    {"an exchange by pivots anywhere", TB_COMMAND_EXCHANGE, exchange_pivots},
    {"an exchange without pivots", TB_COMMAND_EXCHANGE, exchange_no_pivots},
    {"an exchange by larger pivots", TB_COMMAND_EXCHANGE, exchange_bits},
    {"an exchange anywhere", TB_COMMAND_EXCHANGE, exchange_anywhere},
};

/* Of copies that are kept for all. */
static void check_copies(void)
{
    static const struct {
        const char *what;
        uint32_t kind;
        uint64_t key, bytes, notes_bytes;
    } rows[] = {
        {"a key that is told", TB_ORDER_TELL_KEY, 1, BLOCK_BYTES, NOTES_BYTES},
        {"no key that is told", TB_ORDER_TELL_KEY, 0, BLOCK_BYTES, NOTES_BYTES},
        {"a copy that is looked for", TB_ORDER_FIND_COPY, 1, BLOCK_BYTES, NOTES_BYTES},
        {"a copy without a key", TB_ORDER_FIND_COPY, 0, BLOCK_BYTES, NOTES_BYTES},
        {"a copy without bytes", TB_ORDER_FIND_COPY, 1, 0, NOTES_BYTES},
        {"a copy with endless notes", TB_ORDER_FIND_COPY, 1, BLOCK_BYTES, UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        raw_client client;
        come(&client);
        const tb_order order = {.kind = rows[i].kind,
                                .address = first,
                                .bytes = rows[i].bytes,
                                .number = ++client.numbers,
                                .copy = {.key = rows[i].key, .notes_bytes = rows[i].notes_bytes}};
        check_order(rows[i].what, &client, &order,
                    rows[i].key == 1 && rows[i].bytes > 0 && rows[i].notes_bytes == NOTES_BYTES);
    }
}

int main(void)
{
    if (!raw_open(1 << 22))
        return EXIT_FAILURE;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        check_rule(&rules[i]);
    check_copies();
    return check_result();
}
