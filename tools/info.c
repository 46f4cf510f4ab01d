/* `tileblas info`: what TileBLAS finds on this machine, and the options in force. */
#include "compat/host_blas.h"
#include "lib/device/platform.h"
#include "lib/learning/profile.h"
#include "lib/reports/json.h"
#include "lib/machine/device_state.h"
#include "lib/machine/machine.h"
#include "lib/machine/start.h"
#include "lib/user/options.h"
#include "tools/server.h"
#include "tools/tool.h"

#include <dlfcn.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: tileblas info [OPTION]\n"
    "\n"
    "What is here: the libraries, GPUs and driver, the host BLAS, kernels, options in force.\n"
    "\n"
    "  --all   kernels too that are chosen only when forced\n"
    "  --json  as JSON, with all kernels\n"
    "  --help  this\n";

#define GIB ((double)(1 << 30))

typedef struct host_blas {
    char path[PATH_MAX]; /* empty: none was found */
    char version[256];   /* what it says of itself; empty when it says nothing */
    int integer_bits;
} host_blas;

/* Finds what the library would take for a program that brings none of its own. */
static host_blas find_host_blas(void)
{
    host_blas found = {.integer_bits = 32};
    const tb_host_blas *host = tb_find_host_blas(TB_SPELLING_cblas_sgemm, __builtin_return_address(0));
    Dl_info object;
    if (!host->address || !dladdr(host->address, &object))
        return found;
    found.integer_bits = host->integer_bits;
    if (!realpath(object.dli_fname, found.path))
        snprintf(found.path, sizeof found.path, "%s", object.dli_fname);
    union {
        void *address;
        const char *(*get)(void);
    } config = {NULL};
    void *library = dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library && (config.address = dlsym(library, "openblas_get_config")))
        snprintf(found.version, sizeof found.version, "%s", config.get());
    return found;
}

/* Empty: it was not found. NULL: it was not looked for. */
static const char *code_file(void)
{
    return tb_platform.code_file ? tb_platform.code_file() : NULL;
}

static const char *why_no_device(tb_readiness readiness)
{
    return readiness == TB_UNTRIED ? "the option START keeps it from being looked for" : tb_why_no_device();
}

/* Whether decisions may choose the kernel on this machine's GPU, or, where there is none, on the oldest that
 * it runs on. */
static bool is_free(const tb_kernel *kernel)
{
    const tb_machine machine = tb_machine_facts();
    return tb_kernel_is_free_on(kernel, machine.chip_count > 0 ? machine.chips[0].architecture
                                                               : kernel->architecture);
}

static const char *kernel_state(const tb_kernel *kernel)
{
    const tb_machine machine = tb_machine_facts();
    tb_product aligned = tb_gemm(TB_SGEMM, false, false, 1, 1, 1, 1, NULL, 1, NULL, 1, 0, NULL, 1);
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        aligned.operands[role].element = kernel->element;
    if (strcmp(tb_platform.name, "none") == 0)
        return "not built";
    if (machine.chip_count > 0 && !tb_kernel_serves(kernel, &aligned, &machine.chips[0], true))
        return "not for this GPU";
    if (!is_free(kernel))
        return "only when forced";
    if (kernel->accuracy == TB_ACCURACY_FAST)
        return "chosen by forecast in precision fast";
    return kernel->accuracy == TB_ACCURACY_FP32 ? "chosen by forecast, not in precision ieee"
                                                : "chosen by forecast";
}

static bool library_path(const char *name, char *path, size_t size)
{
    bool found = tool_find_library(name, path, size);
    if (!found)
        snprintf(path, size, "not found");
    return found;
}

/* ---- In words ----------------------------------------------------------------------------------------- */

/* Bytes of its memory that nobody has taken; 0 where the device has not been opened. */
static size_t free_memory(const tb_chip *chip)
{
    size_t free_bytes = 0, total_bytes;
    if (chip->open)
        tb_device_at(chip->device)->memory(chip->device, &free_bytes, &total_bytes);
    return free_bytes;
}

