/* What lib/device/device.h promises, held against the device that this program is linked with: the simulated one
 * here, a real one in tests/gpu. A runtime that is right on one is then right on the other.
 */
#include "lib/device/copies.h"
#include "lib/device/platform.h"
#include "tests/check.h"
#include "tests/oracle.h"
#include "tests/target.h"

#include <string.h>

#define FLOATS ((size_t)1 << 16)

/* A size of pinned memory that devices may have in another way than a little of it. */
#define LARGE_PAGES ((size_t)8 << 20)

static void must(tb_status status, const char *step)
{
    if (!CHECK(status == TB_OK, "%s: status %d", step, status))
        exit(check_result());
}
#define MUST(step) must((step), #step)

static tb_copy flat(tb_direction direction, void *target, const void *source, size_t bytes)
{
    return (tb_copy){
        .direction = direction, .target = target, .source = source, .row_bytes = bytes, .rows = 1};
}

static void an_address_is_located_wherever_it_points(size_t bytes)
{
    float *device, *pinned, host[4];
    tb_place place;
    MUST(tb_allocate(0, FLOATS * sizeof(float), (void **)&device));
    CHECK((uintptr_t)device % 16 == 0, "memory at %p is not aligned", (void *)device);
    MUST(tb_platform.allocate_pinned(bytes, (void **)&pinned));

    tb_platform.locate(device + FLOATS - 1, &place, NULL);
    CHECK(place.memory == TB_MEMORY_DEVICE && place.device == 0, "device memory is %d", place.memory);
    tb_platform.locate(pinned + 1, &place, NULL);
    CHECK(place.memory == TB_MEMORY_PINNED, "pinned memory is %d", place.memory);
    tb_platform.locate(pinned + bytes / sizeof(float) - 1, &place, NULL);
    CHECK(place.memory == TB_MEMORY_PINNED, "the end of %zu bytes of pinned memory is %d", bytes,
          place.memory);
    tb_platform.locate(host, &place, NULL);
    CHECK(place.memory == TB_MEMORY_HOST, "a local variable is %d", place.memory);
    tb_platform.locate(NULL, &place, NULL);
    CHECK(place.memory == TB_MEMORY_HOST, "NULL is %d", place.memory);

    tb_release(0, device);
    tb_platform.release_pinned(pinned, bytes);
    tb_platform.locate(pinned, &place, NULL);
    CHECK(place.memory == TB_MEMORY_HOST, "released pinned memory is %d", place.memory);
    tb_platform.locate(device, &place, NULL);
    CHECK(place.memory == TB_MEMORY_HOST, "released memory is %d", place.memory);
}

static void more_memory_than_there_is_is_refused(void)
{
    void *memory;
    size_t available, total;
    MUST(tb_device_at(0)->memory(0, &available, &total));
    CHECK(available <= total, "%zu bytes of %zu are free", available, total);
    tb_status status = tb_allocate(0, total + 1, &memory);
    CHECK(status == TB_OUT_OF_MEMORY, "status %d", status);
}

/* Columns of so many floats, two further ones apart on the host and in whole lines on the device, there and back, from ordinary
 * memory to ordinary memory: by whatever way the device has for that. */
static void copies_are_two_dimensional(size_t rows, size_t columns)
{
    const size_t ld = rows + 2, pitch = (rows * sizeof(float) + 511) / 512 * 512;
    float *source = malloc(ld * columns * sizeof(float)), *target = malloc(ld * columns * sizeof(float));
    void *memory;
    tb_stream *stream;
    for (size_t i = 0; i < ld * columns; i++) {
        source[i] = (float)(i % 9973);
        target[i] = -1;
    }
    MUST(tb_allocate(0, columns * pitch, &memory));
    MUST(tb_create_stream(0, &stream));
    const size_t bytes = rows * sizeof(float), apart = ld * sizeof(float);
    const tb_copy there = {TB_HOST_TO_DEVICE, memory, pitch, source, apart, bytes, columns},
                  back = {TB_DEVICE_TO_HOST, target, apart, memory, pitch, bytes, columns};
    MUST(tb_issue_copy(stream, &there));
    MUST(tb_issue_copy(stream, &back));
    MUST(tb_synchronize(stream));
    size_t wrong = 0;
    for (size_t i = 0; i < ld * columns; i++)
        wrong += target[i] != (i % ld < rows ? source[i] : -1);
    CHECK(wrong == 0, "%zu x %zu: %zu floats are others", rows, columns, wrong);
    tb_destroy_stream(stream);
    tb_release(0, memory);
    free(source);
    free(target);
}

