/* Whose BLAS answers a caller that has none among its dependencies, and what stays loaded of objects that have called.
 *
 *   hosts jumps BLAS JUMPER CALLER              through a pointer to a function that jumps to BLAS's
 *   hosts direct BLAS DIRECT                    by a name that nobody has, where BLAS has the function under another one
 *   hosts nearest N FILE FILE FILE              by a name that two of the files have, of which the N-th, from 0 on, answers
 *                                               the third
 *   hosts later BLAS DIRECT                     before there is a BLAS, and after
 *   hosts recovers BLAS DIRECT                  where BLAS is the machine's, and the first call comes when no descriptor is left
 *   hosts unloads PLUGIN SECOND                 each is unloaded after it has called; at one path, the second in the first's
 *                                               place
 *   hosts replaced BLAS PLUGIN BLAS PLUGIN      each plugin, linked with the BLAS before it, is loaded where the other one was
 *   hosts apart PLUGIN                          linked with TileBLAS, in a namespace of its own, which is closed
 *   hosts moves PLUGIN                          one with a BLAS of its own is unloaded, and loaded where it was not before
 *   hosts many PLUGIN                           thousands with a BLAS of their own, each loaded where none was before
 *   hosts notes BLAS DIRECT                     where the notes of BLAS lie nowhere in memory, as after an editor of such files
 *
 * All are opened RTLD_LOCAL. A BLAS is a fixture, which counts. Whatever else is loaded meanwhile is a fault.
 */
#include "tests/abi/fixture_blas.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition);                                  \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

enum { SMALL = 3, LARGE = 100 };

/* Some ticks of the coarse clock: calls that are looked at closely look for objects once a tick. */
enum { TICKS_MICROSECONDS = 20000 };

static void *open_locally(const char *path)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
    CHECK(library);
    return library;
}

static void *find(void *library, const char *name)
{
    void *address = dlsym(library, name);
    CHECK(address);
    return address;
}

static int count_object(struct dl_phdr_info *info, size_t size, void *count)
{
    (void)info;
    (void)size;
    ++*(int *)count;
    return 0;
}

static int count_objects(void)
{
    int count = 0;
    dl_iterate_phdr(count_object, &count);
    return count;
}

static int count_calls(void *blas)
{
    const fixture_state *state = find(blas, "fixture_blas");
    return state->fortran_calls;
}

typedef int call_through(void *function, int n);
typedef int call_directly(int n);

static void test_jumps(char **files)
{
    void *blas = open_locally(files[0]), *jumper = open_locally(files[1]), *caller = open_locally(files[2]);
    call_through *call;
    *(void **)&call = find(caller, "call_through");
    const int objects = count_objects();
    for (int i = 1; i <= 3; i++) {
        CHECK(call(find(jumper, "jump_sgemm"), i == 3 ? LARGE : SMALL));
        CHECK(count_calls(blas) == i);
    }
    CHECK(count_objects() == objects);
}

static call_directly *find_direct(void *module)
{
    call_directly *call;
    *(void **)&call = find(module, "call_directly");
    return call;
}

static void test_direct(char **files)
{
    void *blas = open_locally(files[0]);
    call_directly *call = find_direct(open_locally(files[1]));
    const int objects = count_objects();
    for (int i = 1; i <= 3; i++) {
        CHECK(call(i == 3 ? LARGE : SMALL));
        CHECK(count_calls(blas) == i);
    }
    CHECK(count_objects() == objects);
}

/* They are opened in this order. */
static void test_nearest(char **files)
{
    void *opened[3], *caller = NULL;
    const int nearest = atoi(files[0]);
    for (int i = 0; i < 3; i++) {
        opened[i] = open_locally(files[i + 1]);
        if (dlsym(opened[i], "call_directly"))
            caller = opened[i];
    }
    CHECK(find_direct(caller)(SMALL));
    for (int i = 0; i < 3; i++)
        CHECK(!dlsym(opened[i], "fixture_blas") || count_calls(opened[i]) == (i == nearest));
}

static void test_later(char **files)
{
    call_directly *call = find_direct(open_locally(files[1]));
    CHECK(call(SMALL) && call(LARGE));
    void *blas = open_locally(files[0]);
    usleep(TICKS_MICROSECONDS);
    for (int i = 1; i <= 3; i++)
        CHECK(call(i == 1 ? LARGE : SMALL) && count_calls(blas) == i);
}

static void test_recovers(char **files)
{
    call_directly *call = find_direct(open_locally(files[1]));
    int last = -1, opened;
    while ((opened = open("/dev/null", O_RDONLY)) >= 0)
        last = opened;
    CHECK(call(SMALL) && !dlopen(files[0], RTLD_LAZY | RTLD_NOLOAD));
    for (; last > STDERR_FILENO; last--)
        close(last);
    usleep(1200000); /* a search is made anew after a second */
    CHECK(call(SMALL));
    void *blas = dlopen(files[0], RTLD_LAZY | RTLD_NOLOAD);
    CHECK(blas && count_calls(blas) == 1);
}