static void print_devices(const tb_machine *machine)
{
    if (machine->chip_count == 0)
        tool_say("GPU          none: %s\n", why_no_device(machine->readiness));
    for (int i = 0; i < machine->chip_count; i++) {
        const tb_chip *chip = &machine->chips[i];
        const tb_device_description *is = tb_machine_device(chip->device);
        tool_say("GPU %d        %s, compute capability %d.%d, %d multiprocessors, %.0f MHz, %.1f GiB",
                 chip->device, is->name, chip->architecture / 10, chip->architecture % 10,
                 chip->multiprocessors, 1e-3 * is->clock_khz, (double)is->memory_bytes / GIB);
        if (chip->open)
            tool_say(
                ", %.1f free\n             measured: link %.1f GB/s in, %.1f out, sustained clock %.0f MHz\n",
                (double)free_memory(chip) / GIB, 1e-9 * chip->link_in, 1e-9 * chip->link_out,
                1e-6 * chip->clock);
        else
            printf("; opened when a product gains from it\n");
    }
    if (machine->chip_count > 0)
        tool_say("driver       for CUDA %d.%d\n", tb_machine_device(0)->driver_version / 1000,
                 tb_machine_device(0)->driver_version % 1000 / 10);
}

/* Kernels that nobody has forced and that are chosen only then are counted, unless all are wanted. */
static void print_kernels(bool all)
{
    int left_out = 0;
    printf("\nkernels      compute capability, tile of C and k, state\n");
    for (size_t row = 0; row < tb_catalog_size; row++) {
        const tb_kernel *kernel = &tb_catalog[row];
        if (!all && !is_free(kernel) && strcmp(kernel->name, tb_option_text(TB_OPTION_KERNEL)) != 0) {
            left_out++;
            continue;
        }
        tool_say("  %-34s %d.%d%s  %4dx%dx%d  %s\n", kernel->name, kernel->architecture / 10,
                 kernel->architecture % 10, kernel->architecture_end ? " " : "+", kernel->tile_m,
                 kernel->tile_n, kernel->tile_k, kernel_state(kernel));
    }
    if (left_out > 0)
        tool_say("  and %d more, chosen only when forced: --all shows them\n", left_out);
}

static int print_words(const tb_machine *machine, const host_blas *host, bool all)
{
    char path[PATH_MAX];
    printf("TileBLAS     " TB_VERSION "\n");
    library_path("libtileblas-preload.so", path, sizeof path);
    tool_say("preload      %s\n", path);
    library_path(TB_CODE_HOLDER, path, sizeof path);
    tool_say("link         %s\n", path);
    if (code_file() && *code_file())
        tool_say("device code  %s\n", code_file());
    print_devices(machine);
    server_say_state();
    tool_say("host         %d cores\n", machine->host_cores);
    if (*host->path)
        tool_say("host BLAS    %s (%d-bit integers%s%s)\n", host->path, host->integer_bits,
                 *host->version ? ", " : "", host->version);
    else
        printf("host BLAS    none was found for programs that bring none\n");

    print_kernels(all);
    printf("\noptions      in force\n");
    for (tb_option_index option = 0; option < TB_OPTION_COUNT; option++) {
        const tb_option *row = &tb_option_rows[option];
        const char *text = tb_option_text(option);
        tool_say("  TILEBLAS_%-16s %s%s\n", row->name, *text ? text : "(empty)",
                 strcmp(text, row->fallback) ? "" : " (default)");
    }
    return tool_print("");
}

/* ---- As JSON ------------------------------------------------------------------------------------------ */

