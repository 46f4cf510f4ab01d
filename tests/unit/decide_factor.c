/* Which way a factorization goes, and a solve, as a table: its order, where its matrices lie, the state of the machine and what is forced, and the
 * plan in words. Where forecasts lie, and that they are told quickly: by the steps that they look at.
 */
#include "dispatch/factor_choice.h"
#include "dispatch/factor_seconds.h"
#include "lib/learning/learning.h"
#include "sequences/factorization.h"
#include "sequences/reflectors.h"
#include "tests/check.h"
#include "tests/unit/decide_row.h"

#include <math.h>
#include <string.h>

/* The linker puts these in front of tb_walk_factor_block and of tb_give_product, which Q's steps are mostly: how many steps forecasts have
 * looked at. */
tb_status __real_tb_walk_factor_block(const tb_factor *factor, tb_range columns, int64_t panel,
                                      tb_visitor *visitor);
tb_status __wrap_tb_walk_factor_block(const tb_factor *factor, tb_range columns, int64_t panel,
                                      tb_visitor *visitor);
tb_status __real_tb_give_product(double alpha, const tb_matrix *a, bool adjoint, const tb_matrix *b,
                                 double beta, const tb_matrix *c, tb_range finished, tb_visitor *visitor);
tb_status __wrap_tb_give_product(double alpha, const tb_matrix *a, bool adjoint, const tb_matrix *b,
                                 double beta, const tb_matrix *c, tb_range finished, tb_visitor *visitor);
static int steps, products;

tb_status __wrap_tb_give_product(double alpha, const tb_matrix *a, bool adjoint, const tb_matrix *b,
                                 double beta, const tb_matrix *c, tb_range finished, tb_visitor *visitor)
{
    products++;
    return __real_tb_give_product(alpha, a, adjoint, b, beta, c, finished, visitor);
}

typedef struct counter {
    tb_visitor visitor, *other;
} counter;

static tb_status count(tb_visitor *visitor, const tb_sequence_step *step)
{
    counter *all = (counter *)visitor;
    steps++;
    return all->other->visit(all->other, step);
}

tb_status __wrap_tb_walk_factor_block(const tb_factor *factor, tb_range columns, int64_t panel,
                                      tb_visitor *visitor)
{
    counter all = {{count}, visitor};
    return __real_tb_walk_factor_block(factor, columns, panel, &all.visitor);
}

/* ---- The table -------------------------------------------------------------------------------------------- */

typedef struct factor_row {
    int64_t n;
    tb_memory memory;
    tb_readiness readiness;
    int route; /* forced, or AUTO */
    const char *plan;
    tb_start start;
} factor_row;

/* Of another routine; of a solve with B's columns and where they lie. */
typedef struct other_row {
    tb_routine routine;
    int64_t nrhs;
    tb_memory of_b;
    factor_row row;
} other_row;

static const factor_row rows[] = {
    /* Host memory: whatever is faster, and the device is started only for calls that would gain. */
    {8, H, TB_READY, AUTO, "host: too small", TB_START_NOT},
    {255, P, TB_READY, AUTO, "host: too small", TB_START_NOT},
    {256, H, TB_UNTRIED, AUTO, "host: too small", TB_START_NOT},
    {4096, H, TB_READY, AUTO, "streamed", TB_START_NOT},
    {4096, P, TB_READY, AUTO, "streamed", TB_START_NOT},
    {4096, M, TB_READY, AUTO, "streamed", TB_START_NOT},
    {2048, H, TB_UNTRIED, AUTO, "host: the device is not up yet", TB_START_NOT},
    {2048, H, TB_STARTING, AUTO, "host: the device is not up yet", TB_START_FOR_LATER},
    {16384, H, TB_UNTRIED, AUTO, "host: the device is not up yet", TB_START_NOW},
    {4096, H, TB_ABSENT, AUTO, "host: no usable device", TB_START_NOT},
    {4096, H, TB_LOST, AUTO, "host: the device is lost", TB_START_NOT},

    /* Device memory: the device, whatever the size and even if it has to be waited for. */
    {8, D, TB_READY, AUTO, "resident", TB_START_NOT},
    {4096, D, TB_READY, TB_ROUTE_HOST, "resident", TB_START_NOT},
    {8, D, TB_UNTRIED, AUTO, "host: the device is not up yet", TB_START_NOW},
    {8, D, TB_LOST, AUTO, "host: the device is lost", TB_START_NOT},

    /* A forced route is taken at any size, or refused. */
    {8, H, TB_READY, TB_ROUTE_STREAMED, "streamed", TB_START_NOT},
    {8, H, TB_UNTRIED, TB_ROUTE_STREAMED, "host: the device is not up yet", TB_START_NOW},
    {4096, H, TB_READY, TB_ROUTE_HOST, "host: forced", TB_START_NOT},
    {4096, H, TB_READY, TB_ROUTE_RESIDENT, "host: the forced route cannot", TB_START_NOT},
    {4096, H, TB_ABSENT, TB_ROUTE_STREAMED, "host: no usable device", TB_START_NOT},
};

