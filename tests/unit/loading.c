/* Libraries that are loaded for us, each while another one is being loaded: from the moment at which the linker shows one until it goes
 * nobody takes it for one that the program has loaded (compat/loaded_objects.h).
 *
 *   unit_loading FILE OTHER   two libraries that have a function `loaded`
 */
#include "compat/loaded_objects.h"
#include "tests/check.h"

#include <dlfcn.h>
#include <string.h>

static const char *outer, *inner;

void *__real_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags);

static void is_ours(void *library, const char *when)
{
    const void *address = library ? dlsym(library, "loaded") : NULL;
    CHECK(address && tb_is_loaded_for_us(address), "%s: a library counts as the program's", when);
}

/* The linker puts this in front of dlopen: the inner load begins and ends between the outer one's being shown and its being noted. */
void *__wrap_dlopen(const char *name, int flags)
{
    static void *outside;
    void *library = __real_dlopen(name, flags);
    if (strcmp(name, outer) == 0) {
        outside = library;
        is_ours(outside, "being loaded");
        is_ours(tb_load_library(inner), "loaded meanwhile");
        is_ours(outside, "being loaded, when another one has been");
    } else if (strcmp(name, inner) == 0) {
        is_ours(library, "being loaded, too");
        is_ours(outside, "being loaded, while another one is");
    }
    return library;
}

int main(int count, char **arguments)
{
    if (count < 3)
        return EXIT_FAILURE;
    outer = arguments[1];
    inner = arguments[2];
    CHECK(!tb_is_loaded_for_us((const void *)(uintptr_t)main), "the program counts as loaded for us");
    is_ours(tb_load_library(outer), "loaded");
    CHECK(!tb_is_loaded_for_us((const void *)(uintptr_t)main) &&
              !tb_is_loaded_for_us(dlsym(RTLD_DEFAULT, "malloc")),
          "what the program has loaded counts as loaded for us");
    return check_result();
}
