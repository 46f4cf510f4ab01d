/* A driver that lacks functions, being older than CUDA 12, is asked for them once and not at every call. The libcuda.so.1 that
 * this program finds is older_libcuda.c.
 */
#include "lib/device/driver.h"
#include "tests/check.h"

#include <dlfcn.h>
#include <string.h>

enum { CALLS = 100 };

/* The linker puts __wrap_dlsym in front of dlsym. */
void *__real_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name);

static int asked;

void *__wrap_dlsym(void *library, const char *name)
{
    asked++;
    return __real_dlsym(library, name);
}

int main(void)
{
    CHECK(!tb_driver_in_process() && asked == 0, "a driver that nobody has loaded was asked");
    void *library = dlopen("libcuda.so.1", RTLD_LAZY);
    if (!CHECK(library && dlsym(library, "tb_older_libcuda"), "another libcuda.so.1 was found"))
        return check_result();
    asked = 0;
    CHECK(!tb_driver_in_process(), "an older driver is taken");
    const int once = asked;
    CHECK(once > 0, "the driver was not asked");
    for (int call = 0; call < CALLS; call++)
        CHECK(!tb_driver_in_process() && !tb_load_driver(), "an older driver is taken");
    CHECK(asked == once, "asked %d times, not %d", asked, once);
    return check_result();
}