static const other_row other_rows[] = {
    /* LU goes as Cholesky's. */
    {TB_DGETRF, 0, H, {255, H, TB_READY, AUTO, "host: too small", TB_START_NOT}},
    {TB_DGETRF, 0, H, {4096, H, TB_READY, AUTO, "streamed", TB_START_NOT}},
    {TB_DGETRF, 0, H, {8, D, TB_READY, AUTO, "resident", TB_START_NOT}},

    /* So does what makes Q of reflectors. */
    {TB_DORGQR, 0, H, {255, H, TB_READY, AUTO, "host: too small", TB_START_NOT}},
    {TB_DORGQR, 0, H, {4096, H, TB_READY, AUTO, "streamed", TB_START_NOT}},
    {TB_ZUNGQR, 0, P, {4096, P, TB_READY, AUTO, "streamed", TB_START_NOT}},
    {TB_DORGQR, 0, H, {8, D, TB_READY, AUTO, "resident", TB_START_NOT}},
    {TB_DORGQR, 0, H, {8, D, TB_LOST, AUTO, "host: the device is lost", TB_START_NOT}},
    {TB_SORGQR, 0, H, {4096, H, TB_READY, TB_ROUTE_HOST, "host: forced", TB_START_NOT}},

    /* And what applies it to B. */
    {TB_DORMQR, 4096, H, {255, H, TB_READY, AUTO, "host: too small", TB_START_NOT}},
    {TB_DORMQR, 4096, H, {4096, H, TB_READY, AUTO, "streamed", TB_START_NOT}},
    {TB_ZUNMQR, 4096, P, {4096, P, TB_READY, AUTO, "streamed", TB_START_NOT}},
    {TB_DORMQR, 1, D, {8, H, TB_READY, AUTO, "resident", TB_START_NOT}},
    {TB_SORMQR, 1, H, {8, D, TB_LOST, AUTO, "host: the device is lost", TB_START_NOT}},

    /* And what is by rows. */
    {TB_DGELQF, 0, H, {255, H, TB_READY, AUTO, "host: too small", TB_START_NOT}},
    {TB_DGELQF, 0, H, {4096, H, TB_READY, AUTO, "streamed", TB_START_NOT}},
    {TB_ZGELQF, 0, H, {8, D, TB_READY, AUTO, "resident", TB_START_NOT}},
    {TB_SGELQF, 0, H, {4096, H, TB_READY, TB_ROUTE_HOST, "host: forced", TB_START_NOT}},
    {TB_DORGLQ, 0, H, {255, H, TB_READY, AUTO, "host: too small", TB_START_NOT}},
    {TB_ZUNGLQ, 0, P, {4096, P, TB_READY, AUTO, "streamed", TB_START_NOT}},
    {TB_DORGLQ, 0, H, {8, D, TB_READY, AUTO, "resident", TB_START_NOT}},

    /* Solves that make factors go where these are made, and others where there are columns enough. */
    {TB_DGESV, 4096, H, {255, H, TB_READY, AUTO, "host: too small", TB_START_NOT}},
    {TB_DGESV, 1, H, {4096, H, TB_READY, AUTO, "streamed", TB_START_NOT}},
    {TB_DPOSV, 1, P, {4096, P, TB_READY, AUTO, "streamed", TB_START_NOT}},
    {TB_DGELS, 1, H, {4096, H, TB_READY, AUTO, "streamed", TB_START_NOT}},
    {TB_DGELS, 1, H, {255, H, TB_READY, AUTO, "host: too small", TB_START_NOT}},
    {TB_ZGELS, 4096, H, {4096, H, TB_READY, AUTO, "streamed", TB_START_NOT}},
    {TB_DGETRS, 1, H, {4096, H, TB_READY, AUTO, "host: too small", TB_START_NOT}},
    {TB_DPOTRS, 1, H, {4096, H, TB_READY, AUTO, "host: too small", TB_START_NOT}},
    {TB_DTRTRS, 1, H, {4096, H, TB_READY, AUTO, "host: too small", TB_START_NOT}},
    {TB_DGETRS, 4096, H, {4096, H, TB_READY, AUTO, "streamed", TB_START_NOT}},
    {TB_DPOTRS, 4096, H, {4096, H, TB_READY, AUTO, "streamed", TB_START_NOT}},
    {TB_DTRTRS, 4096, H, {4096, H, TB_READY, AUTO, "streamed", TB_START_NOT}},
    {TB_DGETRS, 4096, H, {4096, H, TB_UNTRIED, AUTO, "host: the device is not up yet", TB_START_NOT}},

    /* Where either of their matrices lies in device memory both go there. */
    {TB_DPOTRS, 1, H, {8, D, TB_READY, AUTO, "resident", TB_START_NOT}},
    {TB_DTRTRS, 1, D, {8, H, TB_READY, AUTO, "resident", TB_START_NOT}},
    {TB_DGESV, 1, D, {4096, H, TB_READY, TB_ROUTE_HOST, "resident", TB_START_NOT}},
    {TB_DGETRS, 1, D, {8, H, TB_UNTRIED, AUTO, "host: the device is not up yet", TB_START_NOW}},
    {TB_DPOSV, 1, D, {8, H, TB_LOST, AUTO, "host: the device is lost", TB_START_NOT}},
    {TB_DTRTRS, 1, H, {8, H, TB_READY, TB_ROUTE_STREAMED, "streamed", TB_START_NOT}},
    {TB_DGETRS, 4096, H, {4096, H, TB_READY, TB_ROUTE_HOST, "host: forced", TB_START_NOT}},
    {TB_DGESV, 1, P, {4096, P, TB_READY, TB_ROUTE_RESIDENT, "host: the forced route cannot", TB_START_NOT}},
};

