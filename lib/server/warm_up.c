#include "lib/server/warm_up.h"

#include "dispatch/schedule.h"
#include "lib/device/platform.h"

/* Aligned for every row. What a product's size has a say in is code of the same file. */
#define EXTENT 64

/* Of a device's memory, for operands and workspaces; rows that want more are left out. */
#define MEMORY_BYTES  ((size_t)32 << 20)
#define OPERAND_BYTES ((size_t)EXTENT * EXTENT * sizeof(double))

typedef struct warm_up {
    const tb_chip *chip;
    tb_stream *stream;
    char *memory;
} warm_up;

static void place(tb_product *product, char *memory)
{
    product->a.data = memory;
    product->b.data = memory + OPERAND_BYTES;
    product->c.data = memory + 2 * OPERAND_BYTES;
}

static void launch(const warm_up *now, const tb_kernel *kernel, const tb_product *product)
{
    const tb_target target = tb_target_of(now->chip);
    if (!tb_kernel_computes(kernel, product))
        return;
    const tb_schedule schedule = tb_make_schedule(kernel, product, target);
    if (schedule.workspace <= MEMORY_BYTES - 3 * OPERAND_BYTES)
        (void)tb_enqueue_launch(now->stream, kernel, product, &schedule, now->memory + 3 * OPERAND_BYTES,
                                false);
}

/* Of one row: plain products of all transpositions, or, where it computes nothing else, those in C's place. */
static void launch_row(const warm_up *now, const tb_kernel *kernel)
{
    const tb_routine routine = tb_gemm_routine(kernel->element);
    tb_product product;
    for (int t = 0; t < 4; t++) {
        product = tb_gemm(routine, t >> 1, t & 1, EXTENT, EXTENT, EXTENT, 1, NULL, EXTENT, NULL, EXTENT, 0,
                          NULL, EXTENT);
        place(&product, now->memory);
        launch(now, kernel, &product);
    }
    for (int side = 0; side < 2 && kernel->in_place != TB_OUT_OF_PLACE; side++) {
        char *c = now->memory + 2 * OPERAND_BYTES;
        product = tb_triangular(kernel->in_place, kernel->element, side == 0, TB_LOWER, false, false, true,
                                EXTENT, EXTENT, (tb_scalar){1, 0}, now->memory, EXTENT, c, EXTENT);
        launch(now, kernel, &product);
    }
}

/* Operands that are written out: of complex numbers, and of symmetric ones. */
static void expand(const warm_up *now, tb_element element)
{
    const int64_t rows = EXTENT / 4, parts = tb_is_complex(element) ? 2 : 1;
    const tb_operand source = {.data = now->memory,
                               .rows = rows,
                               .columns = rows,
                               .ld = rows,
                               .element = element,
                               .structure = TB_SYMMETRIC,
                               .stored = TB_LOWER};
    const tb_expansion expansion = {.source = source,
                                    .target = {.data = now->memory + OPERAND_BYTES,
                                               .rows = parts * rows,
                                               .columns = parts * rows,
                                               .ld = parts * rows,
                                               .element = tb_real_of(element)},
                                    .factor = {1, 0},
                                    .embedded = parts == 2};
    (void)tb_enqueue_expansion(now->stream, &expansion);
}

static void launch_all(const warm_up *now, const atomic_bool *stop)
{
    for (tb_element element = TB_FP32; element < TB_ELEMENTS; element++)
        expand(now, element);
    for (size_t row = 0; row < tb_catalog_size && !atomic_load(stop); row++)
        if (tb_kernel_is_free_on(&tb_catalog[row], now->chip->architecture))
            launch_row(now, &tb_catalog[row]);
}

void tb_warm_up(const tb_chip *chip, const atomic_bool *stop)
{
    warm_up now = {.chip = chip};
    void *memory;
    if (tb_create_stream(chip->device, &now.stream) != TB_OK)
        return;
    if (tb_allocate(chip->device, MEMORY_BYTES, &memory) == TB_OK) {
        now.memory = memory;
        launch_all(&now, stop);
        (void)tb_synchronize(now.stream);
        tb_release(chip->device, memory);
    }
    tb_destroy_stream(now.stream);
}
