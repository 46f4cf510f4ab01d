/* Decisions, and nothing else. tb_decide looks at a product and at the facts and answers a plan. It has no global state, no clock
 * and no CUDA, so every decision can be printed and tested anywhere. The choices before that the facts bring save it time, and
 * change no answer; those that it makes are told, and kept by whoever asks.
 *
 * A route is a way to execute a plan; a reason says in words why the plan is what it is.
 */
#ifndef TB_PLAN_H
#define TB_PLAN_H

#include "kernels/catalog.h"
#include "words/place.h"
#include "words/product.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum tb_route {
    TB_ROUTE_HOST,     /* the caller's own BLAS */
    TB_ROUTE_RESIDENT, /* operands where the device can reach them: launches on the caller's stream */
    TB_ROUTE_STREAMED, /* operands in host memory: through device buffers and back */
    TB_ROUTE_COUNT,
} tb_route;

typedef enum tb_readiness {
    TB_UNTRIED, /* nobody has needed it yet */
    TB_STARTING,
    TB_READY,
    TB_ABSENT, /* none, or none that this build has code for */
    TB_LOST,   /* a sticky error happened, or this is a forked child of a process that had begun */
} tb_readiness;

/* One device. Rates are what it sustains, not what its data sheet says. */
typedef struct tb_chip {
    int device;        /* ordinal */
    bool open, failed; /* its context is up, or could not be had */
    int architecture;
    int multiprocessors;
    double clock; /* Hz, at which a multiprocessor does 128 multiply-adds a clock; less where it does fewer */
    double memory_rate;          /* bytes a second, read plus written */
    double memory_bytes_a_clock; /* as in a tb_target, for kernels' forecasts: by the data sheet */
    double link_in, link_out;    /* bytes a second between pinned memory and the device, one way at a time */
    const tb_clusters *clusters; /* NULL: unknown */
    bool apart;       /* another process has it up: it reaches no memory of the program's, pinned or not */
    uint64_t reached; /* devices whose memory it reads past the links to the host: a bit for each ordinal */
} tb_chip;

static inline bool tb_reach_each_other(const tb_chip *chip, const tb_chip *other)
{
    return (chip->reached >> other->device & other->reached >> chip->device & 1) == 1;
}

/* The machine as far as decisions depend on it. */
typedef struct tb_machine {
    tb_readiness readiness;
    int host_cores;
    const tb_chip *chips; /* the one that single products go to comes first; open ones only are used */
    int chip_count;       /* 0 unless the machine is ready */
    int devices_wanted;   /* that share a product if it can be cut; 0: as many as make it faster */
    /* While no device is up: seconds that the host has taken for calls that one would have won. */
    double host_spent;
    bool starts_at_once; /* for the first such call, whatever the host has taken */
    /* What calls like this one took so far, divided by what had been forecast; 1 where nothing is known. */
    double host_ratio, streamed_ratio;
    double sharing_ratio; /* the same of calls that devices shared, divided by the streamed ratio */
} tb_machine;

/* What is known of calls of this very product, its way not forced. */
typedef struct tb_repeated {
    bool host_known, streamed_known; /* how long it takes that way; with both, the machine's ratios say it */
    bool host_due, streamed_due;     /* that way ought to be tried, if it may be the faster */
    /* One that is known to take longer may be tried by now if it takes at most so many times as long as the other. */
    double host_times_most, streamed_times_most;
    /* What its own calls took on the host, divided by what had been forecast; 0: not known. */
    double host_ratio;
    /* The same of the calls of its class, where its own are so few that they may have been slow by chance; else 0. */
    double host_ratio_of_class;
} tb_repeated;

/* Kernels that have been chosen before: of each entry the upper 56 bits are the question's, which is the hash of all that a
 * choice depends on, the lower 8 the answer's row in the catalog, counted from 1. All 0: nothing is remembered. Two questions
 * with the same 56 bits get the same answer. Other threads may be writing: whichever writes last is believed. */
#define TB_CHOICES 1024
typedef struct tb_choices {
    _Atomic(uint64_t) entries[TB_CHOICES];
} tb_choices;

/* Those that were chosen anew for a decision, as such entries. What finds no room is chosen anew the next time. */
typedef struct tb_new_choices {
    int count;
    uint64_t entries[16];
} tb_new_choices;

/* Where the choice of a question, or an entry, is kept. */
static inline size_t tb_place_of_choice(uint64_t question)
{
    return question >> 8 & (TB_CHOICES - 1);
}

/* Devices whose work is looked at: those at the beginning of the machine's list. */
#define TB_BACKLOGS 16