static int64_t info;

static tb_factor factor_of_routine(tb_routine routine, int64_t n, int64_t nrhs)
{
    tb_factor factor =
        tb_class_of(routine)->factors == TB_LU
            ? tb_getrf(routine, n, n, NULL, n, (tb_pivots){NULL, 32}, &info)
        : tb_class_of(routine)->replacement == TB_Q ? tb_orgqr(routine, n, n, n, NULL, n, NULL, &info)
        : tb_class_of(routine)->solves && tb_class_of(routine)->makes_factors &&
                tb_class_of(routine)->factors == TB_QR
            ? tb_gels(routine, false, n, n, nrhs, NULL, n, NULL, n, &info)
        : tb_class_of(routine)->solves && tb_class_of(routine)->factors == TB_QR
            ? tb_ormqr(routine, false, true, n, nrhs, n, NULL, n, NULL, NULL, n, &info)
        : tb_class_of(routine)->factors == TB_QR ? tb_geqrf(routine, n, n, NULL, n, NULL, &info)
                                                 : tb_potrf(routine, TB_LOWER, n, NULL, n, &info);
    if (tb_solves(&factor))
        factor.b = (tb_matrix){.rows = n, .columns = nrhs, .ld = n, .element = factor.a.element};
    return factor;
}

static tb_factor factor_of(int64_t n)
{
    return factor_of_routine(TB_DPOTRF, n, 0);
}

static tb_facts facts_of_factor(const factor_row *r)
{
    const row same = {r->n, r->n, r->n, r->memory, r->memory, r->memory, r->readiness, r->route, "", "", 0};
    return facts_of(&same);
}

/* Host memory, the device is up, nothing is forced. */
static tb_facts facts_when_up(void)
{
    return facts_of_factor(&(factor_row){.memory = H, .readiness = TB_READY, .route = AUTO});
}

