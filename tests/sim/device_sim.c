/* The table of operations of the simulated device: what each checks before it acts. device_sim.h says how it
 * is steered.
 */
#include "dispatch/schedule.h"
#include "kernels/launch.h"
#include "tests/clusters_h200.h"
#include "tests/sim/sim.h"

#include <dlfcn.h>
#include <string.h>

#define CLOCK_KHZ   1980000
#define MEMORY_RATE 4.8e12 /* bytes a second */

static atomic_bool opened, device_opened[SIM_MAX_DEVICES];

bool sim_is_open(int device)
{
    return atomic_load(&device_opened[device]);
}

static bool in_process(void)
{
    return atomic_load(&opened) || sim_handed_out();
}

/* Takes the dynamic linker's lock, as the CUDA device does when it loads the driver. */
static void load_driver(void)
{
    sigset_t signals;
    sim_hold_signals(&signals);
    dlopen(NULL, RTLD_LAZY);
    sim_let_signals(&signals);
}

static tb_status open_driver(int *device_count)
{
    if (atomic_exchange(&opened, true))
        sim_abort("opened twice");
    load_driver();
    const sim_settings *settings = sim_get_settings();
    TB_TRY(sim_attempt(SIM_NO_DEVICE, SIM_OPEN, NULL));
    *device_count = settings->devices;
    sim_assign_tables();
    return settings->devices > 0 ? TB_OK : TB_NO_DEVICE;
}

static tb_status describe(int device, tb_device_description *description)
{
    TB_TRY(sim_attempt(device, SIM_OPEN, NULL));
    *description = (tb_device_description){
        .name = "simulated",
        .architecture = sim_get_settings()->architecture,
        .multiprocessors = sim_get_settings()->multiprocessors,
        .clock_khz = CLOCK_KHZ,
        .memory_bytes_per_second = MEMORY_RATE,
        .memory_bytes = sim_get_settings()->memory_bytes,
        .driver_version = 13000,
    };
    const uint64_t host = sim_get_settings()->host;
    if (host) {
        memcpy(description->uuid, &host, sizeof host);
        description->uuid[sizeof host] = (unsigned char)device;
    }
    return TB_OK;
}

static const tb_clusters *clusters(int device)
{
    (void)device;
    return sim_get_settings()->multiprocessors == 132 ? &clusters_h200 : NULL;
}

static tb_status open_device(int device)
{
    if (atomic_exchange(&device_opened[device], true))
        sim_abort("device %d opened twice", device);
    const tb_status status = sim_attempt(device, SIM_OPEN, NULL);
    sim_sleep(sim_get_settings()->start_seconds);
    return status;
}

static bool reaches(int device, int other)
{
    if (!sim_is_open(device) || !sim_is_open(other))
        sim_abort("devices %d and %d are not both open", device, other);
    return sim_get_settings()->reach;
}

static atomic_bool enabled[SIM_MAX_DEVICES][SIM_MAX_DEVICES];

static tb_status enable_access(int device, int other)
{
    TB_TRY(sim_attempt(device, SIM_MEMORY, NULL));
    if (!reaches(device, other))
        return TB_UNSUPPORTED;
    atomic_store(&enabled[device][other], true);
    return TB_OK;
}

static tb_status memory(int device, size_t *free_bytes, size_t *total_bytes)
{
    TB_TRY(sim_attempt(device, SIM_MEMORY, NULL));
    *total_bytes = sim_get_settings()->memory_bytes;
    *free_bytes = sim_free_bytes(device);
    return TB_OK;
}

static tb_status allocate(int device, size_t bytes, void **memory)
{
    TB_TRY(sim_attempt(device, SIM_ALLOCATE, NULL));
    *memory = sim_map(TB_MEMORY_DEVICE, device, bytes, true);
    return *memory != NULL ? TB_OK : TB_OUT_OF_MEMORY;
}

static void release(int device, void *memory)
{
    (void)device;
    sim_unmap(memory);
}

static tb_status allocate_pinned(size_t bytes, void **memory)
{
    TB_TRY(sim_attempt(SIM_NO_DEVICE, SIM_PINNED, NULL));
    *memory = sim_map(TB_MEMORY_PINNED, 0, bytes, true);
    return TB_OK;
}

static void release_pinned(void *memory, size_t bytes)
{
    (void)bytes;
    sim_unmap(memory);
}