/* What tb_decide may know besides the product. */
typedef struct tb_facts {
    tb_place places[TB_ROLES]; /* of the operands; of a batch, of the first product's */
    bool scattered;            /* some of a batch's products have operands in other places */
    tb_machine machine;
    double backlogs[TB_BACKLOGS]; /* seconds of work that wait for each of the machine's chips */
    int callers; /* threads of the program that are in calls, this one among them; 0: as one */
    tb_repeated repeated;
    const tb_kernel *kernels; /* the catalog */
    size_t kernel_count;
    tb_accuracy accuracy; /* the least that chosen kernels must promise; a forced one is taken at its word */
    bool needs_host;    /* the calling thread rounds otherwise than to nearest, or traps, as no device does */
    bool stays_on_host; /* the routine's products, unless an operand or the user ties them to a device */
    bool route_forced, kernel_forced;
    tb_route forced_route;
    const tb_kernel *forced_kernel; /* NULL when the name that was forced is no kernel's */
    /* Bytes of a device's memory beside operands that lie there, by the option DEVICE_MEMORY; 0: no limit. */
    int64_t bytes_most;
    const tb_choices *choices; /* NULL: every choice is made anew */
    tb_new_choices *chosen;    /* filled in, a part of the answer; NULL: nobody wants to know */
} tb_facts;

typedef enum tb_reason {
#define TB_REASON(NAME, text) TB_REASON_##NAME,
#include "dispatch/reasons.def"
#undef TB_REASON
    TB_REASON_COUNT,
} tb_reason;

/* Whether the device should be started on behalf of this call. */
typedef enum tb_start {
    TB_START_NOT,
    TB_START_FOR_LATER, /* calls like this one would gain: start it beside the program */
    TB_START_MORE,      /* calls like this one would gain from the other devices too: open them beside it */
    TB_START_NOW, /* this call cannot be served without it, or sooner with it: start it, wait, and decide again */
} tb_start;

/* Devices that can share one product. */
#define TB_REGIONS_MAXIMUM 8

/* What one device computes of a streamed product: a rectangle of C. */
typedef struct tb_region {
    int device;
    const tb_kernel *kernel;
    int64_t row, column, rows, columns;
} tb_region;

/* The product of that rectangle. */
static inline tb_product tb_region_of(const tb_product *product, const tb_region *region)
{
    return tb_subproduct(product, (tb_range){region->row, region->rows},
                         (tb_range){region->column, region->columns}, (tb_range){0, product->k});
}

typedef struct tb_plan {
    tb_route route;
    tb_reason reason;
    const tb_kernel *kernel;   /* NULL on the host route; one for plain products has the product lowered */
    tb_schedule schedule;      /* resident: the kernel's, for this product */
    tb_place places[TB_ROLES]; /* where the operands lie, as in the facts */
    tb_place place;            /* device and context that do the work */
    bool pads[TB_ROLES];       /* an operand is first copied, or expanded, into pitched memory */
    tb_region regions[TB_REGIONS_MAXIMUM]; /* streamed: they cover C and do not overlap */
    int region_count;
    int64_t block; /* of a factorization: columns that are finished at a time */
    tb_start start;
    bool folds;        /* resident: kernel and schedule are for what is to be folded (words/folded.h) */
    bool joins;        /* resident: kernel and schedule are for both terms at once */
    bool needs_device; /* an operand lies where the host cannot reach it */
    bool separately;   /* a batch's products are calls of their own; this is the first one's plan */
    double host_seconds, device_seconds; /* forecasts; 0 where none was needed */
    double seconds_at_risk; /* of the device's, what is counted because operands may not suit its kernel */
} tb_plan;

/* Products of at most this many multiply-adds are never worth a device: even one core answers in 20 us. */
#define TB_SMALL_VOLUME (80.0 * 80.0 * 80.0)

tb_plan tb_decide(const tb_product *product, const tb_facts *facts);

/* What a resident plan has to do without, as there is no memory for it. */
typedef enum tb_shortage {
    TB_NO_ROOM_TO_FOLD, /* terms are added one after the other, by kernels that may do with less */
    TB_NO_MEMORY,       /* a term by itself, by a kernel that needs no memory beside the operands */
} tb_shortage;

/* The plan for that; on the host route where there is none. */
tb_plan tb_decide_again(const tb_product *product, const tb_facts *facts, tb_shortage shortage);

/* The plan that leaves the call to the host. */
tb_plan tb_plan_for_host(tb_reason reason, bool needs_device);

const char *tb_route_text(tb_route route);
const char *tb_reason_text(tb_reason reason);
const char *tb_memory_text(tb_memory memory);

/* What is said of a plan: little enough to be kept by each thread, as memory of threads' own is scarce for libraries that
 * are opened at run time. */
typedef struct tb_outline {
    tb_route route;
    tb_reason reason;
    const tb_kernel *kernel;
    bool pads_a, pads_b, folds, joins;
    int device, region_count;
    double host_seconds, device_seconds;
} tb_outline;

tb_outline tb_outline_of(const tb_plan *plan);

/* "streamed with tiled: faster on the device (forecast 1.2 ms, host 5.8 ms)"; returns what snprintf returns.
 */