/* A value goes through two streams, back and forth, many times; only events keep the order. */
static void events_order_streams(void)
{
    enum { ROUNDS = 50 };
    tb_stream *streams[2];
    tb_event *events[2];
    float *here, *there, *first, *last;
    _Atomic(uint32_t) *told;
    const size_t bytes = FLOATS * sizeof(float);
    MUST(tb_allocate(0, bytes, (void **)&here));
    MUST(tb_allocate(0, bytes, (void **)&there));
    MUST(tb_platform.allocate_pinned(bytes * ROUNDS, (void **)&first));
    MUST(tb_platform.allocate_pinned(bytes, (void **)&last));
    MUST(tb_platform.allocate_pinned(sizeof *told, (void **)&told));
    atomic_store(told, 0);
    for (int i = 0; i < 2; i++) {
        MUST(tb_create_stream(0, &streams[i]));
        MUST(tb_create_event(0, &events[i]));
    }
    MUST(tb_event_wait(events[1])); /* never recorded: nothing to wait for */
    CHECK(tb_event_passed(events[1]), "an event that was never recorded has not passed");

    for (size_t i = 0; i < FLOATS * ROUNDS; i++)
        first[i] = (float)(i / FLOATS);
    for (size_t round = 0; round < ROUNDS; round++) {
        tb_copy in = flat(TB_HOST_TO_DEVICE, here, first + round * FLOATS, bytes);
        tb_copy across = flat(TB_DEVICE_TO_DEVICE, there, here, bytes);
        MUST(tb_stream_wait(streams[0], events[1]));
        MUST(tb_enqueue_copy(streams[0], &in));
        MUST(tb_record(events[0], streams[0]));
        MUST(tb_stream_wait(streams[1], events[0]));
        MUST(tb_enqueue_copy(streams[1], &across));
        MUST(tb_tell(streams[1], told, (uint32_t)round + 1));
        MUST(tb_record(events[1], streams[1]));
    }
    tb_copy out = flat(TB_DEVICE_TO_HOST, last, there, bytes);
    MUST(tb_stream_wait(streams[0], events[1]));
    MUST(tb_enqueue_copy(streams[0], &out));
    MUST(tb_record(events[0], streams[0]));
    MUST(tb_event_wait(events[0]));
    CHECK(tb_event_passed(events[0]), "an event that was waited for has not passed");
    CHECK(atomic_load(told) == ROUNDS, "the word says %u", atomic_load(told));
    CHECK(last[0] == ROUNDS - 1 && last[FLOATS - 1] == ROUNDS - 1, "the last value is %g", (double)last[0]);

    for (int i = 0; i < 2; i++) {
        tb_destroy_stream(streams[i]);
        tb_destroy_event(events[i]);
    }
    tb_release(0, here);
    tb_release(0, there);
    tb_platform.release_pinned(first, bytes * ROUNDS);
    tb_platform.release_pinned(last, bytes);
    tb_platform.release_pinned((void *)told, sizeof *told);
}

/* Columns that lie apart come from the other device's memory when its stream has put them there, many times; only events keep the
 * order. */
