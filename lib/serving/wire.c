#include "lib/serving/wire.h"

#include "dispatch/mix.h"
#include "kernels/catalog.h"
#include "lib/device/platform.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t mix_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = tb_mix(hash, (unsigned char)*text);
    return hash;
}

/* The version, the code of the kernels, the rows of the catalog, and what the structures measure. */
uint64_t tb_wire_build(void)
{
    uint64_t hash = mix_text(mix_text(1, TB_VERSION), tb_platform.identity);
    for (size_t row = 0; row < tb_catalog_size; row++)
        hash = mix_text(hash, tb_catalog[row].name);
    return tb_mix(tb_mix(hash, sizeof(tb_wire)), sizeof(tb_welcome));
}

void tb_wire_socket_name(char *name, size_t size)
{
    snprintf(name, size, "serve-%016llx", (unsigned long long)tb_wire_build());
}

void tb_wire_pause(void)
{
    enum { PAUSES = 8 };
    for (int i = 0; i < PAUSES; i++)
        __builtin_ia32_pause();
}

void tb_wire_wait(_Atomic(uint32_t) *word, uint32_t that, double seconds)
{
    const struct timespec span = {.tv_sec = (time_t)seconds,
                                  .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    const int error = errno;
    syscall(SYS_futex, word, FUTEX_WAIT, that, &span, NULL, 0);
    errno = error;
}

void tb_wire_wake(_Atomic(uint32_t) *word)
{
    const int error = errno;
    syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    errno = error;
}