static void copy(const char *from, const char *to)
{
    char command[8192];
    unsetenv("LD_PRELOAD"); /* for cp */
    snprintf(command, sizeof command, "cp %s %s.new && mv %s.new %s", from, to, to, to);
    CHECK(system(command) == 0);
}

/* Whether the plugin was unloaded when it was closed. */
static void use_plugin(const char *path, int expected)
{
    int told = 0, (*version)(int *);
    void *plugin = open_locally(path);
    call_directly *call = find_direct(plugin);
    *(void **)&version = find(plugin, "version");
    CHECK(version(&told) == expected);
    CHECK(call(SMALL) && call(LARGE) && call(SMALL));
    CHECK(dlclose(plugin) == 0);
    CHECK(told == expected);
}

static void test_unloads(char **files)
{
    char path[64];
    snprintf(path, sizeof path, "./plugin.%d.so", (int)getpid());
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 2; i++) {
            copy(files[i], path);
            use_plugin(path, i + 1);
        }
    unlink(path);
}

/* What was found for one plugin is not the other one's, whose calls come from the same addresses. Most objects are mapped where
 * another one has just been. */
static void test_replaced(char **files)
{
    enum { ROUNDS = 10 };
    void *blas[] = {open_locally(files[0]), open_locally(files[2])};
    call_directly *last = NULL;
    int replaced = 0;
    for (int round = 0; round < ROUNDS; round++) {
        void *plugin = open_locally(files[round % 2 * 2 + 1]);
        call_directly *call = find_direct(plugin);
        const int before = count_calls(blas[round % 2]);
        usleep(TICKS_MICROSECONDS);
        CHECK(call(LARGE) && call(SMALL) && count_calls(blas[round % 2]) == before + 2);
        replaced += call == last;
        last = call;
        CHECK(dlclose(plugin) == 0);
    }
    CHECK(replaced > 0);
}

static void test_moves(char **files)
{
    use_plugin(files[0], 1);
    /* What comes next is mapped elsewhere. */
    CHECK(mmap(NULL, 1 << 24, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
    void *plugin = open_locally(files[0]);
    CHECK(find_direct(plugin)(SMALL) && find_direct(plugin)(LARGE));
    CHECK(count_calls(plugin) == 2);
}

enum { ROOM = 1 << 20 };
static _Alignas(ElfW(Ehdr)) char code[ROOM];

static size_t read_code(const char *path)
{
    FILE *file = fopen(path, "rb");
    const size_t size = file ? fread(code, 1, ROOM, file) : 0;
    CHECK(size > 0 && size < ROOM && fclose(file) == 0);
    return size;
}

/* What is read last, as an object of its own. */
static void *open_code(size_t size)
{
    static int number;
    char path[64];
    snprintf(path, sizeof path, "./plugin.%d.%d.so", (int)getpid(), number++);
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(code, 1, size, file) == size && fclose(file) == 0);
    void *library = open_locally(path);
    unlink(path);
    return library;
}

/* None is unloaded, as where a simulation has many models. */
static void test_many(char **files)
{
    enum { MANY = 1030 };
    const size_t size = read_code(files[0]);
    for (int i = 0; i < MANY; i++) {
        void *plugin = open_code(size);
        CHECK(find_direct(plugin)(SMALL) && count_calls(plugin) == 1);
    }
}

static void test_notes(char **files)
{
    const size_t size = read_code(files[0]);
    const ElfW(Ehdr) *header = (void *)code;
    ElfW(Phdr) *segments = (void *)(code + header->e_phoff);
    int notes = 0;
    for (int i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_NOTE) {
            segments[i].p_vaddr = (ElfW(Addr))1 << 40;
            segments[i].p_memsz = 256;
            notes++;
        }
    CHECK(notes > 0);
    void *blas = open_code(size);
    call_directly *call = find_direct(open_locally(files[1]));
    CHECK(call(SMALL) && call(LARGE) && count_calls(blas) == 2);
}

static void test_apart(char **files)
{
    void *plugin = dlmopen(LM_ID_NEWLM, files[0], RTLD_LAZY);
    if (!plugin)
        fprintf(stderr, "%s\n", dlerror());
    CHECK(plugin);
    CHECK(find_direct(plugin)(SMALL) && find_direct(plugin)(LARGE));
    CHECK(dlclose(plugin) == 0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int files;
        void (*test)(char **files);
    } tests[] = {{"jumps", 3, test_jumps}, {"direct", 2, test_direct},     {"nearest", 4, test_nearest},
                 {"later", 2, test_later}, {"recovers", 2, test_recovers}, {"unloads", 2, test_unloads},
                 {"moves", 1, test_moves}, {"replaced", 4, test_replaced}, {"apart", 1, test_apart},
                 {"many", 1, test_many},   {"notes", 2, test_notes}};
    for (size_t i = 0; argc > 1 && i < sizeof tests / sizeof *tests; i++)
        if (strcmp(argv[1], tests[i].name) == 0 && argc == tests[i].files + 2) {
            tests[i].test(argv + 2);
            return 0;
        }
    fprintf(stderr, "hosts: no such test\n");
    return 2;
}