/* One side of a copy as the device reaches it; pageable host memory is reached as it is, by a device that takes it. */
static void *reach_side(const void *address, size_t pitch, const tb_copy *copy, bool on_host, int device)
{
    if (copy->rows > 1 && pitch < copy->row_bytes)
        sim_abort("copy with a pitch of %zu for rows of %zu bytes", pitch, copy->row_bytes);
    tb_place place;
    sim_locate(address, &place, NULL);
    if (on_host && place.memory == TB_MEMORY_DEVICE)
        sim_abort("copy takes %p, device memory, for host memory", address);
    if (on_host && place.memory == TB_MEMORY_HOST && device != SIM_NO_DEVICE &&
        !sim_get_settings()->pageable[device])
        sim_abort("device %d is to copy ordinary memory at %p", device, address);
    if (on_host && place.memory == TB_MEMORY_HOST)
        return (void *)(uintptr_t)address;
    return sim_reach(address, (copy->rows - 1) * pitch + copy->row_bytes, device, "an operand of a copy");
}

/* The device whose memory it is, of another one's copy; SIM_NO_DEVICE: it is the copying device's own. */
static int find_crossing(const tb_copy *copy, int device)
{
    tb_place place;
    sim_locate(copy->source, &place, NULL);
    const bool crosses =
        copy->direction == TB_DEVICE_TO_DEVICE && place.memory == TB_MEMORY_DEVICE && place.device != device;
    if (crosses && !atomic_load(&enabled[device][place.device]))
        sim_abort("device %d has no access to device %d", device, place.device);
    return crosses ? place.device : SIM_NO_DEVICE;
}

static atomic_long crossings;

long sim_crossings(void)
{
    return atomic_load(&crossings);
}

/* Posts a command whose addresses are the device's own. */
static void post(tb_stream *stream, const tb_command *command, bool fault)
{
    sim_post(
        sim_stream_queue(stream),
        &(sim_work){.kind = SIM_WORK_COMMAND, .command = *command, .from = SIM_NO_DEVICE, .fault = fault});
}

static tb_status copy(tb_stream *stream, tb_command *command)
{
    tb_copy *copy = &command->copy;
    const int device = sim_queue_device(sim_stream_queue(stream));
    bool fault = false;
    TB_TRY(sim_attempt(device, SIM_COPY, &fault));
    if (copy->rows == 0 || copy->row_bytes == 0)
        return TB_OK;
    const int from = find_crossing(copy, device);
    copy->target =
        reach_side(copy->target, copy->target_pitch, copy, copy->direction == TB_DEVICE_TO_HOST, device);
    copy->source = reach_side(copy->source, copy->source_pitch, copy, copy->direction == TB_HOST_TO_DEVICE,
                              from == SIM_NO_DEVICE ? device : from);
    atomic_fetch_add(&crossings, from != SIM_NO_DEVICE);
    sim_post(sim_stream_queue(stream),
             &(sim_work){.kind = SIM_WORK_COMMAND, .command = *command, .from = from, .fault = fault});
    return TB_OK;
}

static tb_target target_of_sim(void)
{
    tb_target target = {.architecture = sim_get_settings()->architecture,
                        .multiprocessors = sim_get_settings()->multiprocessors,
                        .clusters = clusters(0)};
    target.memory_bytes_a_clock = tb_memory_bytes_a_clock(target, 1e3 * CLOCK_KHZ, MEMORY_RATE);
    return target;
}

void sim_reach_matrix(tb_matrix *operand, int device, const char *what)
{
    const int64_t elements = (operand->columns - 1) * operand->ld + operand->rows;
    if (operand->columns == 0) /* of a product in C's place */
        return;
    operand->data = sim_reach(operand->data, (size_t)elements * tb_bytes_of(operand->element), device, what);
}

void sim_reach_expansion(tb_expansion *expansion, int device)
{
    sim_reach_matrix(&expansion->source.matrix, device, "what is expanded");
    sim_reach_matrix(&expansion->target, device, "where it is expanded to");
}

/* A table lies where the device reads it, which is seen when it is read. */
static void expect_no_lists(const tb_batch *batch)
{
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        if (batch->members[role].starts && !batch->members[role].uneven)
            sim_abort("a command has a list of matrices in the program's memory");
}

