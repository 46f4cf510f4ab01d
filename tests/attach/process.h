/* What the tests of attaching share: modules that are opened and looked at byte by byte, and who answers their calls. */
#ifndef PROCESS_H
#define PROCESS_H

#include "include/tileblas.h"
#include "tests/abi/fixture_blas.h"
#include "tests/check.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

/* Sanitizers forbid RTLD_DEEPBIND. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ON_ITS_OWN (RTLD_LAZY | RTLD_LOCAL)
#else
#define ON_ITS_OWN (RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND)
#endif

/* Looked at closely, and not small. */
enum { SIZE = 90 };

/* ---- TileBLAS ------------------------------------------------------------------------------------------- */

typedef struct library {
    void *handle;
    int (*attach)(void), (*detach)(void);
    size_t (*runtime)(char *path, size_t size);
    size_t (*read_statistics)(tileblas_statistics *statistics, size_t size);
} library;

static inline library open_library(const char *path)
{
    library opened = {.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
    if (!opened.handle) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    *(void **)&opened.attach = dlsym(opened.handle, "tileblas_attach");
    *(void **)&opened.detach = dlsym(opened.handle, "tileblas_detach");
    *(void **)&opened.runtime = dlsym(opened.handle, "tileblas_runtime");
    *(void **)&opened.read_statistics = dlsym(opened.handle, "tileblas_read_statistics");
    return opened;
}

static inline int count_of_library(const library *library)
{
    tileblas_statistics statistics;
    library->read_statistics(&statistics, sizeof statistics);
    return (int)(statistics.host.calls + statistics.resident.calls + statistics.streamed.calls);
}

/* ---- A module and its BLAS --------------------------------------------------------------------------------- */

typedef struct module {
    const char *path;
    void *handle;
    long (*errors)(bool fortran, int size);
    void *(*constant)(void);
    void **(*variable)(void);
    const fixture_state *blas;
} module;

static inline module open_module(const char *path, const char *blas, int mode)
{
    module opened = {.path = path, .handle = dlopen(path, mode)};
    void *library = dlopen(blas, RTLD_LAZY | RTLD_NOLOAD);
    if (!opened.handle || !library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    *(void **)&opened.errors = dlsym(opened.handle, "caller_errors");
    *(void **)&opened.constant = dlsym(opened.handle, "caller_constant");
    *(void **)&opened.variable = dlsym(opened.handle, "caller_variable");
    opened.blas = dlsym(library, "fixture_blas");
    dlclose(library);
    return opened;
}

static inline int count_of_blas(const fixture_state *blas, bool fortran)
{
    return fortran ? blas->fortran_calls : blas->cblas_calls;
}

/* Whether products stay on the host in this run, so that whom we stand in front of computes them. */
static inline bool is_on_host(void)
{
    const char *route = getenv("TILEBLAS_ROUTE");
    return !route || strcmp(route, "streamed") != 0;
}

/* A call of the module is right and arrives at the library exactly once, or not at all; and at the module's own BLAS if it
 * does not, or is to stay on the host. */
static inline void check_call(const library *library, const module *module, bool fortran, bool arrives,
                              const char *when)
{
    const int before = count_of_library(library), blas_before = count_of_blas(module->blas, fortran);
    const long errors = module->errors(fortran, SIZE);
    const int arrived = count_of_library(library) - before;
    const int answered = count_of_blas(module->blas, fortran) - blas_before;
    const char *name = fortran ? "Fortran" : "CBLAS";
    CHECK(errors == 0, "%s, %s: %ld elements are wrong", when, name, errors);
    CHECK(arrived == arrives, "%s, %s: the library was called %d times", when, name, arrived);
    CHECK(answered == (!arrives || is_on_host()), "%s, %s: the module's BLAS was called %d times", when, name,
          answered);
}

static inline void check_calls(const library *library, const module *module, bool arrive, const char *when)
{
    check_call(library, module, false, arrive, when);
    check_call(library, module, true, arrive, when);
}

/* ---- What an object is in memory --------------------------------------------------------------------------- */

enum { PICTURE_BYTES = 1 << 16 };

/* Its writable segments, those that are closed after relocating among them, and how they are mapped. */
typedef struct picture {
    const char *path;
    size_t bytes, begin, end;
    unsigned char memory[PICTURE_BYTES];
    char maps[4096];
} picture;

/* Is not looked at by AddressSanitizer, which allows nobody to read between variables. */
__attribute__((no_sanitize("address"))) static inline void
copy_unseen(unsigned char *to, const volatile unsigned char *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = from[i];
}

static inline int copy_segments(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    picture *picture = data;
    if (strcmp(info->dlpi_name, picture->path) != 0)
        return 0;
    picture->begin = SIZE_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const size_t begin = info->dlpi_addr + segment->p_vaddr, end = begin + segment->p_memsz;
        if (segment->p_type != PT_LOAD)
            continue;
        picture->begin = begin < picture->begin ? begin : picture->begin;
        picture->end = end > picture->end ? end : picture->end;
        if (!(segment->p_flags & PF_W) || picture->bytes + segment->p_memsz > PICTURE_BYTES)
            continue;
        copy_unseen(picture->memory + picture->bytes, (const volatile unsigned char *)begin,
                    segment->p_memsz);
        picture->bytes += segment->p_memsz;
    }
    return 1;
}

static inline void copy_maps(picture *picture)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    size_t begin, end, length = 0;
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%zx-%zx", &begin, &end) == 2 && begin < picture->end && end > picture->begin &&
            length + strlen(line) < sizeof picture->maps)
            length += (size_t)sprintf(picture->maps + length, "%s", line);
    if (maps)
        fclose(maps);
}

static inline picture *take_picture(const module *module)
{
    picture *taken = calloc(1, sizeof *taken);
    taken->path = module->path;
    dl_iterate_phdr(copy_segments, taken);
    copy_maps(taken);
    CHECK(taken->bytes > 0 && *taken->maps, "%s is not in the process", module->path);
    return taken;
}

/* The number of words that differ. */
static inline int compare_pictures(const picture *left, const picture *right)
{
    int different = 0;
    for (size_t at = 0; at + sizeof(void *) <= left->bytes; at += sizeof(void *))
        different += memcmp(left->memory + at, right->memory + at, sizeof(void *)) != 0;
    return different + (left->bytes != right->bytes);
}

#endif