int tb_print_outline(const tb_outline *outline, char *text, size_t size);
int tb_print_plan(const tb_plan *plan, char *text, size_t size);

/* The forecasts behind a decision, in seconds. */
double tb_host_seconds(const tb_product *product, const tb_machine *machine);

/* The product with operands in host memory, shared by the plan's regions: fills the plan's device_seconds and seconds_at_risk. */
void tb_forecast_streamed(const tb_product *product, const tb_facts *facts, tb_plan *plan);

/* Less than any streamed product of this size takes on the machine, or, while it is not ready, on a middling
 * device: quick to tell. */
double tb_streamed_seconds_least(const tb_product *product, const tb_facts *facts);

/* The time of the kernel itself, operands in place or still to be padded. Kernels are chosen by that of operands that suit them:
 * others take as long as with the next best kernel, and a little more to find that out. */
typedef struct tb_kernel_times {
    double all;
    double of_a;    /* what it is spared of that, where A is that of the product before */
    double at_risk; /* so much more, should operands not suit it, where it is not known that they do */
} tb_kernel_times;
tb_kernel_times tb_time_kernel(const tb_kernel *kernel, const tb_product *product, const tb_chip *chip);
double tb_kernel_seconds(const tb_kernel *kernel, const tb_product *product, const tb_chip *chip);

/* The same where columns of C are computed a swath after the other, as in a streamed product: each has its
 * launches; what the kernel makes of A is made slab by slab for the first ones, and once more for all others.
 */
double tb_kernel_seconds_by_swaths(const tb_kernel *kernel, const tb_product *product, const tb_chip *chip);

/* Writing out what is expanded of the product's operands on the device, where they lie there. */
double tb_expanding_seconds(const tb_product *product, const tb_product *lowered, const tb_chip *chip);

/* Folding (words/folded.h), by itself. */
double tb_folding_seconds(const tb_product *product, const tb_chip *chip);

/* The kernel's whole share of a resident product: of both terms, and with what is written out for it. */
double tb_resident_seconds(const tb_kernel *kernel, const tb_product *product, const tb_chip *chip);

/* The kernels of a resident plan, and what is folded. */
double tb_plan_seconds(const tb_plan *plan, const tb_product *product, const tb_chip *chip);

/* Whether the kernel can serve the product on this device. With pitched, A and B are, or will be, copied to
 * where every kernel wants them; otherwise their alignment counts, unless the kernel pads. */
bool tb_kernel_serves(const tb_kernel *kernel, const tb_product *product, const tb_chip *chip, bool pitched);

/* Why a kernel that serves it is not chosen for the product unless it is forced, whatever its forecast; NULL: it may
 * be. */
const char *tb_kernel_objection(const tb_kernel *kernel, const tb_product *product, tb_accuracy accuracy,
                                int architecture);

/* The chip as kernels' forecasts see it. */
static inline tb_target tb_target_of(const tb_chip *chip)
{
    return (tb_target){.architecture = chip->architecture,
                       .multiprocessors = chip->multiprocessors,
                       .clusters = chip->clusters,
                       .memory_bytes_a_clock = chip->memory_bytes_a_clock};
}

/* The device by which products are cut: as its description has it, with a link like most, the nearest power of two of a PCI
 * Express 5.0's with 16 lanes to what was measured. That differs a little from one process to the next, and products are to be
 * cut alike in all of them. measured may be NULL. */
tb_chip tb_nominal_chip(const tb_chip *presumed, const tb_chip *measured);

/* Likewise, bytes a second that so many threads copy for each of so many devices, both ways together. */
double tb_nominal_copy_rate(int threads, int devices);

/* NULL when the machine has no such device. */
static inline const tb_chip *tb_find_chip(const tb_machine *machine, int device)
{
    for (int i = 0; i < machine->chip_count; i++)
        if (machine->chips[i].device == device)
            return &machine->chips[i];
    return NULL;
}

/* Fills the plan's kernel and pads for its route and place: the forced kernel if there is one and
 * as_forced says to heed it, else the cheapest. False when it, or none, can serve. */
bool tb_choose_kernel(const tb_product *product, const tb_facts *facts, bool as_forced, tb_plan *plan);

/* Likewise, the fastest of those that need no memory beside the operands. */
bool tb_choose_without_memory(const tb_product *product, const tb_facts *facts, tb_plan *plan);

/* Fills the plan's regions and device_seconds. Whole operands in host memory are shared by the devices that make
 * the product fastest; the plan's start says when devices that are not open yet would help. Its kernel has been
 * chosen. */
void tb_choose_regions(const tb_product *product, const tb_facts *facts, bool as_forced, tb_plan *plan);

/* Cuts rows x columns of C into regions, one for each weight, their areas in proportion to the weights, so that
 * little of A and B has to go to more than one device: the longer side is cut first. Regions can be empty. */
void tb_split(int64_t rows, int64_t columns, const double *weights, int count, tb_region *regions);

#endif
