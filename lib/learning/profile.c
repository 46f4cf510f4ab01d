#include "lib/learning/profile.h"

#include "lib/process/c_locale.h"
#include "lib/learning/learning.h"
#include "lib/machine/cores.h"
#include "lib/user/log.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_KIND  "tileblas profile "
#define FIRST_LINE FILE_KIND "3"
#define LAST_LINE  "end"

enum { LINE_SIZE = 512, PATH_SIZE = 1024 };

static const char *const kind_names[TB_LEARNED_KINDS] = {
    [TB_LEARNED_HOST] = "host",
    [TB_LEARNED_PAGEABLE] = "pageable",
    [TB_LEARNED_PINNED] = "pinned",
    [TB_LEARNED_SHARED_PAGEABLE] = "sharedpageable",
    [TB_LEARNED_SHARED_PINNED] = "sharedpinned",
};

/* ---- Which machine ---------------------------------------------------------------------------------------- */

/* As /proc/cpuinfo has it, which some kernels take 10 ms to open, while a server's client waits. */
static bool ask_processor(char *name, size_t size)
{
#if defined(__x86_64__)
    unsigned words[3][4], *const last = words[2];
    if (!__get_cpuid(0x80000004, &last[0], &last[1], &last[2], &last[3]))
        return false;
    __cpuid(0x80000002, words[0][0], words[0][1], words[0][2], words[0][3]);
    __cpuid(0x80000003, words[1][0], words[1][1], words[1][2], words[1][3]);
    const char *text = (const char *)words;
    size_t first = 0, length = strnlen(text, sizeof words);
    while (first < length && text[first] == ' ')
        first++;
    while (length > first && text[length - 1] == ' ')
        length--;
    snprintf(name, size, "%.*s", (int)(length - first), text + first);
    return length > first;
#else
    (void)name, (void)size;
    return false;
#endif
}

/* The first "model name" of /proc/cpuinfo, or nothing: AArch64 kernels tell none. */
static void read_processor(char *name, size_t size)
{
    char line[LINE_SIZE];
    if (ask_processor(name, size))
        return;
    snprintf(name, size, "unnamed processor");
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && fgets(line, sizeof line, file)) {
        const char *value = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (value) {
            snprintf(name, size, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
            break;
        }
    }
    if (file)
        fclose(file);
}

static void describe_machine(const char *device, char *line, size_t size)
{
    char processor[LINE_SIZE / 2];
    read_processor(processor, sizeof processor);
    snprintf(line, size, "machine %s, %d cores, %.128s", processor, tb_allowed_cores(), device);
}

/* ---- Where ------------------------------------------------------------------------------------------------ */

bool tb_profile_path(char *path, size_t size)
{
    const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
    int length = -1;
    /* Relative ones are to be ignored, says the XDG Base Directory Specification. */
    if (cache && *cache == '/')
        length = snprintf(path, size, "%s/tileblas/profile", cache);
    else if (home && *home == '/')
        length = snprintf(path, size, "%s/.cache/tileblas/profile", home);
    return length > 0 && (size_t)length < size;
}

/* ---- Reading ---------------------------------------------------------------------------------------------- */

static bool read_line(FILE *file, char *line, size_t size)
{
    if (!fgets(line, (int)size, file))
        return false;
    size_t length = strcspn(line, "\n");
    bool whole = line[length] == '\n';
    line[length] = '\0';
    return whole;
}

/* As learning has them. */
typedef struct profile {
    float ratios[TB_ELEMENTS][TB_LEARNED_KINDS][TB_LEARNED_CLASSES];
} profile;

static tb_element element_named(char letter)
{
    tb_element element = 0;
    while (element < TB_ELEMENTS && tb_element_rows[element].letter != letter)
        element++;
    return element;
}

static tb_learned kind_named(const char *name)
{
    tb_learned kind = 0;
    while (kind < TB_LEARNED_KINDS && strcmp(kind_names[kind], name) != 0)
        kind++;
    return kind;
}

/* A line such as "S host 17 0.83". */
static bool read_ratio(const char *line, profile *profile)
{
    char letter, name[16];
    int class, length = 0;
    float ratio;
    if (sscanf(line, "%c %15[a-z] %d %f%n", &letter, name, &class, &ratio, &length) != 4 ||
        line[length] != '\0' || class < 0 || class >= TB_LEARNED_CLASSES || !(ratio > 0) || !(ratio < 1e6f))
        return false;
    const tb_element element = element_named(letter);
    const tb_learned kind = kind_named(name);
    if (element == TB_ELEMENTS || kind == TB_LEARNED_KINDS)
        return false;
    profile->ratios[element][kind][class] = ratio;
    return true;
}

