#include "lib/machine/device_state.h"

#include "lib/machine/machine.h"
#include "lib/process/linker.h"
#include "lib/process/threads.h"
#include "lib/user/options.h"
#include "lib/device/platform.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define SEE " (`tileblas info` tells more)"

/* It is not loaded for a report's sake: whoever has looked for a device has loaded it. */
static bool has_driver(void)
{
    sigset_t signals;
    tb_hold_signals(&signals); /* the dynamic linker is not to be left in the middle */
    tb_enter_linker();
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (driver)
        dlclose(driver);
    tb_leave_linker();
    tb_let_signals(&signals);
    return driver != NULL;
}

const char *tb_why_no_device(void)
{
    if (!tb_has_platform())
        return "this build has no CUDA kernels";
    if (strcmp(tb_platform.name, "cuda") == 0 && !has_driver())
        return "no NVIDIA driver (libcuda.so.1) is installed";
    const char *code_file =
        tb_platform.code_file ? tb_platform.code_file() : NULL; /* NULL, too, where it is not looked for */
    if (code_file && !*code_file)
        return "the device code, which libtileblas.so.0 of the same build has, was not found";
    return "the driver offers no GPU that the kernels run on";
}

static int print_untried(const tb_machine *machine, char *text, size_t size)
{
    if (tb_option_value(TB_OPTION_START) == TB_START_OPTION_NEVER)
        return snprintf(text, size, "not started: the option START is never");
    return snprintf(text, size, "not started yet: products that would gain have taken %.2g s",
                    machine->host_spent);
}

int tb_print_device_state(char *text, size_t size)
{
    const tb_machine machine = tb_machine_facts();
    switch (machine.readiness) {
    case TB_UNTRIED:
        return print_untried(&machine, text, size);
    case TB_STARTING:
        return snprintf(text, size, "being started");
    case TB_READY:
        return snprintf(text, size, "up: %s%s", tb_machine_device(machine.chips[0].device)->name,
                        machine.chips[0].device >= TB_SERVED_FIRST ? ", which tileblas serve has" : "");
    case TB_ABSENT:
        return snprintf(text, size, "none: %s" SEE, tb_why_no_device());
    case TB_LOST:
        break;
    }
    return snprintf(text, size, "lost: %s" SEE,
                    tb_machine_is_inherited() ? "this process was forked from one that had begun to start it"
                                              : "it has failed");
}
