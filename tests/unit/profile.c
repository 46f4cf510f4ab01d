/* A profile gives back what was learned of every element, kind and class, from where either variable says.
 * Another process keeps it, as what has been learned already stays.
 */
#include "lib/learning/learning.h"
#include "lib/learning/profile.h"
#include "tests/check.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static float ratio_of(tb_element element, tb_learned kind, int class)
{
    const int number = ((int)element * TB_LEARNED_KINDS + (int)kind) * TB_LEARNED_CLASSES + class;
    return 0.5f + (float)number / 64;
}

static void keep(const char *path)
{
    for (tb_element element = 0; element < TB_ELEMENTS; element++)
        for (tb_learned kind = 0; kind < TB_LEARNED_KINDS; kind++)
            for (int class = 0; class < TB_LEARNED_CLASSES; class ++)
                tb_suggest_learned(element, kind, class, ratio_of(element, kind, class));
    _exit(tb_save_profile(path, "device") ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* Where the test runs, which is the build's own folder: variables want absolute paths. */
static void make_folder(char folder[PATH_MAX])
{
    static const char name[] = "/profile-XXXXXX";
    if (!getcwd(folder, PATH_MAX - sizeof name) || !mkdtemp(strcat(folder, name)))
        SKIP("no folder can be made here");
}

static void remove_profile(char *path, const char *folder)
{
    CHECK(unlink(path) == 0, "%s is not there", path);
    do
        *strrchr(path, '/') = '\0';
    while (rmdir(path) == 0 && strcmp(path, folder) != 0);
}

/* The processor has the name that people know it by. */
static void check_name(const char *path)
{
    char line[512], model[512] = "";
    FILE *information = fopen("/proc/cpuinfo", "r"), *profile = fopen(path, "r");
    while (information && !*model && fgets(line, sizeof line, information))
        if (sscanf(line, "model name : %511[^\n]", model) != 1)
            *model = '\0';
    if (*model && profile) {
        CHECK(fgets(line, sizeof line, profile) && fgets(line, sizeof line, profile) &&
                  strncmp(line, "machine ", 8) == 0 && strncmp(line + 8, model, strlen(model)) == 0,
              "%s of %s", line, model);
        fclose(profile);
    }
    if (information)
        fclose(information);
}

int main(void)
{
    static const struct {
        const char *variable, *place;
    } cases[] = {{"XDG_CACHE_HOME", "/tileblas/profile"}, {"HOME", "/.cache/tileblas/profile"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char folder[PATH_MAX], path[PATH_MAX + 32], expected[PATH_MAX + 32];
        make_folder(folder);
        unsetenv("XDG_CACHE_HOME");
        setenv(cases[i].variable, folder, 1);
        snprintf(expected, sizeof expected, "%s%s", folder, cases[i].place);
        CHECK(tb_profile_path(path, sizeof path) && strcmp(path, expected) == 0, "%s for %s", path, expected);
        const pid_t other = fork();
        if (other == 0)
            keep(path);
        int status = EXIT_FAILURE;
        CHECK(waitpid(other, &status, 0) == other && status == EXIT_SUCCESS, "it was not kept: %d", status);
        check_name(path);
        tb_load_profile("device");
        remove_profile(path, folder);
    }
    for (tb_element element = 0; element < TB_ELEMENTS; element++)
        for (tb_learned kind = 0; kind < TB_LEARNED_KINDS; kind++)
            for (int class = 0; class < TB_LEARNED_CLASSES; class ++) {
                const float ratio = tb_get_learned(element, kind, class),
                            kept = ratio_of(element, kind, class);
                CHECK(fabsf(ratio / kept - 1) < 1e-4f, "element %d, kind %d, class %d: %g, kept %g", element,
                      kind, class, (double)ratio, (double)kept);
            }
    return check_result();
}