static void is_decided_as_it_says(const other_row *other, size_t i)
{
    const factor_row *row = &other->row;
    const tb_factor factor = factor_of_routine(other->routine, row->n, other->nrhs);
    tb_facts facts = facts_of_factor(row);
    facts.places[1].memory = other->of_b;
    const tb_plan plan = tb_decide_factor(&factor, &facts);
    char text[256];
    tb_print_plan(&plan, text, sizeof text);
    CHECK(strncmp(text, row->plan, strlen(row->plan)) == 0 && plan.start == row->start,
          "%s, row %zu, n = %lld: \"%s\", start %d", tb_routine_rows[other->routine].name, i,
          (long long)row->n, text, plan.start);
    CHECK(plan.needs_device == (row->memory == D || other->of_b == D), "row %zu: needs_device is %d", i,
          plan.needs_device);
    CHECK(plan.route == TB_ROUTE_HOST || plan.block > 0, "row %zu: no block", i);
    CHECK(row->n >= TB_FACTOR_ORDER_LEAST || plan.host_seconds == 0, "row %zu: a forecast", i);
}

static void every_row_is_decided_as_it_says(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        is_decided_as_it_says(&(other_row){.routine = TB_DPOTRF, .of_b = rows[i].memory, .row = rows[i]}, i);
    for (size_t i = 0; i < sizeof other_rows / sizeof *other_rows; i++)
        is_decided_as_it_says(&other_rows[i], i);
}

/* Which call is counted as one that waits for the device (tb_machine_note_host) says the reason. */
static void a_device_is_started_for_programs_that_factor_for_long(void)
{
    const tb_factor factor = factor_of(2048);
    tb_facts facts = facts_when_up();
    double spent = 0;
    facts.machine.readiness = TB_UNTRIED;
    facts.machine.chip_count = 0;
    while (tb_decide_factor(&factor, &facts).start == TB_START_NOT && spent < 100)
        spent = facts.machine.host_spent += 0.01;
    CHECK(spent > 0.3 && spent < 1, "started after %g s", spent);
    const tb_plan plan = tb_decide_factor(&factor, &facts);
    CHECK(plan.reason == TB_REASON_DEVICE_STARTING && plan.host_seconds > plan.device_seconds &&
              plan.device_seconds > 0,
          "%s, %g and %g s", tb_reason_text(plan.reason), plan.host_seconds, plan.device_seconds);
}

static void the_host_has_what_others_must_not_have(void)
{
    const tb_factor factor = factor_of(4096);
    tb_facts facts = facts_when_up();
    facts.needs_host = true;
    CHECK(tb_decide_factor(&factor, &facts).reason == TB_REASON_THREAD, "a thread that traps");
    facts.needs_host = false;
    facts.stays_on_host = true;
    CHECK(tb_decide_factor(&factor, &facts).reason == TB_REASON_ROUTINE, "a routine that stays");
    facts.places[0].memory = D;
    facts.needs_host = true;
    CHECK(tb_decide_factor(&factor, &facts).route == TB_ROUTE_RESIDENT, "where the host cannot reach it");
}

/* What would save less than 15% stays; so it does where the device has other work, or other threads call. */
static void a_factorization_leaves_for_a_saving(void)
{
    const tb_factor factor = factor_of(4096);
    tb_facts facts = facts_when_up();
    const tb_plan plan = tb_decide_factor(&factor, &facts);
    const double alike = plan.host_seconds / plan.device_seconds; /* either takes as long */
    const struct {
        double share, backlog;
        int callers;
        tb_reason reason;
    } cases[] = {{1.0, 0, 1, TB_REASON_TOO_SMALL},         {0.9, 0, 1, TB_REASON_TOO_SMALL},
                 {0.8, 0, 1, TB_REASON_FASTER_ON_DEVICE},  {0.8, 1, 1, TB_REASON_DEVICE_BUSY},
                 {0.8, 0, 2, TB_REASON_FASTER_ON_DEVICE},  {0.8, 0, 4, TB_REASON_DEVICE_BUSY},
                 {0.1, 0.5, 4, TB_REASON_FASTER_ON_DEVICE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        facts.machine.streamed_ratio = cases[i].share * alike;
        facts.backlogs[0] = cases[i].backlog * plan.host_seconds;
        facts.callers = cases[i].callers;
        const tb_plan other = tb_decide_factor(&factor, &facts);
        CHECK(other.reason == cases[i].reason &&
                  (other.route == TB_ROUTE_STREAMED) == (other.reason == TB_REASON_FASTER_ON_DEVICE),
              "%g of the host's time, %d callers: %s", cases[i].share, cases[i].callers,
              tb_reason_text(other.reason));
        CHECK(fabs(other.device_seconds / (cases[i].share * plan.host_seconds) - 1) < 1e-6, "case %zu: %g s",
              i, other.device_seconds);
    }
}

/* ---- Forecasts -------------------------------------------------------------------------------------------- */

static tb_factor qr_of(int64_t m, int64_t n)
{
    return tb_geqrf(TB_DGEQRF, m, n, NULL, m, NULL, &info);
}

/* The host's are those of OpenBLAS that were measured. */
static void the_host_takes_what_was_measured(void)
{
    static const struct {
        tb_routine routine;
        int64_t n;
        double seconds;
    } measured[] = {{TB_DPOTRF, 512, 1.3e-3}, {TB_DPOTRF, 1024, 5.0e-3}, {TB_DPOTRF, 2048, 22e-3},
                    {TB_DPOTRF, 4096, 87e-3}, {TB_DGETRF, 512, 3.5e-3},  {TB_DGETRF, 1024, 13e-3},
                    {TB_DGETRF, 2048, 55e-3}, {TB_DGETRF, 4096, 283e-3}, {TB_DGEQRF, 512, 5.7e-3},
                    {TB_DGEQRF, 1024, 30e-3}, {TB_DGEQRF, 2048, 140e-3}, {TB_DGEQRF, 4096, 640e-3},
                    {TB_DORGQR, 512, 5.5e-3}, {TB_DORGQR, 1024, 16e-3},  {TB_DORGQR, 2048, 48e-3},
                    {TB_DORGQR, 4096, 390e-3}};
    const tb_facts facts = facts_when_up();
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        const tb_factor factor = factor_of_routine(measured[i].routine, measured[i].n, 0);
        const double seconds = tb_factor_host_seconds(&factor, &facts.machine);
        CHECK(fabs(seconds / measured[i].seconds - 1) < 0.2, "%s, n = %lld: %g s",
              tb_routine_rows[measured[i].routine].name, (long long)measured[i].n, seconds);
    }
}

