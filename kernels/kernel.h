/* Kernels as the layers above see them: a row of the catalog holds all that they know of one, and a launcher is all that
 * its launch function may ask of the device. Plain C, no CUDA header. Families of kernels include this; the rows
 * themselves are in catalog.c.
 */
#ifndef TB_KERNEL_H
#define TB_KERNEL_H

#include "words/product.h"
#include "words/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Device code of one source file, every architecture in one fat binary. */
typedef struct tb_module {
    const char *name;       /* the file's, without its ending */
    _Atomic(void *) handle; /* kept by the device interface once it has been loaded */
} tb_module;

/* One __global__ function. The device interface keeps its handle here once it has been loaded. */
typedef struct tb_entry {
    tb_module *module;
    const char *symbol;
    int dynamic_shared_bytes;   /* the most that a launch asks for */
    _Atomic(void *) handle;     /* likewise */
    _Atomic(uint64_t) prepared; /* bit by bit, the devices that can launch it */
    bool early; /* it waits itself for the launch before it, and so may start before that is over */
} tb_entry;

/* A cluster that every device with clusters runs; blocks that share a multiprocessor beside which clusters are counted. */
#define TB_CLUSTER_BLOCKS_MAXIMUM 8
#define TB_CLUSTER_LEVELS         3
#define TB_WIDE_CLUSTER_BLOCKS    16 /* a cluster that some devices run */

/* How many clusters of so many blocks run at a time where each multiprocessor has room for 1, 2 or 3 of their blocks. Groups
 * of multiprocessors differ in size from one device to the next, so that only the driver knows. */
typedef struct tb_clusters {
    int16_t at_a_time[TB_CLUSTER_LEVELS][TB_CLUSTER_BLOCKS_MAXIMUM + 1];
    int16_t wide_at_a_time; /* of wide ones, where a multiprocessor has room for one block; 0: it runs none */
} tb_clusters;

/* What forecasts and schedules depend on. */
typedef struct tb_target {
    int architecture; /* 90 for compute capability 9.0 */
    int multiprocessors;
    const tb_clusters *clusters; /* NULL: not known */
    /* What a data sheet's memory rate is for each multiprocessor and clock, of 128 multiply-adds; 0 is an H200's. Not
     * measured, so that a product is cut alike in every process. */
    double memory_bytes_a_clock;
} tb_target;

typedef struct tb_launcher tb_launcher;
struct tb_launcher {
    tb_target target;
    /* A, its rows and k are those of the launch before with this workspace: what that made of A is still there. */
    bool same_a;
    /* Lies in device memory: where it is not 0 when the kernels run, they do nothing. NULL: they are to run. dgemm_mma and
     * dgemm_naive look at it. */
    const int32_t *unless;
    /* Sees to it that the entry's code is on the device, so that a launch later on does not fail for lack of memory. */
    tb_status (*load)(const tb_launcher *launcher, tb_entry *entry);
    /* Starts blocks x 1 x 1 blocks; the kernel takes a single argument, by value. */
    tb_status (*launch)(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                        int shared_bytes, const void *argument);
    /* The same in clusters of so many neighbouring blocks, on 9.0 and later. */
    tb_status (*launch_clusters)(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int cluster,
                                 int threads, int shared_bytes, const void *argument);
    /* The same of blocks that wait for each other: all of them run at a time, or nothing does. */
    tb_status (*launch_together)(const tb_launcher *launcher, tb_entry *entry, int64_t blocks, int threads,
                                 int shared_bytes, const void *argument);
};

/* What a kernel promises of its results, the strictest first. */
typedef enum tb_accuracy {
    TB_ACCURACY_IEEE, /* fused multiply-adds of the element's precision and nothing else */
    TB_ACCURACY_FP32, /* no less accurate than those, by the tests of docs/precision.md; of FP64 elements too */
    TB_ACCURACY_FAST, /* less accurate: docs/precision.md says by how much */
} tb_accuracy;

