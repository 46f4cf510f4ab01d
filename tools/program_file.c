#include "tools/program_file.h"

#include "lib/reports/bindings.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#else
#error "x86-64 and AArch64 only"
#endif

/* A script may name a script as its interpreter, but not for ever. */
#define SCRIPTS_MOST 4

typedef struct image {
    const unsigned char *bytes;
    size_t size;
} image;

/* count entries of the given size at an offset; NULL when the file does not reach that far. */
static const void *entries(const image *image, uint64_t offset, uint64_t count, size_t size)
{
    if (offset > image->size || count > (image->size - offset) / size || offset % 8 != 0)
        return NULL;
    return image->bytes + offset;
}

static void look_for_gemm(const image *image, const Elf64_Shdr *sections, size_t section_count,
                          const Elf64_Shdr *table, program_file *file)
{
    if (table->sh_link >= section_count)
        return;
    const Elf64_Shdr *names = &sections[table->sh_link];
    size_t count = table->sh_size / sizeof(Elf64_Sym);
    const Elf64_Sym *symbols = entries(image, table->sh_offset, count, sizeof *symbols);
    if (!symbols || names->sh_offset > image->size || names->sh_size > image->size - names->sh_offset)
        return;
    const char *strings = (const char *)image->bytes + names->sh_offset;
    if (names->sh_size == 0 || strings[names->sh_size - 1] != '\0')
        return;
    for (size_t i = 0; i < count; i++) {
        unsigned type = ELF64_ST_TYPE(symbols[i].st_info);
        if (symbols[i].st_shndx == SHN_UNDEF || symbols[i].st_name >= names->sh_size ||
            (type != STT_FUNC && type != STT_GNU_IFUNC))
            continue;
        if (tb_is_taken_over(strings + symbols[i].st_name)) {
            file->holds_gemm = true;
            file->exports_gemm = file->exports_gemm || table->sh_type == SHT_DYNSYM;
        }
    }
}

/* A file has one table of either kind, says ELF: one that names the same symbols over and over would take for ever. */
static void look_into_first(const image *image, const Elf64_Shdr *sections, size_t section_count,
                            uint32_t type, program_file *file)
{
    for (size_t i = 0; i < section_count; i++)
        if (sections[i].sh_type == type) {
            look_for_gemm(image, sections, section_count, &sections[i], file);
            return;
        }
}

static void read_elf(const image *image, program_file *file)
{
    const Elf64_Ehdr *header = (const void *)image->bytes;
    file->is_elf = true;
    file->is_foreign = image->size < sizeof *header || header->e_ident[EI_CLASS] != ELFCLASS64 ||
                       header->e_machine != OWN_MACHINE;
    if (file->is_foreign)
        return;
    /* Programs that the dynamic linker brings up name it; of a shared library this says nothing. */
    const Elf64_Phdr *segments = entries(image, header->e_phoff, header->e_phnum, sizeof *segments);
    bool has_linker = false;
    for (size_t i = 0; segments && i < header->e_phnum; i++)
        has_linker = has_linker || segments[i].p_type == PT_INTERP;
    file->is_static = !has_linker;

    const Elf64_Shdr *sections = entries(image, header->e_shoff, header->e_shnum, sizeof *sections);
    if (sections) {
        look_into_first(image, sections, header->e_shnum, SHT_SYMTAB, file);
        look_into_first(image, sections, header->e_shnum, SHT_DYNSYM, file);
    }
}

static bool has_raised_rights(const char *path, const struct stat *status)
{
    return ((status->st_mode & S_ISUID) && status->st_uid != getuid()) ||
           ((status->st_mode & S_ISGID) && status->st_gid != getgid()) ||
           (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}

/* "#!/usr/bin/env python3" to "/usr/bin/env". */
static bool read_interpreter(const image *image, char *path, size_t size)
{
    const size_t reach = image->size < size + 2 ? image->size : size + 2;
    size_t start = 2, end;
    while (start < reach && (image->bytes[start] == ' ' || image->bytes[start] == '\t'))
        start++;
    for (end = start; end < reach && !strchr(" \t\r\n", image->bytes[end]); end++)
        ;
    return end > start && snprintf(path, size, "%.*s", (int)(end - start), image->bytes + start) < (int)size;
}

static bool inspect(const char *path, program_file *file, int scripts_left)
{
    struct stat status;
    char interpreter[PATH_MAX];
    *file = (program_file){.is_elf = false};
    if (snprintf(file->path, sizeof file->path, "%s", path) >= (int)sizeof file->path)
        return false;
    /* A path in a report may be a pipe's, and nobody would ever write to it. */
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        return false;
    image image = {0};
    bool readable = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
    if (readable) {
        void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        readable = bytes != MAP_FAILED;
        image.bytes = bytes;
        image.size = (size_t)status.st_size;
    }
    close(descriptor);
    if (!readable)
        return false;
    file->has_raised_rights = has_raised_rights(path, &status);
    bool is_script = image.size > 2 && memcmp(image.bytes, "#!", 2) == 0 &&
                     read_interpreter(&image, interpreter, sizeof interpreter);
    if (image.size > SELFMAG && memcmp(image.bytes, ELFMAG, SELFMAG) == 0)
        read_elf(&image, file);
    munmap((void *)image.bytes, image.size);
    return !is_script || scripts_left == 0 || inspect(interpreter, file, scripts_left - 1);
}

bool program_inspect(const char *path, program_file *file)
{
    return inspect(path, file, SCRIPTS_MOST);
}

bool program_find(const char *name, char *path, size_t size)
{
    if (strchr(name, '/'))
        return snprintf(path, size, "%s", name) < (int)size && access(path, F_OK) == 0;
    const char *folder = getenv("PATH");
    if (!folder)
        folder = "/bin:/usr/bin";
    for (;;) {
        size_t length = strcspn(folder, ":");
        int written = snprintf(path, size, "%.*s%s%s", (int)length, folder, length ? "/" : "", name);
        if (written < (int)size && access(path, X_OK) == 0)
            return true;
        if (!folder[length])
            return false;
        folder += length + 1;
    }
}