static void forecasts_grow_with_the_order_and_look_at_few_steps(void)
{
    enum { STEPS_MOST = 100, ORDER_MOST = 100000 };
    const tb_facts facts = facts_when_up();
    double host = 0, device = 0, least = 0;
    for (int64_t n = TB_FACTOR_ORDER_LEAST; n <= ORDER_MOST; n += n / 5) {
        const tb_factor factor = factor_of(n);
        const double host_before = host, device_before = device, least_before = least;
        steps = 0;
        const tb_plan plan = tb_decide_factor(&factor, &facts);
        CHECK(steps <= STEPS_MOST, "n = %lld: %d steps", (long long)n, steps);
        least = tb_factor_seconds_least(&factor, &facts);
        host = tb_factor_host_seconds(&factor, &facts.machine);
        device = tb_factor_seconds(&factor, &facts, &h200s[0], 512);
        CHECK(host > host_before && device > device_before && least > least_before && isfinite(host) &&
                  isfinite(device) && least < device,
              "n = %lld: %g s, %g s and at least %g s", (long long)n, host, device, least);
        CHECK(n < 1024 || (plan.route == TB_ROUTE_STREAMED && plan.device_seconds == device), "n = %lld: %s",
              (long long)n, tb_route_text(plan.route));
    }
}

static void forecasts_of_qr_look_at_few_steps(void)
{
    enum { STEPS_MOST = 30, ORDER_MOST = 100000 };
    const tb_facts facts = facts_when_up();
    double before = 0;
    for (int64_t n = TB_FACTOR_ORDER_LEAST; n <= ORDER_MOST; n += n / 5) {
        const tb_factor factor = qr_of(n, n), tall = qr_of(2 * n, n), wide = qr_of(n, 2 * n);
        steps = 0;
        const double device = tb_factor_seconds(&factor, &facts, &h200s[0], 512);
        CHECK(steps <= STEPS_MOST, "QR of n = %lld: %d steps", (long long)n, steps);
        CHECK(device > before && device < tb_factor_seconds(&tall, &facts, &h200s[0], 512) &&
                  device < tb_factor_seconds(&wide, &facts, &h200s[0], 512) &&
                  tb_factor_seconds_least(&factor, &facts) < device,
              "QR of n = %lld: %g s", (long long)n, device);
        CHECK(n < 2048 || tb_decide_factor(&factor, &facts).route == TB_ROUTE_STREAMED,
              "QR of n = %lld: host", (long long)n);
        before = device;
    }
}

