#include "tools/supposed_gpu.h"

#include "lib/machine/calibrate.h"

#include <strings.h>

#define DESCRIBED(architecture_, multiprocessors_, megahertz, memory_rate)                                   \
    {                                                                                                        \
        .architecture = (architecture_), .multiprocessors = (multiprocessors_),                              \
        .clock_khz = 1000 * (megahertz), .memory_bytes_per_second = (memory_rate)                            \
    }

/* NVIDIA's data sheets say this: multiprocessors, the highest clock, the memory's rate; and the link, of
 * which the sheets know the generation of PCI Express: what one of it carries. */
static const struct {
    const char *option, *name;
    tb_device_description description;
    double link;
} described[] = {
    {"h100", "NVIDIA H100 SXM", DESCRIBED(90, 132, 1980, 3.35e12), 55e9},
    {"l40s", "NVIDIA L40S", DESCRIBED(89, 142, 2520, 864e9), 25e9},
    {"rtx4090", "NVIDIA GeForce RTX 4090", DESCRIBED(89, 128, 2520, 1008e9), 25e9},
};

static const supposed_gpu measured = {.option = "h200",
                                      .name = "NVIDIA H200",
                                      .measured = true,
                                      .chip = {.open = true,
                                               .architecture = 90,
                                               .multiprocessors = 132,
                                               .clock = 1.76e9,
                                               .memory_rate = 4.2e12,
                                               .link_in = 55e9,
                                               .link_out = 55e9}};

const supposed_gpu *find_supposed_gpu(const char *option)
{
    static supposed_gpu found;
    if (strcasecmp(option, measured.option) == 0)
        return &measured;
    for (size_t i = 0; i < sizeof described / sizeof *described; i++) {
        if (strcasecmp(option, described[i].option) != 0)
            continue;
        found = (supposed_gpu){.option = described[i].option,
                               .name = described[i].name,
                               .chip = tb_presume_chip(0, &described[i].description)};
        found.chip.open = true;
        found.chip.link_in = found.chip.link_out = described[i].link;
        return &found;
    }
    return NULL;
}

void suppose_gpu(const supposed_gpu *gpu, tb_machine *machine)
{
    machine->readiness = TB_READY;
    machine->chips = &gpu->chip;
    machine->chip_count = 1;
}
