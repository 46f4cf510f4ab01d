/* A product that is called again and again: both ways are tried where they are forecast alike, the faster is soon taken and
 * kept, exploring costs little, and what is known of one product is known of no other.
 */
#include "lib/call/facts.h"
#include "lib/learning/repeated.h"
#include "tests/check.h"
#include "tests/unit/products.h"

#include <math.h>

/* A program's calls by which the faster way is taken, and those after that by which it shows that it is kept. */
enum { CALLS = 40, CALLS_KEPT = 200 };

/* What trials may cost, as a share of the seconds that the faster way takes: of calls by which it is kept, and of a long
 * program's. */
#define SHARE_KEPT 0.04
#define SHARE_LONG 0.035

static const tb_chip chip = {.open = true,
                             .architecture = 90,
                             .multiprocessors = 132,
                             .clock = 1.76e9,
                             .memory_rate = 4e12,
                             .link_in = 54e9,
                             .link_out = 54e9};

/* What has been learned of the host's classes. */
static double host_ratio = 1;

static tb_facts facts_of(const tb_product *product)
{
    const tb_place pinned = {.memory = TB_MEMORY_PINNED};
    tb_facts facts = {.places = {pinned, pinned, pinned},
                      .kernels = tb_catalog,
                      .kernel_count = tb_catalog_size,
                      .accuracy = TB_ACCURACY_FP32};
    facts.machine = (tb_machine){.readiness = TB_READY, .host_cores = 16, .chips = &chip, .chip_count = 1};
    facts.machine.host_ratio = host_ratio;
    facts.machine.streamed_ratio = 1;
    tb_recall_repeated(tb_task_of_product(product), &facts);
    return facts;
}

/* What ways really take, in seconds; how many calls each got. */
typedef struct course {
    double host, streamed;
    bool declines; /* the device does, and the host answers */
    bool sleepy;   /* either way takes three times as long where the call before went the other */
    int on_host, on_device, compared;
    double spent, least; /* seconds: of all calls, and had each gone the faster way */
    bool last_on_host;
} course;

/* A program that calls it again and again; the first call of either way takes three times as long. */
static void call_so_often(const tb_product *product, course *course, int times)
{
    for (int call = 0; call < times; call++) {
        const tb_facts facts = facts_of(product);
        tb_plan plan = tb_decide(product, &facts);
        const bool at_home = plan.route == TB_ROUTE_HOST;
        int *calls = at_home ? &course->on_host : &course->on_device;
        const bool is_asleep = course->sleepy && at_home != course->last_on_host;
        const double seconds =
            (at_home ? course->host : course->streamed) * (*calls == 0 || is_asleep ? 3 : 1);
        (*calls)++;
        course->spent += seconds;
        course->least += fmin(course->host, course->streamed);
        course->compared += plan.reason == TB_REASON_COMPARING;
        course->last_on_host = at_home;
        if (!at_home && course->declines)
            plan = tb_plan_for_host(TB_REASON_DEVICE_FAILED, false);
        tb_learn_repeated(tb_task_of_product(product), &facts, &plan, seconds);
    }
}

/* Another product's call, whose way is forced. */
static void take_the_device(void)
{
    const tb_product product = product_square(7);
    tb_facts facts = facts_of(&product);
    facts.route_forced = true;
    const tb_plan plan = {.route = TB_ROUTE_STREAMED, .device_seconds = 1};
    tb_learn_repeated(tb_task_of_product(&product), &facts, &plan, 1);
}

/* Whether it takes the way within so many calls, and keeps it: what goes the other way is a trial, and all trials together
 * cost little. */
static bool settles(const tb_product *product, course *course, bool on_host, int within)
{
    call_so_often(product, course, within);
    const struct course before = *course;
    call_so_often(product, course, CALLS_KEPT);
    const int astray = on_host ? course->on_device - before.on_device : course->on_host - before.on_host;
    const double least = course->least - before.least;
    return astray <= course->compared - before.compared &&
           course->spent - before.spent <= (1 + SHARE_KEPT) * least;
}

