/* What clients of a server do, in programs whose linker puts __wrap_tb_machine_start before tb_machine_start: products whose result is
 * known, and what they have of the server.
 *
 * Header only, for programs that are linked with the library and the simulated device.
 */
#ifndef TEST_SERVED_CLIENT_H
#define TEST_SERVED_CLIENT_H

#include "include/tileblas.h"
#include "lib/machine/start.h"
#include "tests/sim/known_product.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

static inline void prefer_device(void)
{
    tileblas_set_option("SERVER", "auto");
    tileblas_set_option("START", "wait");
    tileblas_set_option("ROUTE", "streamed");
}

/* Each is one launch. */
static bool draws_plain;

/* Of any class and element, up to so large. */
static inline known_product draw(check_random *random, int most)
{
    known_product p = {.class = (known_class)check_between(random, KNOWN_GEMM, KNOWN_HEMM),
                       .m = (int)check_between(random, 1, most),
                       .n = (int)check_between(random, 1, most),
                       .factor = (double)check_between(random, 1, 3),
                       .beta = (double)check_between(random, 0, 1),
                       .memory = TB_MEMORY_HOST,
                       .of_doubles = check_between(random, 0, 1),
                       .is_complex = check_between(random, 0, 1)};
    if (draws_plain) {
        p.class = KNOWN_GEMM;
        p.is_complex = false;
    }
    if (p.class == KNOWN_HEMM)
        p.is_complex = true;
    p.k = p.class == KNOWN_GEMM ? (int)check_between(random, 1, most) : p.m;
    known_place(&p);
    return p;
}

/* Nobody's. */
#define SERVED_ERROR EXDEV

/* Whether the server computed it. Whatever became of the server, errno is as it was. */
static inline bool multiply(check_random *random, int most, const char *when)
{
    char plan[200];
    known_product p = draw(random, most);
    errno = SERVED_ERROR;
    known_multiply(&p);
    const int error = errno;
    tileblas_last_plan(plan, sizeof plan);
    CHECK(error == SERVED_ERROR, "%s: errno is %d after a product (%s)", when, error, plan);
    CHECK(known_errors(&p) == 0, "%s: %d x %d x %d, class %d, %s%s: %d numbers are wrong (%s)", when, p.m,
          p.n, p.k, (int)p.class, p.is_complex ? "complex " : "", p.of_doubles ? "doubles" : "floats",
          known_errors(&p), plan);
    known_free(&p);
    return strstr(plan, "device 32") || strstr(plan, " devices: ");
}

/* A process without a device of its own, in whose place this stands before tb_machine_start. */
static bool has_no_device;
bool __real_tb_machine_start(const tb_plan *plan, tb_before_ready *prepare);
bool __wrap_tb_machine_start(const tb_plan *plan, tb_before_ready *prepare);
bool __wrap_tb_machine_start(const tb_plan *plan, tb_before_ready *prepare)
{
    return !has_no_device && __real_tb_machine_start(plan, prepare);
}

static inline int open_files(void)
{
    int count = 0;
    DIR *files = opendir("/proc/self/fd");
    while (files && readdir(files))
        count++;
    if (files)
        closedir(files);
    return count;
}

/* Pieces of memory that are shared with a server. */
static inline int shared_maps(void)
{
    char line[512];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        count += strstr(line, "memfd:tileblas") != NULL;
    if (maps)
        fclose(maps);
    return count;
}

#endif