static void a_device_copies_from_another(int devices)
{
    enum { ROUNDS = 50, COLUMNS = 64, ROWS = 900, THERE = 1024, HERE = 960 };
    tb_stream *streams[2];
    tb_event *events[2];
    float *memory[2], *first, *last;
    if (devices < 2)
        return;
    MUST(tb_device_at(1)->open_device(1));
    if (!tb_reaches(0, 1)) {
        puts("device 0 does not reach device 1");
        return;
    }
    MUST(tb_enable_access(0, 1));
    MUST(tb_enable_access(0, 1));
    MUST(tb_platform.allocate_pinned(FLOATS * sizeof(float) * ROUNDS, (void **)&first));
    MUST(tb_platform.allocate_pinned(FLOATS * sizeof(float), (void **)&last));
    for (int i = 0; i < 2; i++) {
        MUST(tb_allocate(i, FLOATS * sizeof(float), (void **)&memory[i]));
        MUST(tb_create_stream(i, &streams[i]));
        MUST(tb_create_event(i, &events[i]));
    }
    for (size_t i = 0; i < FLOATS * ROUNDS; i++)
        first[i] = (float)(i % FLOATS + i / FLOATS);
    for (size_t round = 0; round < ROUNDS; round++) {
        const tb_copy in = flat(TB_HOST_TO_DEVICE, memory[1], first + round * FLOATS, FLOATS * sizeof(float));
        const tb_copy across = {.direction = TB_DEVICE_TO_DEVICE,
                                .target = memory[0],
                                .target_pitch = HERE * sizeof(float),
                                .source = memory[1],
                                .source_pitch = THERE * sizeof(float),
                                .row_bytes = ROWS * sizeof(float),
                                .rows = COLUMNS};
        MUST(tb_stream_wait(streams[1], events[0]));
        MUST(tb_enqueue_copy(streams[1], &in));
        MUST(tb_record(events[1], streams[1]));
        MUST(tb_stream_wait(streams[0], events[1]));
        MUST(tb_enqueue_copy(streams[0], &across));
        MUST(tb_record(events[0], streams[0]));
    }
    const tb_copy out = flat(TB_DEVICE_TO_HOST, last, memory[0], HERE * COLUMNS * sizeof(float));
    MUST(tb_enqueue_copy(streams[0], &out));
    MUST(tb_synchronize(streams[0]));
    MUST(tb_event_wait(events[1]));
    for (int i = 0; i < HERE * COLUMNS; i++)
        CHECK(i % HERE >= ROWS || last[i] == (float)(i / HERE * THERE + i % HERE + ROUNDS - 1),
              "row %d of column %d is %g", i % HERE, i / HERE, (double)last[i]);
    for (int i = 0; i < 2; i++) {
        tb_release(i, memory[i]);
        tb_destroy_stream(streams[i]);
        tb_destroy_event(events[i]);
    }
    tb_platform.release_pinned(first, FLOATS * sizeof(float) * ROUNDS);
    tb_platform.release_pinned(last, FLOATS * sizeof(float));
}

enum { SIZE = 12, COUNT = SIZE * SIZE };

static void set_ones(tb_element element, void *memory, int count)
{
    const int parts = tb_is_complex(element) ? 2 : 1;
    for (int i = 0; i < parts * count; i++)
        if (tb_real_of(element) == TB_FP64)
            ((double *)memory)[i] = i % parts == 0;
        else
            ((float *)memory)[i] = i % parts == 0;
}

/* A product of ones, in memory that host and device both reach; A is symmetric for kernels that read any as it lies. */
static tb_product product_of_ones(const tb_kernel *kernel, void *memory)
{
    const tb_operand ones = {
        .data = memory, .rows = 3 * COUNT, .columns = 1, .ld = 3 * COUNT, .element = kernel->element};
    set_ones(kernel->element, memory, 2 * COUNT);
    tb_product product =
        tb_gemm(tb_gemm_routine(kernel->element), false, false, SIZE, SIZE, SIZE, 2, memory, SIZE,
                tb_at(&ones.matrix, COUNT, 0), SIZE, 0, tb_at(&ones.matrix, 2 * COUNT, 0), SIZE);
    if (kernel->in_place != TB_OUT_OF_PLACE)
        return tb_triangular(kernel->in_place, kernel->element, true, TB_LOWER, false, false, false, SIZE,
                             SIZE, (tb_scalar){2, 0}, memory, SIZE, product.c.data, SIZE);
    if (kernel->reads == TB_READS_STRUCTURED) {
        product.a.structure = TB_SYMMETRIC;
        product.a.stored = TB_LOWER;
    }
    return product;
}

/* Fills C: with NaN, which with beta 0 nobody may read; or with what a lower triangle of ones makes 2 * SIZE of, with an alpha of
 * 2. */
