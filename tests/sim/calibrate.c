/* What a device is taken to sustain: it is measured when the device comes up, never comes out faster than the
 * device is, and measuring leaves nothing behind but a pinned buffer that the pipeline will use.
 */
#include "include/tileblas.h"
#include "lib/machine/machine.h"
#include "lib/machine/prepare.h"
#include "lib/machine/start.h"
#include "lib/streaming/pipeline.h"
#include "lib/device/platform.h"
#include "tests/check.h"
#include "tests/sim/device_sim.h"

#include <math.h>
#include <string.h>

#define LINK 200e6

/* What a first product would wait for is there once, however often it is prepared. */
static void preparing_leaves_nothing_more_behind(void)
{
    const tb_machine machine = tb_machine_facts();
    tb_prepare_device(&machine, &machine.chips[0]);
    const sim_usage once = sim_get_usage();
    tb_prepare_device(&machine, &machine.chips[0]);
    const sim_usage twice = sim_get_usage();
    CHECK(once.device_blocks > 0 && twice.device_blocks == once.device_blocks &&
              twice.pinned_blocks == once.pinned_blocks && twice.streams == once.streams,
          "%ld blocks, %ld pinned ones, %ld streams; twice %ld, %ld and %ld", once.device_blocks,
          once.pinned_blocks, once.streams, twice.device_blocks, twice.pinned_blocks, twice.streams);
}

int main(void)
{
    sim_set("LINK", "200e6");
    sim_set("MULTIPROCESSORS", "2");
    sim_set("DEVICES", "2");
    CHECK(tileblas_set_option("CALIBRATE", "1") == 0, "no option");
    CHECK(tileblas_set_option("PINNED_MEMORY", "2") == 0, "no option");
    CHECK(tb_machine_facts().chip_count == 0, "devices before the start");

    CHECK(tb_machine_start(&(tb_plan){.start = TB_START_NOW}, NULL), "did not wait");
    tb_machine machine = tb_machine_facts();
    CHECK(machine.readiness == TB_READY && machine.chip_count == 2, "readiness %d, %d devices",
          machine.readiness, machine.chip_count);
    const tb_chip *first = &machine.chips[0], *second = &machine.chips[1];
    CHECK(first->open && !second->open && second->device == 1, "open: %d, %d", first->open, second->open);
    CHECK(first->link_in > 0 && first->link_in <= LINK && first->link_out > 0 && first->link_out <= LINK,
          "link %g in, %g out", first->link_in, first->link_out);
    CHECK(second->link_in == first->link_in && second->link_out == first->link_out && second->clock > 1e9,
          "not presumed: link %g in, %g out, clock %g", second->link_in, second->link_out, second->clock);
    /* The rate follows from the description alone, and so is the same in every process. */
    tb_device_description description;
    CHECK(tb_device_at(0)->describe(0, &description) == TB_OK, "not described");
    const double bytes_a_clock = description.memory_bytes_per_second / (1e3 * description.clock_khz * 2);
    CHECK(fabs(first->memory_bytes_a_clock / bytes_a_clock - 1) < 1e-12, "%g bytes a clock, not %g",
          first->memory_bytes_a_clock, bytes_a_clock);
    /* No GPU is as slow as the simulated one: that is not believed. */
    CHECK(first->clock == second->clock, "clock %g, presumed %g", first->clock, second->clock);
    sim_usage usage = sim_get_usage();
    CHECK(usage.device_blocks == 0 && usage.streams == 0 && usage.events == 0 && usage.pinned_blocks == 1 &&
              usage.pinned_bytes == tb_slot_bytes(),
          "%ld blocks, %ld streams, %ld events, %zu pinned bytes left", usage.device_blocks, usage.streams,
          usage.events, usage.pinned_bytes);

    /* The other one comes when a call wants it. */
    CHECK(tb_machine_start(&(tb_plan){.start = TB_START_NOW, .needs_device = true, .place = {.device = 1}},
                           NULL),
          "did not wait");
    machine = tb_machine_facts();
    CHECK(machine.chips[1].open && machine.chips[1].link_in <= LINK, "device 1: open %d, link %g",
          machine.chips[1].open, machine.chips[1].link_in);
    preparing_leaves_nothing_more_behind();
    return check_result();
}