static double device_seconds_of_q(int64_t m, int64_t n, int64_t k)
{
    const tb_factor factor = tb_orgqr(TB_DORGQR, m, n, k, NULL, m, NULL, &info);
    const tb_facts facts = facts_when_up();
    const double seconds = tb_factor_seconds(&factor, &facts, &h200s[0], 512);
    CHECK(isfinite(seconds) && tb_factor_seconds_least(&factor, &facts) < seconds,
          "Q of %lld x %lld: %g s, at least %g s", (long long)m, (long long)n, seconds,
          tb_factor_seconds_least(&factor, &facts));
    return seconds;
}

/* With each extent; and where it is large the device has it. */
static void forecasts_of_q_look_at_few_steps(void)
{
    enum { PRODUCTS_MOST = 20, ORDER_MOST = 100000 };
    const tb_facts facts = facts_when_up();
    double before = 0;
    for (int64_t n = TB_FACTOR_ORDER_LEAST; n <= ORDER_MOST; n += n / 5) {
        const tb_factor factor = tb_orgqr(TB_DORGQR, n, n, n, NULL, n, NULL, &info);
        products = 0;
        const double device = device_seconds_of_q(n, n, n);
        CHECK(products <= PRODUCTS_MOST, "Q of n = %lld: %d products", (long long)n, products);
        CHECK(device > before && device < device_seconds_of_q(2 * n, n, n) &&
                  device > device_seconds_of_q(n, n, n / 2) && device > device_seconds_of_q(n, n / 2, n / 2),
              "Q of n = %lld: %g s", (long long)n, device);
        CHECK(n < 2048 || tb_decide_factor(&factor, &facts).route == TB_ROUTE_STREAMED, "Q of n = %lld: host",
              (long long)n);
        before = device;
    }
}

static double device_seconds_of_product(bool right, int64_t m, int64_t n, int64_t k)
{
    const tb_factor factor =
        tb_ormqr(TB_DORMQR, right, false, m, n, k, NULL, right ? n : m, NULL, NULL, m, &info);
    const tb_facts facts = facts_when_up();
    const double seconds = tb_factor_seconds(&factor, &facts, &h200s[0], 512);
    CHECK(isfinite(seconds) && tb_factor_seconds_least(&factor, &facts) < seconds,
          "%lld x %lld, %lld reflectors: %g s, at least %g s", (long long)m, (long long)n, (long long)k,
          seconds, tb_factor_seconds_least(&factor, &facts));
    return seconds;
}

/* With each extent, from either side. */
static void forecasts_of_products_with_q_look_at_few_steps(void)
{
    enum { PRODUCTS_MOST = 40, ORDER_MOST = 100000 };
    for (int right = 0; right < 2; right++) {
        double before = 0;
        for (int64_t n = TB_FACTOR_ORDER_LEAST; n <= ORDER_MOST; n += n / 5) {
            products = 0;
            const double device = device_seconds_of_product(right, n, n, n);
            CHECK(products <= PRODUCTS_MOST, "n = %lld: %d products", (long long)n, products);
            CHECK(device > before && device < device_seconds_of_product(right, 2 * n, n, n) &&
                      device < device_seconds_of_product(right, n, 2 * n, n) &&
                      device > device_seconds_of_product(right, n, n, n / 2),
                  "n = %lld: %g s", (long long)n, device);
            before = device;
        }
    }
}

/* What is by rows takes what its adjoint does, and a little longer: for moves of numbers. But of Q reflectors are moved at once. */
static void forecasts_of_rows_are_those_of_columns_and_moves(void)
{
    enum { MOST = 50000 };
    const tb_facts facts = facts_when_up();
    for (int64_t n = TB_FACTOR_ORDER_LEAST; n <= MOST; n *= 2) {
        const int64_t m = n / 256 % 2 ? n : n / 2;
        const tb_factor rows[] = {tb_geqrf(TB_DGELQF, m, n, NULL, m, NULL, &info),
                                  tb_geqrf(TB_DGELQF, n, m, NULL, n, NULL, &info),
                                  tb_orgqr(TB_DORGLQ, m, n, m - 1, NULL, m, NULL, &info)},
                        columns[] = {qr_of(n, m), qr_of(m, n),
                                     tb_orgqr(TB_DORGQR, n, m, m - 1, NULL, n, NULL, &info)};
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            const double turned = tb_factor_seconds(&rows[i], &facts, &h200s[0], 512),
                         straight = tb_factor_seconds(&columns[i], &facts, &h200s[0], 512);
            CHECK(tb_factor_host_seconds(&rows[i], &facts.machine) ==
                      tb_factor_host_seconds(&columns[i], &facts.machine),
                  "%zu, n = %lld: another host", i, (long long)n);
            CHECK(turned > straight * (tb_makes_q(&rows[i]) ? 0.85 : 1) &&
                      turned < 1.1 * straight + 2 * (double)(m * n * 8) / 4e9 &&
                      tb_factor_seconds_least(&rows[i], &facts) < turned,
                  "%zu, n = %lld: %g s, %g s by columns", i, (long long)n, turned, straight);
        }
    }
}