typedef enum reading { READ, FOREIGN, OF_ANOTHER_VERSION, DAMAGED, READINGS } reading;

static const char *const objections[READINGS] = {
    [FOREIGN] = "it is another machine's",
    [OF_ANOTHER_VERSION] = "another version of TileBLAS has written it",
    [DAMAGED] = "it is damaged",
};

/* Nothing of a file that is damaged anywhere is believed. */
static reading read_profile(FILE *file, const char *device, profile *profile)
{
    char line[LINE_SIZE], machine[LINE_SIZE];
    describe_machine(device, machine, sizeof machine);
    if (!read_line(file, line, sizeof line) || strncmp(line, FILE_KIND, strlen(FILE_KIND)) != 0)
        return DAMAGED;
    if (strcmp(line, FIRST_LINE) != 0)
        return OF_ANOTHER_VERSION;
    if (!read_line(file, line, sizeof line))
        return DAMAGED;
    if (strcmp(line, machine) != 0)
        return FOREIGN;
    while (read_line(file, line, sizeof line)) {
        if (strcmp(line, LAST_LINE) == 0)
            return fgetc(file) == EOF ? READ : DAMAGED;
        if (!read_ratio(line, profile))
            return DAMAGED;
    }
    return DAMAGED;
}

static void suggest(const profile *profile)
{
    for (tb_element element = 0; element < TB_ELEMENTS; element++)
        for (tb_learned kind = 0; kind < TB_LEARNED_KINDS; kind++)
            for (int class = 0; class < TB_LEARNED_CLASSES; class ++)
                if (profile->ratios[element][kind][class] > 0)
                    tb_suggest_learned(element, kind, class, profile->ratios[element][kind][class]);
}

/* A pipe in its place is not waited for. */
static FILE *open_profile(const char *path)
{
    const int number = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    FILE *file = number < 0 ? NULL : fdopen(number, "r");
    if (number >= 0 && !file)
        close(number);
    return file;
}

void tb_load_profile(const char *device)
{
    char path[PATH_SIZE];
    profile profile = {0};
    FILE *file = tb_profile_path(path, sizeof path) ? open_profile(path) : NULL;
    if (!file)
        return;
    locale_t previous = tb_enter_c_locale();
    reading reading = read_profile(file, device, &profile);
    tb_leave_c_locale(previous);
    fclose(file);
    if (reading != READ) {
        tb_log("%s is ignored: %s", path, objections[reading]);
        return;
    }
    suggest(&profile);
}

/* ---- Writing ---------------------------------------------------------------------------------------------- */

static void write_ratios(FILE *file, tb_element element, tb_learned kind)
{
    for (int class = 0; class < TB_LEARNED_CLASSES; class ++) {
        const float ratio = tb_get_learned(element, kind, class);
        if (ratio > 0)
            fprintf(file, "%c %s %d %.6g\n", tb_element_rows[element].letter, kind_names[kind], class,
                    (double)ratio);
    }
}

static bool write_profile(FILE *file, const char *device)
{
    char machine[LINE_SIZE];
    describe_machine(device, machine, sizeof machine);
    fprintf(file, "%s\n%s\n", FIRST_LINE, machine);
    for (tb_element element = 0; element < TB_ELEMENTS; element++)
        for (tb_learned kind = 0; kind < TB_LEARNED_KINDS; kind++)
            write_ratios(file, element, kind);
    fprintf(file, "%s\n", LAST_LINE);
    return fflush(file) == 0 && !ferror(file);
}

/* The folders above the file, as far as they are missing. */
static void make_folders(const char *path)
{
    char folder[PATH_SIZE];
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        mkdir(folder, 0700);
    }
}

/* This process's own: not what somebody has put in its place, nor what another process is writing. */
static FILE *open_fresh(const char *path)
{
    unlink(path);
    const int number = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    FILE *file = number < 0 ? NULL : fdopen(number, "w");
    if (number >= 0 && !file)
        close(number);
    return file;
}

bool tb_save_profile(const char *path, const char *device)
{
    char fresh[PATH_SIZE];
    if ((size_t)snprintf(fresh, sizeof fresh, "%s.new-%ld", path, (long)getpid()) >= sizeof fresh) {
        errno = ENAMETOOLONG;
        return false;
    }
    make_folders(path);
    FILE *file = open_fresh(fresh);
    if (!file)
        return false;
    locale_t previous = tb_enter_c_locale();
    bool written = write_profile(file, device);
    tb_leave_c_locale(previous);
    written = fclose(file) == 0 && written && rename(fresh, path) == 0;
    if (!written)
        unlink(fresh);
    return written;
}