static void write_devices(tb_json *json, const tb_machine *machine)
{
    tb_json_open(json, "devices", '[');
    for (int i = 0; i < machine->chip_count; i++) {
        const tb_chip *chip = &machine->chips[i];
        const tb_device_description *is = tb_machine_device(chip->device);
        tb_json_open(json, NULL, '{');
        tb_json_integer(json, "device", chip->device);
        tb_json_text(json, "name", is->name);
        tb_json_integer(json, "architecture", chip->architecture);
        tb_json_integer(json, "multiprocessors", chip->multiprocessors);
        tb_json_integer(json, "clock_khz", is->clock_khz);
        tb_json_integer(json, "memory_bytes", (long long)is->memory_bytes);
        tb_json_integer(json, "driver_version", is->driver_version);
        tb_json_boolean(json, "open", chip->open);
        if (chip->open) {
            tb_json_integer(json, "free_bytes", (long long)free_memory(chip));
            tb_json_number(json, "link_in_bytes_per_second", chip->link_in);
            tb_json_number(json, "link_out_bytes_per_second", chip->link_out);
            tb_json_number(json, "sustained_hz", chip->clock);
        }
        tb_json_close(json, '}');
    }
    tb_json_close(json, ']');
    tb_json_text(json, "no_device", machine->chip_count > 0 ? NULL : why_no_device(machine->readiness));
}

static int print_json(const tb_machine *machine, const host_blas *host)
{
    char path[PATH_MAX];
    tb_json json = {0};
    tb_json_open(&json, NULL, '{');
    tb_json_text(&json, "tileblas", TB_VERSION);
    tb_json_text(&json, "preload", library_path("libtileblas-preload.so", path, sizeof path) ? path : NULL);
    tb_json_text(&json, "link", library_path(TB_CODE_HOLDER, path, sizeof path) ? path : NULL);
    tb_json_text(&json, "device_interface", tb_platform.name);
    tb_json_text(&json, "device_code", code_file());
    write_devices(&json, machine);
    server_write_state(&json);
    tb_json_integer(&json, "host_cores", machine->host_cores);
    tb_json_open(&json, "host_blas", '{');
    tb_json_text(&json, "path", *host->path ? host->path : NULL);
    tb_json_text(&json, "version", *host->version ? host->version : NULL);
    tb_json_integer(&json, "integer_bits", host->integer_bits);
    tb_json_close(&json, '}');
    tb_json_open(&json, "kernels", '[');
    for (size_t row = 0; row < tb_catalog_size; row++) {
        const tb_kernel *kernel = &tb_catalog[row];
        tb_json_open(&json, NULL, '{');
        tb_json_text(&json, "name", kernel->name);
        tb_json_integer(&json, "architecture", kernel->architecture);
        tb_json_integer(&json, "tile_m", kernel->tile_m);
        tb_json_integer(&json, "tile_n", kernel->tile_n);
        tb_json_integer(&json, "tile_k", kernel->tile_k);
        tb_json_text(&json, "state", kernel_state(kernel));
        tb_json_text(&json, "summary", kernel->summary);
        tb_json_close(&json, '}');
    }
    tb_json_close(&json, ']');
    tb_json_open(&json, "options", '{');
    for (tb_option_index option = 0; option < TB_OPTION_COUNT; option++)
        tb_json_text(&json, tb_option_rows[option].name, tb_option_text(option));
    tb_json_close(&json, '}');
    tb_json_close(&json, '}');
    return tool_print_json(&json);
}

int tool_info(int argc, char **argv)
{
    static const struct option options[] = {{"all", no_argument, NULL, 'a'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    bool as_json = false, all = false;
    int option;
    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1)
        switch (option) {
        case 'a':
            all = true;
            break;
        case 'j':
            as_json = true;
            break;
        case 'h':
            return tool_print(help);
        default:
            return tool_usage("info", "wrong option");
        }
    if (optind < argc)
        return tool_usage("info", "what is '%s'?", argv[optind]);
    tb_machine_start(&(tb_plan){.start = TB_START_NOW}, tb_load_profile);
    tb_machine machine = tb_machine_facts();
    host_blas host = find_host_blas();
    return as_json ? print_json(&machine, &host) : print_words(&machine, &host, all);
}