/* The operands that a kernel multiplies as they lie, and so the products that it serves. */
typedef enum tb_reads {
    TB_READS_PLAIN,      /* those of plain products (words/lowered.h); others are lowered to these */
    TB_READS_STRUCTURED, /* any; chosen for all others, and of plain products for batches alone */
    TB_READS_COMPLEX,    /* general complex ones, where alpha and beta are real, a term at a time */
} tb_reads;

/* Algorithms that a row of the catalog may stand for, whose steps other rows compute (sequences/). */
typedef enum tb_sequence {
    TB_NO_SEQUENCE,
    TB_SOLVE,          /* a triangular solve by halves */
    TB_TRIANGLE_TIMES, /* a triangular product as plain ones */
} tb_sequence;

/* How a kernel would compute a product: what that is forecast to take, what it needs, and how it is dealt to blocks. */
#define TB_DEAL_BYTES 256
typedef struct tb_schedule {
    /* What all launches take together, once they run; 0 where the kernel has no forecast of its own. */
    double clocks;
    /* How many of these a launch is spared that finds what the one before it made of the same A. */
    double clocks_of_a;
    /* How many more it takes if operands do not suit the kernel, where it is not known that they do. */
    double clocks_at_risk;
    size_t workspace; /* bytes of device memory that the launch needs beside the operands */
    _Alignas(8) unsigned char deal[TB_DEAL_BYTES]; /* the family's own */
} tb_schedule;

/* Lets a schedule hold a family's deal, and finds it there. */
#define TB_SET_DEAL(schedule, type, value)                                                                   \
    do {                                                                                                     \
        _Static_assert(sizeof(type) <= TB_DEAL_BYTES, "a schedule has room for it");                         \
        memcpy((schedule)->deal, &(value), sizeof(type));                                                    \
    } while (0)
#define TB_DEAL(schedule, type) ((const type *)(const void *)(schedule)->deal)

typedef struct tb_kernel tb_kernel;
struct tb_kernel {
    const char *name;
    int architecture;     /* oldest that runs it */
    int architecture_end; /* first that does not, 0 when there is none */
    bool major_only;      /* between the two it runs on x.0 alone, whose shared memory is the largest */
    int chosen_end;       /* first that it runs on when forced, but gains nothing; 0 when there is none */
    int tile_m, tile_n, tile_k; /* of C and k that a block covers at a time */
    int threads;
    int shared_bytes; /* dynamic shared memory of a block */
    tb_element element;
    int alignment;     /* in reals: A, B and their leading dimensions must be multiples of it */
    double efficiency; /* share of its element's FMA peak that full tiles reach, above 1 on tensor cores; by
                          bench/kernels on an H200 */
    double a_along_k_share,
        b_along_k_share; /* shares of it that aligned operands along k cost, or gain if negative */
    /* How many times as long as forecast a product takes that is not one of a batch; of the SIMT family. */
    double by_itself;
    int segment_k;     /* steps of k that are read in one piece of an operand along k */
    int blocks;        /* that fit a multiprocessor at a time */
    bool shares_tiles; /* of dgemm_mma, from 9.0 on: blocks of a cluster can have the parts of a tile */
    /* Totals of chains are kept in C, so that k is one chain where C is to be added; of dgemm_mma. */
    bool chains_in_c;
    int chain_roots;    /* a long k is summed in chains of about so many of its square roots; of dgemm_mma */
    int blocks_along_k; /* where A and B are aligned and both along k; of the SIMT family */
    bool pads;          /* operands that miss the alignment are copied into pitched memory first */
    bool masks;         /* serves products whose C has a mask */
    bool batches;       /* serves batches (words/batch.h) */
    bool joins;         /* computes two terms in one launch, where k is short and operands lie alike */
    tb_reads reads;     /* operands that it multiplies as they lie */
    tb_in_place in_place; /* serves products of this kind, and no others */
    bool forced_only;     /* never chosen, only forced: the ladder, and what has not been measured */
    int64_t k_limit;      /* largest k served, 0 when there is none */
    tb_accuracy accuracy;
    /* The least that m, n and k are; below it the kernel is served to those who force it, but never chosen. */
    int64_t least_extent;
    int64_t short_side;     /* chosen only where m or n is at most this, 0 when it does not matter */
    int64_t least_elements; /* chosen only where A or B has at least so many elements */
    const char *summary;    /* for people: the idea in a few words */
    tb_sequence sequence;   /* then it has no schedule and no launch of its own */
    tb_entry *entries; /* by transposition: NN, NT, TN, TT; what follows is the launch function's, as all are
                          where one entry serves every transposition */
    const tb_kernel
        *others; /* the catalog, up to a row without a name: where it hands products on to another row */
    /* Decides how the product is dealt to blocks; NULL: whole tiles, at the row's efficiency. */
    void (*prepare)(const tb_kernel *kernel, const tb_product *product, tb_target target,
                    tb_schedule *schedule);
    /* Launches what has been prepared for this very product on this target. */
    tb_status (*launch)(const tb_launcher *launcher, const tb_kernel *kernel, const tb_product *product,
                        const tb_schedule *schedule, void *workspace);
};

