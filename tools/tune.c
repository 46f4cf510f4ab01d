/* `tileblas tune`: makes the library learn what this machine takes, route by route and shape by shape, and keeps that
 * as the user's profile, with which programs begin. What they learn by themselves afterwards comes on top.
 */
#include "lib/process/clock.h"
#include "lib/device/platform.h"
#include "lib/machine/machine.h"
#include "lib/machine/start.h"
#include "lib/user/options.h"
#include "lib/learning/profile.h"
#include "tools/tool.h"

#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] = "usage: tileblas tune [OPTION]...\n"
                           "\n"
                           "Times products of many shapes on the host and through the GPU, and keeps what "
                           "they took beside the forecast as\n"
                           "a profile: tileblas/profile in the cache folder. Programs that use TileBLAS "
                           "begin with it. Without one they\n"
                           "learn the same, as they run.\n"
                           "\n"
                           "  --seconds S    time to spend, 60 unless given\n"
                           "  --largest N    leave out products with an extent above N\n"
                           "  --output FILE  another file; programs do not look there\n"
                           "  --remove       remove the profile\n"
                           "  --help         this\n"
                           "\n"
                           "Exit status: 0, or 1 when there is no GPU or the profile cannot be written.\n";

/* Extents of C and of k: squares, products with a thin C, and with a short k. */
typedef struct shape {
    int m, n, k;
} shape;

static const shape shapes[] = {
    {128, 128, 128},    {256, 256, 256},    {512, 512, 512},  {1024, 1024, 1024}, {2048, 2048, 2048},
    {4096, 4096, 4096}, {8192, 8192, 8192}, {1024, 8, 1024},  {8192, 8, 8192},    {512, 64, 512},
    {2048, 64, 2048},   {8192, 64, 8192},   {1024, 1024, 32}, {4096, 4096, 32},   {8192, 8192, 64},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Learning moves by a quarter at a time: this many calls let a ratio go anywhere it may. */
enum { CALLS = 20 };

void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                 int);

static float *allocate(bool pinned, size_t floats)
{
    void *memory = NULL;
    if (!pinned)
        memory = malloc(floats * sizeof(float));
    else if (tb_platform.allocate_pinned(floats * sizeof(float), &memory) != TB_OK)
        memory = NULL;
    for (size_t i = 0; memory && i < floats; i++)
        ((float *)memory)[i] = (float)(i % 17) - 8;
    return memory;
}

static void release(bool pinned, float *memory, size_t floats)
{
    if (!pinned)
        free(memory);
    else if (memory)
        tb_platform.release_pinned(memory, floats * sizeof(float));
}

/* Multiplies until the time of this round is over, but once at least. */
static void teach(const char *route, const shape *s, const float *a, const float *b, float *c, double seconds)
{
    double end = tb_seconds() + seconds;
    tb_set_option("ROUTE", route);
    for (int call = 0; call < CALLS && (call == 0 || tb_seconds() < end); call++)
        cblas_sgemm(102, 111, 111, s->m, s->n, s->k, 1, a, s->m, b, s->k, 0, c, s->m);
}

/* False when memory is out; then the shape is left out. */
static bool teach_shape(const shape *s, bool pinned, double seconds)
{
    const size_t floats_a = (size_t)s->m * (size_t)s->k, floats_b = (size_t)s->k * (size_t)s->n,
                 floats_c = (size_t)s->m * (size_t)s->n;
    float *a = allocate(pinned, floats_a), *b = allocate(pinned, floats_b), *c = allocate(pinned, floats_c);
    bool enough = a && b && c;
    if (enough && !pinned)
        teach("host", s, a, b, c, seconds);
    if (enough)
        teach("streamed", s, a, b, c, seconds);
    release(pinned, a, floats_a);
    release(pinned, b, floats_b);
    release(pinned, c, floats_c);
    return enough;
}

static int largest_extent(const shape *s)
{
    int largest = s->m > s->n ? s->m : s->n;
    return largest > s->k ? largest : s->k;
}

static void teach_all(double seconds, long long largest)
{
    /* A third each for the host, for ordinary and for pinned memory. */
    double share = seconds / (3 * SHAPES);
    for (int i = 0; i < SHAPES; i++) {
        const shape *s = &shapes[i];
        if (largest_extent(s) > largest)
            continue;
        if (isatty(STDERR_FILENO))
            fprintf(stderr, "\r%d of %d: %d x %d x %d        ", i + 1, SHAPES, s->m, s->n, s->k);
        for (int pinned = 0; pinned < 2; pinned++)
            if (!teach_shape(s, pinned, share))
                tool_complain("tune", "no memory for %d x %d x %d", s->m, s->n, s->k);
    }
    if (isatty(STDERR_FILENO))
        fputc('\n', stderr);
}

static int tune(const char *path, double seconds, long long largest)
{
    tb_machine_start(&(tb_plan){.start = TB_START_NOW}, tb_load_profile);
    tb_machine machine = tb_machine_facts();
    if (machine.chip_count == 0) {
        tool_complain("tune", "there is no GPU to tune for");
        return TOOL_FAILED;
    }
    /* What one device does is learned; shares of several follow from that. */
    tb_set_option("DEVICES", "1");
    tb_set_option("START", "wait");
    teach_all(seconds, largest);
    if (!tb_save_profile(path, tb_machine_device(machine.chips[0].device)->name)) {
        tool_complain("tune", "%s: %s", path, strerror(errno));
        return TOOL_FAILED;
    }
    tool_say("wrote %s\n", path);
    return tool_print("");
}

static int remove_profile(const char *path)
{
    if (unlink(path) == 0 || errno == ENOENT)
        return TOOL_OK;
    tool_complain("tune", "%s: %s", path, strerror(errno));
    return TOOL_FAILED;
}

int tool_tune(int argc, char **argv)
{
    static const struct option options[] = {
        {"seconds", required_argument, NULL, 's'}, {"output", required_argument, NULL, 'o'},
        {"largest", required_argument, NULL, 'l'}, {"remove", no_argument, NULL, 'r'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
    };
    char path[4096];
    long long seconds = 60, largest = INT32_MAX;
    bool removing = false, has_path = tb_profile_path(path, sizeof path);
    int option;
    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1)
        switch (option) {
        case 's':
            if (!tool_parse_integer(optarg, 0, &seconds))
                return tool_usage("tune", "--seconds cannot be '%s'", optarg);
            break;
        case 'l':
            if (!tool_parse_integer(optarg, 1, &largest))
                return tool_usage("tune", "--largest cannot be '%s'", optarg);
            break;
        case 'o':
            has_path = (size_t)snprintf(path, sizeof path, "%s", optarg) < sizeof path;
            break;
        case 'r':
            removing = true;
            break;
        case 'h':
            return tool_print(help);
        default:
            return tool_usage("tune", "wrong option");
        }
    if (optind < argc)
        return tool_usage("tune", "what is '%s'?", argv[optind]);
    if (!has_path)
        return tool_usage("tune", "no cache folder: neither XDG_CACHE_HOME nor HOME is set; use --output");
    return removing ? remove_profile(path) : tune(path, (double)seconds, largest);
}