/* With the columns that are solved for; what makes factors besides takes as long as both. */
static void forecasts_of_solves_grow_with_the_columns(void)
{
    static const tb_routine routines[] = {TB_DPOTRS, TB_DPOSV, TB_DGETRS, TB_DGESV, TB_DTRTRS, TB_DGELS};
    enum { ORDER = 2000 };
    const tb_facts facts = facts_when_up();
    for (size_t i = 0; i < sizeof routines / sizeof *routines; i++) {
        double host = 0, device = 0, least = 0;
        for (int64_t nrhs = 1; nrhs <= 10 * ORDER; nrhs *= 10) {
            const tb_factor factor = factor_of_routine(routines[i], ORDER, nrhs);
            const double host_before = host, device_before = device, least_before = least;
            host = tb_factor_host_seconds(&factor, &facts.machine);
            device = tb_factor_seconds(&factor, &facts, &h200s[0], 512);
            least = tb_factor_seconds_least(&factor, &facts);
            CHECK(host > host_before && device > device_before && least >= least_before && least < device &&
                      isfinite(device),
                  "%s, %lld columns: %g s, %g s and at least %g s", tb_routine_rows[routines[i]].name,
                  (long long)nrhs, host, device, least);
        }
    }
    const tb_factor made = factor_of_routine(TB_DGETRF, ORDER, 0),
                    solved = factor_of_routine(TB_DGETRS, ORDER, 100),
                    both = factor_of_routine(TB_DGESV, ORDER, 100);
    const double steps = tb_factor_steps_seconds(&made, &facts, &h200s[0], 512) +
                         tb_factor_steps_seconds(&solved, &facts, &h200s[0], 512),
                 together = tb_factor_steps_seconds(&both, &facts, &h200s[0], 512);
    CHECK(fabs(together / steps - 1) < 0.01, "%g s one after the other, %g s together", steps, together);
}

/* Least squares are what the device has of GELS. */
static void other_ways_of_least_squares_are_the_hosts(void)
{
    tb_facts facts = facts_when_up();
    const tb_factor transposed = tb_gels(TB_DGELS, true, 4096, 4096, 1, NULL, 4096, NULL, 4096, &info),
                    wide = tb_gels(TB_DGELS, false, 4000, 4096, 1, NULL, 4000, NULL, 4096, &info);
    CHECK(tb_decide_factor(&transposed, &facts).reason == TB_REASON_ROUTINE &&
              tb_decide_factor(&wide, &facts).reason == TB_REASON_ROUTINE,
          "they are not");
    facts.places[0].memory = D;
    CHECK(tb_decide_factor(&wide, &facts).route == TB_ROUTE_RESIDENT, "where the host cannot reach it");
}

/* A matrix crosses the link to the device and from there. */
static void both_ways_of_the_link_take_their_time(void)
{
    enum { WAYS = 2, TIMES = 20 };
    const tb_factor factor = factor_of(4096);
    tb_facts facts = facts_when_up();
    const double before = tb_factor_seconds(&factor, &facts, &h200s[0], 512);
    for (int way = 0; way < WAYS; way++) {
        tb_chip chip = h200s[0];
        double *link = way == 0 ? &chip.link_in : &chip.link_out;
        *link /= TIMES;
        const double slower = tb_factor_seconds(&factor, &facts, &chip, 512), bytes = 4096.0 * 4097 / 2 * 8;
        CHECK(slower > before && slower > bytes / *link, "a slower way %s: %g s, not %g",
              way == 0 ? "in" : "out", slower, before);
    }
}