/* Declares what a family's rows have as prepare and launch. */
#define TB_DECLARE_CALLBACKS(family)                                                                         \
    void tb_##family##_prepare(const tb_kernel *kernel, const tb_product *product, tb_target target,         \
                               tb_schedule *schedule);                                                       \
    tb_status tb_launch_##family(const tb_launcher *launcher, const tb_kernel *kernel,                       \
                                 const tb_product *product, const tb_schedule *schedule, void *workspace)

/* Whether the kernel's alignment demand holds for an operand: its address, its leading dimension and, of a batch, the
 * distances. */
bool tb_kernel_takes(const tb_kernel *kernel, const tb_product *product, tb_role role);

/* Whether it computes such products: of this element, in this place, with operands of these kinds and C's mask, and so many at a
 * time. Where operands lie is not looked at, and whether another row would be better. */
bool tb_kernel_computes(const tb_kernel *kernel, const tb_product *product);

/* Whether devices of this compute capability run the kernel; whether it may be chosen for them, unforced. */
bool tb_kernel_runs_on(const tb_kernel *kernel, int architecture);
bool tb_kernel_is_free_on(const tb_kernel *kernel, int architecture);

/* Whether it may be chosen for a product of this shape. */
bool tb_kernel_suits(const tb_kernel *kernel, const tb_product *product);

/* Whether it computes both terms of the product at once, which it is given as it is: its operands are the first one's. */
bool tb_kernel_joins(const tb_kernel *kernel, const tb_product *product);

/* Whether its schedules tell clocks. */
static inline bool tb_has_forecast(const tb_kernel *kernel)
{
    return kernel->prepare || kernel->sequence != TB_NO_SEQUENCE;
}

/* How the kernel, which is no sequence, would compute the product on such a device. */
tb_schedule tb_prepare(const tb_kernel *kernel, const tb_product *product, tb_target target);

/* NN 0, NT 1, TN 2, TT 3: the index into tb_kernel.entries. */
int tb_transposition(const tb_product *product);

/* Small kernels beside rows of the catalog: they add up what the pieces of tiles left in the workspace. */
extern tb_entry tb_entry_simt_reduce, tb_entry_skinny_reduce[TB_ELEMENTS];

/* Those that write operands out (kernels/expand), by the source's element; the second one of two writes 16 bytes at a time. */
extern tb_entry tb_entries_expand[TB_ELEMENTS][2];
/* The same of a batch's matrices, of complex elements alone. */
extern tb_entry tb_entries_expand_batch[TB_ELEMENTS][2];

/* Those that fold (kernels/fold). */
extern tb_entry tb_entries_fold[TB_ELEMENTS];

/* Those that make masked copies (kernels/masked), by the element of real numbers. */
extern tb_entry tb_entries_masked_copy[TB_REAL_ELEMENTS];

#endif
