/* Libraries that are loaded for us, each while another one is being loaded: from the moment at which the linker shows one until it goes
 * nobody takes it for one that the program has loaded. And libraries of the program's that are kept (compat/loaded_objects.h).
 *
 *   unit_loading FILE OTHER   two libraries that have a function `loaded`
 */
#include "compat/loaded_objects.h"
#include "tests/check.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

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

static void copy_file(const char *from, const char *to)
{
    char bytes[1 << 12];
    FILE *source = fopen(from, "r"), *target = fopen(to, "w");
    if (CHECK(source && target, "%s cannot be copied", from))
        for (size_t count; (count = fread(bytes, 1, sizeof bytes, source)) > 0;)
            fwrite(bytes, 1, count, target);
    fclose(source);
    fclose(target);
}

/* Many libraries, of which the first ones are kept when their program closes them, and the others, for which there is no room, go. */
static void what_is_not_kept_goes(const char *file)
{
    enum { LIBRARIES = 70 };
    char folder[] = "/tmp/tileblas-loading-XXXXXX", path[sizeof folder + 16];
    int all_kept = 0;
    CHECK(mkdtemp(folder) != NULL, "no folder");
    for (int i = 0; i < LIBRARIES; i++) {
        snprintf(path, sizeof path, "%s/%d.so", folder, i);
        copy_file(file, path);
        void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!CHECK(handle != NULL, "%s", dlerror()))
            continue;
        const bool is_kept = tb_keep_object_of(dlsym(handle, "loaded"), false);
        dlclose(handle);
        void *still_there = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
        CHECK(is_kept == (still_there != NULL), "library %d is %s, and %s", i, is_kept ? "kept" : "not kept",
              still_there ? "stays" : "goes");
        if (still_there)
            dlclose(still_there);
        all_kept += is_kept;
        unlink(path);
    }
    rmdir(folder);
    CHECK(all_kept > 0 && all_kept < LIBRARIES, "%d libraries of %d are kept", all_kept, LIBRARIES);
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
    what_is_not_kept_goes(inner);
    return check_result();
}