static tb_status expand(tb_stream *stream, tb_command *command)
{
    tb_expansion *expansion = &command->expansion;
    const int device = sim_queue_device(sim_stream_queue(stream));
    bool fault = false;
    TB_TRY(sim_attempt(device, SIM_LAUNCH, &fault));
    expect_no_lists(&expansion->batch);
    const tb_operand *source = &expansion->source;
    const tb_matrix *target = &expansion->target;
    const bool turned = source->transposed, complex = tb_is_complex(source->element);
    const int64_t rows = (turned ? source->columns : source->rows) * (complex ? 2 : 1),
                  columns = (turned ? source->rows : source->columns) * (expansion->embedded ? 2 : 1);
    if (target->rows != rows || target->columns != columns || target->element != tb_real_of(source->element))
        sim_abort("expanding %lld x %lld into %lld x %lld", (long long)source->rows,
                  (long long)source->columns, (long long)target->rows, (long long)target->columns);
    if (rows == 0 || columns == 0)
        return TB_OK;
    if (tb_count_of(&expansion->batch) == 1)
        sim_reach_expansion(expansion, device);
    post(stream, command, fault);
    return TB_OK;
}

static atomic_long foldings;

long sim_foldings(void)
{
    return atomic_load(&foldings);
}

static tb_status fold(tb_stream *stream, tb_command *command)
{
    tb_folding *folding = &command->folding;
    const int device = sim_queue_device(sim_stream_queue(stream));
    bool fault = false;
    TB_TRY(sim_attempt(device, SIM_LAUNCH, &fault));
    const tb_matrix *sums = &folding->sums, *c = &folding->c.matrix;
    if (sums->rows != c->rows || sums->columns != c->columns || c->rows != c->columns ||
        sums->element != c->element || folding->mask == TB_FULL)
        sim_abort("folding %lld x %lld into %lld x %lld", (long long)sums->rows, (long long)sums->columns,
                  (long long)c->rows, (long long)c->columns);
    sim_reach_matrix(&folding->sums, device, "what is folded");
    sim_reach_matrix(&folding->c.matrix, device, "where it is folded to");
    post(stream, command, fault);
    atomic_fetch_add(&foldings, 1);
    return TB_OK;
}

void sim_reach_product(tb_product *product, int device)
{
    sim_reach_matrix(&product->c.matrix, device, "C");
    if (product->k == 0)
        return;
    sim_reach_matrix(&product->a.matrix, device, "A");
    sim_reach_matrix(&product->b.matrix, device, "B");
}

static bool is_same_a(const tb_launch *last, const tb_launch *now)
{
    const tb_product *x = &last->product, *y = &now->product;
    return last->row == now->row && last->workspace == now->workspace && x->a.data == y->a.data &&
           x->a.ld == y->a.ld && x->m == y->m && x->k == y->k && x->a.transposed == y->a.transposed;
}

static tb_status launch(tb_stream *stream, tb_command *command)
{
    tb_launch *launch = &command->launch;
    const tb_kernel *kernel = tb_kernel_of(launch, sim_get_settings()->architecture);
    tb_product *p = &launch->product;
    if (!kernel && !sim_get_settings()->refuse)
        sim_abort("a launch that row %u cannot do", (unsigned)launch->row);
    if (!kernel)
        return TB_UNSUPPORTED;
    expect_no_lists(&p->batch);
    if (launch->same_a && !is_same_a(sim_stream_launch(stream), launch))
        sim_abort("launched again with another A, kernel or workspace");
    *sim_stream_launch(stream) = *launch;
    int device = sim_queue_device(sim_stream_queue(stream));
    bool fault = false;
    const tb_status status = sim_attempt(device, SIM_LAUNCH, &fault);
    if (status != TB_OK && !fault)
        return status;
    if (p->m == 0 || p->n == 0)
        return TB_OK;

    const size_t bytes = launch->schedule.workspace;
    if (bytes < tb_make_schedule(kernel, p, target_of_sim()).workspace)
        sim_abort("launched with the schedule of another product");
    /* Of a Hermitian C a kernel for complex numbers as they lie knows nothing. */
    if (kernel->reads == TB_READS_COMPLEX && !tb_kernel_joins(kernel, p))
        p->c.structure = TB_GENERAL;
    if (!tb_is_batch(p))
        sim_reach_product(p, device);
    if (bytes > 0)
        memset(sim_reach(launch->workspace, bytes, device, "the workspace"), 0xfa, bytes);
    if (status != TB_OK && tb_is_batch(p))
        p->batch.count /= 2;
    else if (status != TB_OK)
        p->n /= 2;
    post(stream, command, fault && status == TB_OK);
    return status;
}