/* Whether nothing is known of it, nor either way due before it has been called. */
static bool is_unknown(const tb_product *product)
{
    const tb_repeated known = facts_of(product).repeated;
    return !known.host_known && !known.streamed_known && !known.host_due && !known.streamed_due;
}

/* The host answers while the device is starting, in so many seconds. */
static void start_at_home(const tb_product *product, double seconds, int times)
{
    for (int call = 0; call < times; call++) {
        const tb_facts facts = facts_of(product);
        const tb_plan plan = tb_plan_for_host(TB_REASON_DEVICE_STARTING, false);
        tb_learn_repeated(tb_task_of_product(product), &facts, &plan, seconds);
    }
}

/* Another product each time, of which the host is forecast to take so many times what the device does, and what it gets. */
static tb_product product_about(int64_t extent, double times, tb_plan *plan)
{
    static int64_t products;
    const int64_t n = extent + 16 * ++products;
    const tb_product product = product_square(n);
    host_ratio = 1;
    tb_facts facts = facts_of(&product);
    facts.route_forced = true;
    facts.forced_route = TB_ROUTE_STREAMED;
    const double device = tb_decide(&product, &facts).device_seconds;
    host_ratio = times * device / tb_host_seconds(&product, &facts.machine);
    facts = facts_of(&product);
    *plan = tb_decide(&product, &facts);
    return product;
}

static tb_product product_of(double times, tb_plan *plan)
{
    return product_about(2000, times, plan);
}

/* Whether the device is started for the product, which the host is forecast to have sooner, when a call has taken so many times
 * what was forecast, or two have. */
static bool starts_the_device(const tb_product *product, double times, int calls)
{
    tb_facts facts = facts_of(product);
    const double host = tb_host_seconds(product, &facts.machine);
    for (int call = 0; call < calls; call++) {
        facts = facts_of(product);
        const tb_plan plan = tb_plan_for_host(TB_REASON_TOO_SMALL, false);
        tb_learn_repeated(tb_task_of_product(product), &facts, &plan, times * host);
    }
    facts = facts_of(product);
    facts.machine.readiness = TB_UNTRIED;
    facts.machine.starts_at_once = true;
    const tb_plan plan = tb_decide(product, &facts);
    const bool starts = plan.start != TB_START_NOT;
    CHECK(starts == (plan.host_seconds > plan.device_seconds),
          "started %d, of a host that takes %g s, a device %g", starts, plan.host_seconds,
          plan.device_seconds);
    return starts;
}

