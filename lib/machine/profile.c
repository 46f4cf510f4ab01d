#include "lib/machine/profile.h"

#include "lib/process/c_locale.h"
#include "lib/learning/learning.h"
#include "lib/reports/log.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_LINE "tileblas profile 1"
#define LAST_LINE  "end"

enum { LINE_SIZE = 512, PATH_SIZE = 1024 };

static const char *const kind_names[TB_LEARNED_KINDS] = {
    [TB_LEARNED_HOST] = "host",
    [TB_LEARNED_PAGEABLE] = "pageable",
    [TB_LEARNED_PINNED] = "pinned",
};

/* ---- Which machine ---------------------------------------------------------------------------------------- */

/* The first "model name" of /proc/cpuinfo, or nothing: AArch64 kernels tell none. */
static void read_processor(char *name, size_t size)
{
    char line[LINE_SIZE];
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
    cpu_set_t allowed;
    int cores = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
    read_processor(processor, sizeof processor);
    snprintf(line, size, "machine %s, %d cores, %.128s", processor, cores, device);
}

/* ---- Where ------------------------------------------------------------------------------------------------ */

static bool cache_folder(char *path, size_t size)
{
    const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
    int length = -1;
    /* Relative ones are to be ignored, says the XDG Base Directory Specification. */
    if (cache && *cache == '/')
        length = snprintf(path, size, "%s", cache);
    else if (home && *home == '/')
        length = snprintf(path, size, "%s/.cache", home);
    return length > 0 && (size_t)length < size;
}

bool tb_profile_path(char *path, size_t size)
{
    char folder[PATH_SIZE];
    if (!cache_folder(folder, sizeof folder))
        return false;
    int length = snprintf(path, size, "%s/tileblas/profile", folder);
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

/* A line such as "host 17 0.83". */
static bool read_ratio(const char *line, float ratios[TB_LEARNED_KINDS][TB_LEARNED_CLASSES])
{
    char kind[16];
    int class, length = 0;
    float ratio;
    if (sscanf(line, "%15[a-z] %d %f%n", kind, &class, &ratio, &length) != 3 || line[length] != '\0' ||
        class < 0 || class >= TB_LEARNED_CLASSES || !(ratio > 0) || !(ratio < 1e6f))
        return false;
    for (tb_learned row = 0; row < TB_LEARNED_KINDS; row++)
        if (strcmp(kind, kind_names[row]) == 0) {
            ratios[row][class] = ratio;
            return true;
        }
    return false;
}

typedef enum reading { READ, FOREIGN, DAMAGED } reading;

/* Nothing of a file that is damaged anywhere is believed. */
static reading read_profile(FILE *file, const char *device,
                            float ratios[TB_LEARNED_KINDS][TB_LEARNED_CLASSES])
{
    char line[LINE_SIZE], machine[LINE_SIZE];
    describe_machine(device, machine, sizeof machine);
    if (!read_line(file, line, sizeof line) || strcmp(line, FIRST_LINE) != 0)
        return DAMAGED;
    if (!read_line(file, line, sizeof line))
        return DAMAGED;
    if (strcmp(line, machine) != 0)
        return FOREIGN;
    while (read_line(file, line, sizeof line)) {
        if (strcmp(line, LAST_LINE) == 0)
            return fgetc(file) == EOF ? READ : DAMAGED;
        if (!read_ratio(line, ratios))
            return DAMAGED;
    }
    return DAMAGED;
}

void tb_load_profile(const char *device)
{
    char path[PATH_SIZE];
    float ratios[TB_LEARNED_KINDS][TB_LEARNED_CLASSES] = {{0}};
    FILE *file = tb_profile_path(path, sizeof path) ? fopen(path, "re") : NULL;
    if (!file)
        return;
    locale_t previous = tb_enter_c_locale();
    reading reading = read_profile(file, device, ratios);
    tb_leave_c_locale(previous);
    fclose(file);
    if (reading != READ) {
        tb_log("%s is ignored: %s", path, reading == FOREIGN ? "it is another machine's" : "it is damaged");
        return;
    }
    for (tb_learned kind = 0; kind < TB_LEARNED_KINDS; kind++)
        for (int class = 0; class < TB_LEARNED_CLASSES; class ++)
            if (ratios[kind][class] > 0)
                tb_suggest_learned(kind, class, ratios[kind][class]);
}

/* ---- Writing ---------------------------------------------------------------------------------------------- */

static bool write_profile(FILE *file, const char *device)
{
    char machine[LINE_SIZE];
    describe_machine(device, machine, sizeof machine);
    fprintf(file, "%s\n%s\n", FIRST_LINE, machine);
    for (tb_learned kind = 0; kind < TB_LEARNED_KINDS; kind++)
        for (int class = 0; class < TB_LEARNED_CLASSES; class ++)
            if (tb_get_learned(kind, class) > 0)
                fprintf(file, "%s %d %.6g\n", kind_names[kind], class, (double)tb_get_learned(kind, class));
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

bool tb_save_profile(const char *path, const char *device)
{
    char fresh[PATH_SIZE];
    if ((size_t)snprintf(fresh, sizeof fresh, "%s.new", path) >= sizeof fresh) {
        errno = ENAMETOOLONG;
        return false;
    }
    make_folders(path);
    FILE *file = fopen(fresh, "we");
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