static tb_status copy_masked(tb_stream *stream, tb_command *command)
{
    tb_masked_copy *copy = &command->masked;
    const int device = sim_queue_device(sim_stream_queue(stream));
    bool fault = false;
    TB_TRY(sim_attempt(device, SIM_LAUNCH, &fault));
    if (!tb_is_masked_copy(copy))
        return TB_UNSUPPORTED;
    if (copy->source.rows == 0 || copy->source.columns == 0)
        return TB_OK;
    sim_reach_matrix(&copy->source, device, "what is copied");
    sim_reach_matrix(&copy->target, device, "where it is copied to");
    post(stream, command, fault);
    return TB_OK;
}

static tb_status panel(tb_stream *stream, tb_command *command)
{
    const int device = sim_queue_device(sim_stream_queue(stream));
    bool fault = false;
    TB_TRY(sim_attempt(device, SIM_LAUNCH, &fault));
    TB_TRY(sim_reach_panel(&command->panel, device, target_of_sim()));
    post(stream, command, fault);
    return TB_OK;
}

static tb_status exchange(tb_stream *stream, tb_command *command)
{
    const int device = sim_queue_device(sim_stream_queue(stream));
    bool fault = false;
    TB_TRY(sim_attempt(device, SIM_LAUNCH, &fault));
    TB_TRY(sim_reach_exchange(&command->exchange, device));
    post(stream, command, fault);
    return TB_OK;
}

/* Nothing of the caller's command is looked at later on. */
static tb_status enqueue(tb_stream *stream, const tb_command *command)
{
    tb_command inside = *command;
    switch (command->kind) {
    case TB_COMMAND_COPY:
        return copy(stream, &inside);
    case TB_COMMAND_COPY_MASKED:
        return copy_masked(stream, &inside);
    case TB_COMMAND_EXPAND:
        return expand(stream, &inside);
    case TB_COMMAND_FOLD:
        return fold(stream, &inside);
    case TB_COMMAND_LAUNCH:
        return launch(stream, &inside);
    case TB_COMMAND_PANEL:
        return panel(stream, &inside);
    case TB_COMMAND_EXCHANGE:
        return exchange(stream, &inside);
    }
    return TB_UNSUPPORTED;
}

const tb_device_operations sim_operations_inside = {
    .describe = describe,
    .open_device = open_device,
    .clusters = clusters,
    .reaches = reaches,
    .enable_access = enable_access,
    .memory = memory,
    .allocate = allocate,
    .release = release,
    .create_stream = sim_stream_create,
    .adopt_stream = sim_stream_adopt,
    .destroy_stream = sim_stream_destroy,
    .synchronize = sim_stream_synchronize,
    .create_event = sim_event_create,
    .destroy_event = sim_event_destroy,
    .record = sim_event_record,
    .stream_wait = sim_stream_wait,
    .event_wait = sim_event_wait,
    .event_passed = sim_event_passed,
    .tell = sim_stream_tell,
    .enqueue = enqueue,
};

const tb_platform_operations sim_platform_inside = {
    .in_process = in_process,
    .locate = sim_locate,
    .allocate_pinned = allocate_pinned,
    .release_pinned = release_pinned,
    .open = open_driver,
};

void *sim_allocate(tb_memory memory, int device, size_t bytes)
{
    return sim_map(memory, device, bytes, false);
}

void sim_release(void *memory)
{
    sim_unmap(memory);
}

void sim_copy(void *target, const void *source, size_t bytes)
{
    tb_copy whole = {.row_bytes = bytes, .rows = 1};
    tb_place from, to;
    sim_locate(source, &from, NULL);
    sim_locate(target, &to, NULL);
    if (bytes > 0)
        memcpy(reach_side(target, 0, &whole, to.memory != TB_MEMORY_DEVICE, SIM_NO_DEVICE),
               reach_side(source, 0, &whole, from.memory != TB_MEMORY_DEVICE, SIM_NO_DEVICE), bytes);
}

sim_usage sim_get_usage(void)
{
    sim_usage usage = {0};
    sim_count_memory(&usage);
    sim_count_streams(&usage);
    return usage;
}