/* Three blocks stand for all of them: what they forecast is what every step would add up to. */
static void few_blocks_tell_what_all_take(void)
{
    const tb_facts facts = facts_when_up();
    for (int64_t n = 2000; n <= 20000; n = n * 3 / 2) {
        tb_factor factor = factor_of(n);
        factor.stored = n % 2 == 0 ? TB_LOWER : TB_UPPER;
        const int64_t block = n / 3 + 1;
        const double few = tb_factor_steps_seconds(&factor, &facts, &h200s[0], n / 4),
                     all = tb_factor_steps_seconds(&factor, &facts, &h200s[0], block);
        CHECK(fabs(few / all - 1) < 0.25, "n = %lld: %g s by blocks of %lld, %g s by smaller ones",
              (long long)n, all, (long long)block, few);
    }
}

/* ---- Learning --------------------------------------------------------------------------------------------- */

static tb_facts recalled(const tb_factor *factor)
{
    tb_facts facts = facts_when_up();
    tb_recall_task(tb_task_of_factor(factor), &facts);
    return facts;
}

/* Calls whose ways take so many seconds; returns how many the device had of the last quarter. */
static int call_so_often(const tb_factor *factor, int calls, double host, double device)
{
    int last = 0;
    for (int call = 0; call < calls; call++) {
        const tb_facts facts = recalled(factor);
        const tb_plan plan = tb_decide_factor(factor, &facts);
        const bool leaves = plan.route == TB_ROUTE_STREAMED;
        last += leaves && call >= calls - calls / 4;
        tb_learn_task(tb_task_of_factor(factor), &facts, &plan, leaves ? device : host);
    }
    return last;
}

/* Forecasts that are wrong are mended by what calls take, for sizes alike too, and for no other element. */
static void what_calls_take_is_learned(void)
{
    enum { CALLS = 80 };
    const tb_factor factor = factor_of(3000), alike = factor_of(3100), product = factor_of(700);
    const tb_facts before = recalled(&factor);
    const tb_plan plan = tb_decide_factor(&factor, &before);
    CHECK(before.machine.host_ratio == 1 && before.machine.streamed_ratio == 1, "something is known");
    int last = call_so_often(&factor, CALLS, plan.host_seconds, 3 * plan.host_seconds);
    CHECK(last <= 2, "a slow device had %d of %d calls", last, CALLS / 4);
    const tb_machine machine = recalled(&alike).machine;
    CHECK(machine.streamed_ratio > 3 && fabs(machine.host_ratio - 1) < 0.01,
          "its class has learned %g and %g", machine.streamed_ratio, machine.host_ratio);
    last = call_so_often(&product, CALLS, 10 * plan.device_seconds, plan.device_seconds / 10);
    CHECK(last >= CALLS / 4 - 2, "a fast device had %d of %d calls", last, CALLS / 4);
}

/* One that ends at a pivot, a small one and one whose way nobody chose say nothing. */
static void some_calls_teach_nothing(void)
{
    const tb_factor factor = factor_of(TB_FACTOR_ORDER_LEAST);
    const double before = recalled(&factor).machine.host_ratio;
    const tb_plan at_home = tb_plan_for_host(TB_REASON_TOO_SMALL, false),
                  there = tb_plan_for_host(TB_REASON_NO_DEVICE, true);
    for (int way = 0; way < 3; way++) {
        const tb_facts facts = recalled(&factor);
        const tb_factor small = factor_of(TB_FACTOR_ORDER_LEAST - 1);
        info = way == 0;
        tb_learn_task(tb_task_of_factor(way == 1 ? &small : &factor), &facts, way == 2 ? &there : &at_home,
                      1e3);
        info = 0;
        CHECK(recalled(&factor).machine.host_ratio == before, "way %d: %g instead of %g", way,
              recalled(&factor).machine.host_ratio, before);
    }
}

int main(void)
{
    every_row_is_decided_as_it_says();
    a_device_is_started_for_programs_that_factor_for_long();
    the_host_has_what_others_must_not_have();
    a_factorization_leaves_for_a_saving();
    the_host_takes_what_was_measured();
    forecasts_grow_with_the_order_and_look_at_few_steps();
    forecasts_of_qr_look_at_few_steps();
    forecasts_of_q_look_at_few_steps();
    forecasts_of_products_with_q_look_at_few_steps();
    forecasts_of_rows_are_those_of_columns_and_moves();
    forecasts_of_solves_grow_with_the_columns();
    other_ways_of_least_squares_are_the_hosts();
    both_ways_of_the_link_take_their_time();
    few_blocks_tell_what_all_take();
    what_calls_take_is_learned();
    some_calls_teach_nothing();
    return check_result();
}
