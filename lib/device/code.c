#include "lib/device/code.h"

#include "lib/user/log.h"
#include "tb_code_identity.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where this library or program has it itself; NULL in the others. */
extern const tb_code tb_own_code __attribute__((weak, visibility("hidden")));

/* From a library's folder or a program's: beside it, as built and as installed; a system's BLAS is one folder further in. */
static const char *const folders[] = {".", "..", "../" TB_LIBDIR, "../lib", "../lib64"};

static const tb_code *found;
static char found_in[PATH_MAX];
static bool has_looked;

/* ---- Where this is -------------------------------------------------------------------------------------- */

/* Whether the address lies in what a line of /proc/self/maps tells of: "start-end mode offset device inode path". */
static bool is_own(const char *line, const char **path)
{
    uintptr_t start, end;
    int before_path = 0;
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*s %*s %*s %n", &start, &end, &before_path) != 2)
        return false;
    *path = line + before_path;
    return (uintptr_t)folders >= start && (uintptr_t)folders < end && **path == '/';
}

/* The kernel is asked, since what the dynamic linker knows is the name by which a library was loaded: that may be relative to a
 * folder which the program has left, or a symbolic link. */
static bool find_own_file(char *path, size_t size)
{
    char line[PATH_MAX + 128];
    const char *name = NULL;
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps)
        return false;
    while (fgets(line, sizeof line, maps) && !is_own(line, &name))
        name = NULL;
    fclose(maps);
    return name && snprintf(path, size, "%.*s", (int)strcspn(name, "\n"), name) < (int)size;
}

/* ---- Code in another file ------------------------------------------------------------------------------- */

static bool lies_within(uint64_t bytes, uint64_t start, uint64_t length)
{
    return start <= bytes && length <= bytes - start;
}

static bool has_code(const char *file, size_t bytes, const ElfW(Shdr) * section)
{
    return section->sh_type == SHT_PROGBITS && section->sh_size >= sizeof(tb_code) &&
           lies_within(bytes, section->sh_offset, section->sh_size) &&
           memcmp(file + section->sh_offset, TB_CODE_IDENTITY, sizeof TB_CODE_IDENTITY - 1) == 0;
}

/* The section of a file in memory that begins with our identity. */
static const tb_code *find_section(const char *file, size_t bytes)
{
    const ElfW(Ehdr) *header = (const void *)file;
    if (bytes < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_shentsize != sizeof(ElfW(Shdr)) ||
        !lies_within(bytes, header->e_shoff, header->e_shnum * sizeof(ElfW(Shdr))))
        return NULL;
    const ElfW(Shdr) *sections = (const void *)(file + header->e_shoff);
    for (int i = 0; i < header->e_shnum; i++)
        if (has_code(file, bytes, &sections[i]))
            return (const void *)(file + sections[i].sh_offset);
    return NULL;
}

/* Stays mapped where it has the code. Pages are read when the driver asks for them. */
static const tb_code *open_file(const char *path)
{
    struct stat is;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return NULL;
    void *mapped = MAP_FAILED;
    if (fstat(file, &is) == 0 && is.st_size > 0)
        mapped = mmap(NULL, (size_t)is.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (mapped == MAP_FAILED)
        return NULL;
    const tb_code *code = find_section(mapped, (size_t)is.st_size);
    if (!code)
        munmap(mapped, (size_t)is.st_size);
    return code;
}

static const tb_code *look_beside(const char *own_file)
{
    char path[2 * PATH_MAX];
    const int folder = (int)(strrchr(own_file, '/') - own_file);
    const tb_code *code = NULL;
    for (size_t i = 0; i < sizeof folders / sizeof *folders && !code; i++) {
        snprintf(path, sizeof path, "%.*s/%s/" TB_CODE_HOLDER, folder, own_file, folders[i]);
        code = open_file(path);
    }
    if (code && !realpath(path, found_in))
        *found_in = '\0';
    return code;
}

/* ---- For the device ------------------------------------------------------------------------------------- */

tb_status tb_open_code(void)
{
    char own_file[PATH_MAX];
    if (&tb_own_code) {
        found = &tb_own_code;
        return TB_OK;
    }
    has_looked = true;
    const bool is_known = find_own_file(own_file, sizeof own_file);
    if (is_known && (found = look_beside(own_file)))
        return TB_OK;
    tb_log("products stay on the CPU: the device code is in " TB_CODE_HOLDER
           " of the same build, which is not beside %s",
           is_known ? own_file : "this library");
    return TB_NO_DEVICE;
}

const void *tb_find_binary(const char *name)
{
    return found ? tb_binary_in(found, name) : NULL;
}

const char *tb_code_file(void)
{
    return has_looked ? found_in : NULL;
}
