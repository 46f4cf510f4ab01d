/* The user's profile. An input that begins with an empty line is a whole file; others follow on the first
 * lines of this machine's. */
#include "lib/learning/learning.h"
#include "lib/learning/profile.h"
#include "tests/fuzz/fuzz.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>

static char folder[PATH_MAX + 32], profile[PATH_MAX + 64], head[1024];

/* What is ignored is said at every input. */
bool __wrap_tb_log_to(int file, const char *format, ...);
bool __wrap_tb_log_to(int file, const char *format, ...)
{
    (void)file, (void)format;
    return true;
}

static void remove_folder(void)
{
    unlink(profile);
    *strrchr(profile, '/') = '\0';
    rmdir(profile);
    rmdir(folder);
}

/* A profile of this machine tells how it begins. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    if (!getcwd(folder, PATH_MAX) || !mkdtemp(strcat(folder, "/profile-XXXXXX")) ||
        setenv("XDG_CACHE_HOME", folder, 1) != 0 || !tb_profile_path(profile, sizeof profile) ||
        !tb_save_profile(profile, "device") || atexit(remove_folder) != 0)
        abort();
    FILE *file = fopen(profile, "re");
    if (!file || fread(head, 1, sizeof head - 1, file) == 0)
        abort();
    fclose(file);
    *strstr(head, "end\n") = '\0';
    return 0;
}

static void check_learned(void)
{
    for (tb_element element = 0; element < TB_ELEMENTS; element++)
        for (tb_learned kind = 0; kind < TB_LEARNED_KINDS; kind++)
            for (int class = 0; class < TB_LEARNED_CLASSES; class ++)
                if (!isfinite(tb_get_learned(element, kind, class)))
                    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const bool is_whole = size > 0 && data[0] == '\n';
    FILE *file = fopen(profile, "we");
    if (!file)
        abort();
    fputs(is_whole ? "" : head, file);
    fwrite(data + is_whole, 1, size - is_whole, file);
    fclose(file);
    tb_load_profile("device");
    check_learned();
    return 0;
}
