/* A structured operand's way to the device (tb_bring_stored): all that is stored of it comes there, and nothing else is read, be
 * its columns shorter than a slot or longer. Slots are as small as the test likes; those of products begin at 128 KiB.
 */
#include "lib/device/platform.h"
#include "lib/streaming/stream_run.h"
#include "tests/check.h"
#include "tests/sim/device_sim.h"
#include "tests/sim/started.h"

#include <stdlib.h>

enum { ORDER = 37, LD = 41, UNREAD = -1 };

typedef struct triangle {
    bool is_complex, lower, unit;
    int slot; /* elements that it takes */
    int trial;
} triangle;

static int parts_of(const triangle *t)
{
    return t->is_complex ? 2 : 1;
}

static bool is_stored(const triangle *t, int row, int column)
{
    return row == column ? !t->unit : (row > column) == t->lower;
}

/* Another one in each trial: what lies on the device from the one before is none. */
static double number(const triangle *t, int row, int column, int part)
{
    return ((t->trial * ORDER + row) * ORDER + column) * 2 + part;
}

static double *make_triangle(const triangle *t)
{
    const int parts = parts_of(t);
    double *a = malloc(sizeof *a * LD * ORDER * (size_t)parts);
    for (int column = 0; column < ORDER; column++)
        for (int row = 0; row < LD; row++)
            for (int part = 0; part < parts; part++)
                a[(row + column * LD) * parts + part] =
                    row < ORDER && is_stored(t, row, column) ? number(t, row, column, part) : UNREAD;
    return a;
}

static void check_column(const triangle *t, int column, const double *there)
{
    const int parts = parts_of(t);
    int missing = 0, read = 0;
    for (int row = 0; row < ORDER; row++)
        for (int part = 0; part < parts; part++) {
            const double now = there[row * parts + part];
            missing += is_stored(t, row, column) && now != number(t, row, column, part);
            read += now == UNREAD;
        }
    CHECK(missing == 0 && read == 0,
          "%s %s%s triangle, %d in a slot, column %d: %d numbers did not come, %d were read that are not "
          "stored",
          t->is_complex ? "complex" : "real", t->unit ? "unit " : "", t->lower ? "lower" : "upper", t->slot,
          column, missing, read);
}

static void free_run(tb_stream_run *run)
{
    tb_pipeline *pipeline = run->pipeline;
    tb_give_buffer(&run->stored_there[TB_A]);
    for (int i = 0; i < TB_SLOTS; i++) {
        tb_give_buffer(&pipeline->in[i].pinned);
        if (pipeline->in[i].done)
            tb_destroy_event(pipeline->in[i].done);
    }
    tb_destroy_stream(pipeline->load);
    free(pipeline);
}

static void bring(const triangle *t)
{
    const tb_element element = t->is_complex ? TB_COMPLEX_FP64 : TB_FP64;
    double *a = make_triangle(t), c[2];
    const tb_product product =
        tb_triangular(TB_MULTIPLIES, element, true, t->lower ? TB_LOWER : TB_UPPER, false, false, t->unit,
                      ORDER, 1, (tb_scalar){1, 0}, a, LD, c, ORDER);
    const tb_plan plan = {.places[TB_C].memory = TB_MEMORY_DEVICE}; /* nothing is on its way back */
    tb_stream_run run = {.product = &product, .given = &product, .plan = &plan};
    run.pipeline = calloc(1, sizeof *run.pipeline);
    run.pipeline->slot_bytes = (size_t)t->slot * tb_bytes_of(element);
    CHECK(tb_create_stream(0, &run.pipeline->load) == TB_OK, "no stream");
    CHECK(tb_bring_stored(&run, TB_A) == TB_OK && tb_synchronize(run.pipeline->load) == TB_OK,
          "the triangle was not brought");
    CHECK(tb_pitch(&run.stored[TB_A].matrix) % 16 == 0, "columns are %zu bytes apart",
          tb_pitch(&run.stored[TB_A].matrix));
    for (int column = 0; column < ORDER; column++) {
        double there[2 * ORDER];
        sim_copy(there, tb_at(&run.stored[TB_A].matrix, 0, column), ORDER * tb_bytes_of(element));
        check_column(t, column, there);
    }
    free_run(&run);
    free(a);
}

int main(void)
{
    static const int slots[] = {1, 5, 18, ORDER - 1, ORDER, 100, 5 * ORDER, ORDER * ORDER};
    int trial = 0;
    start_device();
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        for (int form = 0; form < 8; form++, trial++)
            bring(&(triangle){.is_complex = form & 1,
                              .lower = form & 2,
                              .unit = form & 4,
                              .slot = slots[i],
                              .trial = trial});
    return check_result();
}