static void fill_c(const tb_kernel *kernel, const tb_product *product)
{
    memset(product->c.data, 0xff, tb_matrix_bytes(&product->c.matrix));
    if (kernel->in_place == TB_OUT_OF_PLACE)
        return;
    set_ones(kernel->element, product->c.data, COUNT);
    for (int64_t i = 0; i < COUNT && kernel->in_place == TB_SOLVES; i++) {
        void *at = tb_at(&product->c.matrix, i, 0);
        if (tb_real_of(kernel->element) == TB_FP64)
            *(double *)at *= (double)(SIZE * (i % SIZE + 1));
        else
            *(float *)at *= (float)(SIZE * (i % SIZE + 1));
    }
}

static void kernels_multiply_or_refuse(void)
{
    void *memory;
    tb_stream *stream;
    MUST(tb_platform.allocate_pinned(3 * COUNT * tb_bytes_of(TB_COMPLEX_FP64), &memory));
    MUST(tb_create_stream(0, &stream));
    for (size_t row = 0; row < tb_catalog_size; row++) {
        const tb_kernel *kernel = &tb_catalog[row];
        const tb_product product = product_of_ones(kernel, memory);
        const tb_schedule schedule = tb_make_schedule(kernel, &product, target_of_device(0));
        const size_t bytes = schedule.workspace;
        void *workspace = NULL;
        if (bytes > 0)
            MUST(tb_allocate(0, bytes, &workspace));
        fill_c(kernel, &product);
        tb_status status = tb_enqueue_launch(stream, kernel, &product, &schedule, workspace, false);
        MUST(tb_synchronize(stream));
        CHECK(status == TB_OK || status == TB_UNSUPPORTED, "%s: status %d", kernel->name, status);
        const void *last = tb_at(&product.c.matrix, SIZE - 1, SIZE - 1);
        const double got =
            tb_real_of(kernel->element) == TB_FP64 ? *(const double *)last : (double)*(const float *)last;
        CHECK(status != TB_OK || got == 2 * SIZE, "%s: 2 * %d ones are %g", kernel->name, SIZE, got);
        if (workspace != NULL)
            tb_release(0, workspace);
    }
    tb_destroy_stream(stream);
    tb_platform.release_pinned(memory, 3 * COUNT * tb_bytes_of(TB_COMPLEX_FP64));
}

/* There are not more clusters of more blocks, nor more than blocks fit; a device that has clusters tells. */
static void clusters_fit(const tb_device_description *description)
{
    const tb_clusters *clusters = tb_device_at(0)->clusters(0);
    CHECK(clusters || description->architecture < 90 || !tb_entry_simt_reduce.early, "clusters unknown");
    for (int blocks = 1; clusters && blocks <= TB_CLUSTER_LEVELS; blocks++)
        for (int cluster = 2; cluster <= TB_CLUSTER_BLOCKS_MAXIMUM; cluster++) {
            const int count = clusters->at_a_time[blocks - 1][cluster];
            const int smaller = clusters->at_a_time[blocks - 1][cluster - 1];
            CHECK(count >= 0 && count * cluster <= blocks * description->multiprocessors &&
                      (cluster == 2 || count <= smaller),
                  "%d clusters of %d, %d blocks a multiprocessor", count, cluster, blocks);
        }
}

int main(void)
{
    int devices;
    if (tb_platform.open(&devices) != TB_OK)
        SKIP("no device");
    tb_device_description description;
    MUST(tb_device_at(0)->describe(0, &description));
    MUST(tb_device_at(0)->open_device(0));
    CHECK(tb_platform.in_process(), "an open device is not in the process");
    CHECK(description.architecture >= 50 && description.multiprocessors > 0, "%s: architecture %d",
          description.name, description.architecture);

    clusters_fit(&description);
    an_address_is_located_wherever_it_points(FLOATS * sizeof(float));
    an_address_is_located_wherever_it_points(LARGE_PAGES);
    more_memory_than_there_is_is_refused();
    copies_are_two_dimensional(5, 3);
    copies_are_two_dimensional(40, 9000);  /* some megabytes of short columns */
    copies_are_two_dimensional(700000, 2); /* and of long ones */
    copies_are_two_dimensional(1300000, 1);
    events_order_streams();
    a_device_copies_from_another(devices);
    kernels_multiply_or_refuse();
    return check_result();
}