int main(void)
{
    tb_plan plan;
    tb_product product = product_of(1.1, &plan);
    CHECK(plan.route == TB_ROUTE_HOST && plan.reason == TB_REASON_TOO_SMALL, "alike: route %d", plan.route);
    course faster_away = {.host = plan.host_seconds, .streamed = 0.5 * plan.host_seconds};
    CHECK(settles(&product, &faster_away, false, CALLS),
          "faster on the device: %d calls of the host, %d compared", faster_away.on_host,
          faster_away.compared);

    product = product_of(1.1, &plan);
    course faster_at_home = {.host = plan.host_seconds, .streamed = 1.2 * plan.host_seconds};
    CHECK(settles(&product, &faster_at_home, true, CALLS) && faster_at_home.on_device > 0,
          "faster on the host: %d calls of the device, %d compared", faster_at_home.on_device,
          faster_at_home.compared);

    /* What has been found to take much longer has to wait. */
    product = product_of(1.1, &plan);
    course much_faster_at_home = {.host = plan.host_seconds, .streamed = 1.4 * plan.host_seconds};
    CHECK(settles(&product, &much_faster_at_home, true, CALLS) && much_faster_at_home.on_device > 0 &&
              much_faster_at_home.compared < faster_at_home.compared,
          "much faster on the host: %d compared", much_faster_at_home.compared);

    product = product_of(1.4, &plan);
    CHECK(plan.route == TB_ROUTE_STREAMED, "well worth it: route %d", plan.route);
    course too_hopeful = {.host = 0.5 * plan.device_seconds, .streamed = plan.device_seconds};
    CHECK(settles(&product, &too_hopeful, true, CALLS),
          "the host is faster than forecast: %d calls of the device, %d compared", too_hopeful.on_device,
          too_hopeful.compared);

    /* Where the device saves 20%, products leave the host, long and short ones. */
    for (int is_short = 0; is_short < 2; is_short++) {
        product = product_about(is_short ? 500 : 2000, 1.1, &plan);
        course saving = {.host = plan.host_seconds, .streamed = 0.8 * plan.host_seconds};
        call_so_often(&product, &saving, CALLS);
        CHECK(saving.compared > 0 && !saving.last_on_host, "20%% of %g s saved: on the host %d",
              plan.host_seconds, saving.last_on_host);
    }

    /* A short one has to be forecast to save more, as long as only the host's calls say how long it takes. */
    product = product_about(500, 1.3, &plan);
    start_at_home(&product, plan.host_seconds, 4);
    const tb_facts half_known = facts_of(&product);
    CHECK(half_known.repeated.host_known &&
              tb_decide(&product, &half_known).reason != TB_REASON_FASTER_ON_DEVICE,
          "a fifth of %g s forecast to be saved", plan.host_seconds);

    /* Nor does the forecast keep them where the host's own calls take many times as long as it says. */
    product = product_of(0.4, &plan);
    course slow_host = {.host = 30 * plan.host_seconds, .streamed = 2.5 * plan.host_seconds};
    CHECK(settles(&product, &slow_host, false, 8), "a host that is slow with this shape: %d calls of it",
          slow_host.on_host);
    product = product_of(0.4, &plan);
    course slower_still = {.host = 1.5 * plan.host_seconds, .streamed = 2.5 * plan.host_seconds};
    call_so_often(&product, &slower_still, CALLS);
    CHECK(slower_still.on_device == 0, "a host that is less slow: %d calls of the device",
          slower_still.on_device);

    /* Where no device is up yet, it is started for them. */
    for (int slow = 0; slow < 2; slow++) {
        product = product_of(0.4, &plan);
        CHECK(!starts_the_device(&product, slow ? 30 : 1.5, 1), "by one call");
        const bool starts = starts_the_device(&product, slow ? 30 : 1.5, 2);
        CHECK(starts == slow, "a host that takes %s: started %d",
              slow ? "30 times as long" : "1.5 times as long", starts);
    }

    /* Far from alike: nothing is tried. */
    product = product_of(3, &plan);
    course clear = {.host = plan.host_seconds, .streamed = plan.device_seconds};
    call_so_often(&product, &clear, CALLS);
    CHECK(clear.on_host == 0 && clear.compared == 0, "three times as fast: %d calls of the host",
          clear.on_host);

    /* The host's forecast of a short one may be off by more. */
    product = product_about(500, 3, &plan);
    course doubtful = {.host = 0.5 * plan.device_seconds, .streamed = plan.device_seconds};
    CHECK(settles(&product, &doubtful, true, CALLS), "short, three times as fast: %d compared",
          doubtful.compared);
    product = product_about(500, 5, &plan);
    course certain = {.host = plan.host_seconds, .streamed = plan.device_seconds};
    call_so_often(&product, &certain, CALLS);
    CHECK(certain.compared == 0, "short, five times as fast: %d compared", certain.compared);

    /* Where a host has twice taken many times as long as its class does, it is seen soon if that was by chance; and if not, a
     * trial is all that it costs. */
    for (int by_chance = 0; by_chance < 2; by_chance++) {
        product = product_about(500, 0.5, &plan);
        course waiting = {.host = 20 * plan.host_seconds, .streamed = plan.device_seconds};
        call_so_often(&product, &waiting, 10);
        const int believed = waiting.on_host;
        CHECK(believed > 0 && believed <= 3 && !waiting.last_on_host, "%d calls of a host that is slow",
              believed);
        waiting.host = by_chance ? plan.host_seconds : waiting.host;
        call_so_often(&product, &waiting, 10);
        CHECK(waiting.last_on_host == by_chance && waiting.on_host > believed,
              "slow %s: %d calls of the host", by_chance ? "by chance" : "indeed", waiting.on_host);
        const int tried = waiting.on_host - believed;
        call_so_often(&product, &waiting, 40);
        CHECK(by_chance || (tried <= believed && waiting.on_host == believed + tried),
              "%d calls of a slow host", waiting.on_host);
    }

    /* What is tried a second time counts where the first has been slow by chance. */
    product = product_of(1.1, &plan);
    course unlucky = {.host = plan.host_seconds, .streamed = 1.2 * plan.host_seconds};
    call_so_often(&product, &unlucky, CALLS / 3);
    CHECK(unlucky.on_device > 0 && unlucky.last_on_host, "after %d calls of the device", unlucky.on_device);
    unlucky.streamed = 0.7 * plan.host_seconds;
    CHECK(settles(&product, &unlucky, false, CALLS), "lucky again: %d calls of the device",
          unlucky.on_device);

    /* A host that has taken almost twice as long is not tried again at once, but some time later, should that have been by
     * chance. */
    for (int is_short = 0; is_short < 2; is_short++) {
        product = product_about(is_short ? 500 : 2000, 2, &plan);
        course slow_once = {.host = 1.9 * plan.device_seconds, .streamed = plan.device_seconds};
        host_ratio *= 0.7; /* the forecast that has the host tried */
        call_so_often(&product, &slow_once, 8);
        CHECK(slow_once.on_host > 0 && !slow_once.last_on_host, "%d calls of a host that is slow",
              slow_once.on_host);
        slow_once.host = 0.5 * plan.device_seconds;
        call_so_often(&product, &slow_once, CALLS / 2);
        CHECK(!slow_once.last_on_host, "a host that was slow: %d calls of it", slow_once.on_host);
        call_so_often(&product, &slow_once, CALLS_KEPT);
        CHECK(slow_once.last_on_host, "a host that was slow by chance: %d calls of it", slow_once.on_host);
    }

    /* Once in a while the other way is tried again. */
    product = product_of(1.1, &plan);
    course changing = {.host = plan.host_seconds, .streamed = 1.4 * plan.host_seconds};
    CHECK(settles(&product, &changing, true, CALLS), "%d calls of the device", changing.on_device);
    changing.streamed = 0.3 * plan.host_seconds;
    CHECK(settles(&product, &changing, false, 10 * CALLS), "the device has become faster: %d of its calls",
          changing.on_device);

    /* It is tried soon, then again after ever more calls, and then every so often; a trial is short. */
    product = product_of(1.1, &plan);
    course again = {.host = plan.host_seconds, .streamed = 1.1 * plan.host_seconds};
    enum { CALLS_OF_TRIAL = 4, SOON = 16, SELDOM = 128, CALLS_WATCHED = 1000 };
    call_so_often(&product, &again, SOON / 2);
    int trials = 0, between = SOON / 2, before = 0;
    for (int call = 0, length = 0; call < CALLS_WATCHED; call++) {
        const int compared = again.compared;
        call_so_often(&product, &again, 1);
        if (again.compared == compared) {
            between++;
            length = 0;
            CHECK(between <= (trials == 0 ? SOON : SELDOM), "%d calls without a trial", between);
            continue;
        }
        length++;
        CHECK(length <= CALLS_OF_TRIAL, "a trial of %d calls", length);
        if (length > 1 || between < CALLS_OF_TRIAL) /* which goes on */
            continue;
        CHECK(between + CALLS_OF_TRIAL >= before, "tried %d calls after a trial, and %d after the one before",
              between, before);
        before = between;
        between = 0;
        trials++;
    }
    CHECK(trials > CALLS_WATCHED / SELDOM, "%d trials in %d calls", trials, CALLS_WATCHED);

    /* Between any two calls another product takes the device: the host is never called in a row, and tried all the same. */
    product = product_of(1.4, &plan);
    course interrupted = {.host = 0.5 * plan.device_seconds, .streamed = plan.device_seconds};
    for (int call = 0; call < CALLS; call++) {
        call_so_often(&product, &interrupted, 1);
        take_the_device();
    }
    CHECK(interrupted.last_on_host && interrupted.on_host > CALLS / 2, "interrupted: %d calls of the host",
          interrupted.on_host);

    /* Calls come in pairs, and the host is slow where the call before took the device: a trial that falls into two pairs
     * goes on until it has seen the host awake. */
    product = product_of(1.4, &plan);
    course in_pairs = {.host = 0.5 * plan.device_seconds, .streamed = plan.device_seconds, .sleepy = true};
    for (int call = 0; call < CALLS / 2; call++) {
        call_so_often(&product, &in_pairs, call == 0 ? 1 : 2);
        take_the_device();
        in_pairs.last_on_host = false;
    }
    call_so_often(&product, &in_pairs, 1);
    CHECK(in_pairs.last_on_host, "in pairs: %d calls of the host", in_pairs.on_host);

    /* Two fast calls of the device are not what it usually takes: such a product soon stays at home. */
    product = product_of(1.4, &plan);
    course lucky = {.host = 0.8 * plan.device_seconds, .streamed = 0.5 * plan.device_seconds};
    do
        call_so_often(&product, &lucky, 1);
    while (lucky.on_device < CALLS && (lucky.on_host == 0 || lucky.last_on_host));
    CHECK(lucky.on_host > 0 && !lucky.last_on_host, "lucky: %d calls of the host", lucky.on_host);
    lucky.streamed = 1.1 * plan.device_seconds;
    CHECK(settles(&product, &lucky, true, CALLS / 8), "no longer lucky: %d calls of the device",
          lucky.on_device);

    /* The faster of a first trial's two calls counts: the first call takes three times what it says here. */
    product = product_of(1.4, &plan);
    course surprised = {.host = plan.device_seconds / 6, .streamed = plan.device_seconds};
    while (surprised.on_host == 0 && surprised.on_device < CALLS)
        call_so_often(&product, &surprised, 1);
    surprised.host = 2 * plan.device_seconds;
    call_so_often(&product, &surprised, 1);
    surprised.host = 0.5 * plan.device_seconds;
    call_so_often(&product, &surprised, 1);
    CHECK(surprised.last_on_host, "surprised: %d calls of the device", surprised.on_device);

    /* Nor does waking the device for a trial count, however often: once it has become faster it is taken. */
    product = product_of(1.1, &plan);
    course asleep = {.host = plan.host_seconds, .streamed = 0.95 * plan.host_seconds, .sleepy = true};
    call_so_often(&product, &asleep, 400);
    CHECK(asleep.last_on_host, "asleep: %d calls of the device", asleep.on_device);
    asleep.streamed = 0.7 * plan.host_seconds;
    call_so_often(&product, &asleep, 100);
    CHECK(!asleep.last_on_host, "awake at last: %d calls of the device", asleep.on_device);

    /* One slow call of the device does not send a product home that gains by it, and a bad time of it is over some day. */
    product = product_of(1.4, &plan);
    course moody = {.host = plan.host_seconds, .streamed = 0.7 * plan.host_seconds};
    CHECK(settles(&product, &moody, false, CALLS), "in a good mood: %d calls of the host", moody.on_host);
    moody.streamed *= 5;
    call_so_often(&product, &moody, 1);
    moody.streamed /= 5;
    CHECK(settles(&product, &moody, false, 0), "a slow call of the device: %d calls of the host",
          moody.on_host);
    moody.streamed *= 10;
    call_so_often(&product, &moody, 2000);
    CHECK(moody.last_on_host, "a bad time: %d calls of the device", moody.on_device);
    moody.streamed /= 10;
    call_so_often(&product, &moody, 2000);
    CHECK(!moody.last_on_host, "the bad time is over: %d calls of the device", moody.on_device);

    /* A way that is known to take several times as long costs little by being tried again, and is, should it have been slow
     * by chance; but not where its calls are long. */
    for (int times = 2; times <= 32; times *= 2)
        for (int is_long = 0; is_long < 2; is_long++) {
            product = product_about(is_long ? 4001 : 301, times, &plan);
            const double device = plan.device_seconds;
            course slow = {.host = times * device, .streamed = device};
            start_at_home(&product, slow.host, 4);
            call_so_often(&product, &slow, 20000);
            CHECK(slow.spent < (1 + SHARE_LONG) * slow.least,
                  "the host takes %d times as long: %d calls of it", times, slow.on_host);
            CHECK((slow.on_host > 0) == (times == 2 || !is_long), "%d times %g s: %d calls of the host",
                  times, device, slow.on_host);
            product = product_about(303, times, &plan);
            course by_chance = {.host = 0.5 * plan.device_seconds, .streamed = plan.device_seconds};
            start_at_home(&product, times * plan.device_seconds, 4);
            call_so_often(&product, &by_chance, 80 * (times + 1));
            CHECK(by_chance.last_on_host, "the host took %d times as long by chance", times);
        }

    /* A device that declines is not asked by every call. */
    product = product_of(1.1, &plan);
    course declining = {.host = plan.host_seconds, .streamed = 1.2 * plan.host_seconds, .declines = true};
    call_so_often(&product, &declining, 1000);
    CHECK(declining.compared > 0 && declining.compared < SHARE_KEPT * 1000, "declining: %d compared",
          declining.compared);

    /* More products than are remembered: none takes over what another has taught. */
    for (int i = 0; i < 3000; i++) {
        product = product_of(1.4, &plan);
        course another = {.host = plan.host_seconds, .streamed = plan.device_seconds};
        call_so_often(&product, &another, 1);
        CHECK(is_unknown(&product), "product %d is known", i);
        call_so_often(&product, &another, 4);
    }

    /* A host that gets slow is left, however long it was the faster one. */
    product = product_of(0.1, &plan);
    course staying = {.host = plan.host_seconds, .streamed = plan.device_seconds};
    call_so_often(&product, &staying, 640);
    CHECK(staying.on_device == 0, "%d of 640 calls leave a faster host", staying.on_device);
    staying.host *= 100;
    call_so_often(&product, &staying, 640);
    CHECK(staying.on_device > 640 / 2, "where the host gets slow %d of 640 go on", staying.on_device);

    /* Whatever of a product is another, it is another product. */
    product = product_of(0.1, &plan);
    course known = {.host = plan.host_seconds, .streamed = plan.host_seconds};
    call_so_often(&product, &known, CALLS);
    CHECK(facts_of(&product).repeated.host_known, "%d calls have taught nothing", CALLS);
    tb_product others[] = {product, product, product, product, product, product, product, product};
    others[0].m++;
    others[1].n++;
    others[2].k++;
    others[3].a.transposed = !product.a.transposed;
    others[4].b.transposed = !product.b.transposed;
    others[5].beta.re = 1 - product.beta.re;
    others[6].routine = TB_SGEMMT;
    others[7].a.structure = TB_SYMMETRIC;
    for (int i = 0; i < 8; i++)
        CHECK(is_unknown(&others[i]), "known from a product that is other than number %d", i);
    tb_facts elsewhere = {.places[TB_B] = {.memory = TB_MEMORY_HOST}};
    tb_recall_repeated(tb_task_of_product(&product), &elsewhere);
    CHECK(!elsewhere.repeated.host_known, "known from a product in other memory");

    /* What is known of a call goes before what is known of its class in the call's facts. */
    product = product_of(1.1, &plan);
    course both_ways = {.host = plan.host_seconds, .streamed = plan.host_seconds};
    call_so_often(&product, &both_ways, CALLS);
    const tb_facts own = facts_of(&product);
    tb_facts gathered = own;
    tb_gather_facts(tb_task_of_product(&product), &gathered);
    CHECK(own.repeated.streamed_known && gathered.machine.host_ratio == own.machine.host_ratio,
          "%g times its forecast, and %g in the facts", own.machine.host_ratio, gathered.machine.host_ratio);

    /* Forced calls teach nothing. */
    product = product_of(1.1, &plan);
    for (int call = 0; call < CALLS; call++) {
        tb_facts facts = facts_of(&product);
        facts.route_forced = true;
        tb_learn_repeated(tb_task_of_product(&product), &facts, &plan, 1);
    }
    CHECK(is_unknown(&product), "forced calls have taught");
    return check_result();
}
