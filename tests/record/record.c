/* Prints the record of a library.
 *
 *   record sim|gpu LIBRARY [GROUP]...
 *
 * LIBRARY is the file of a build's libtileblas, for sim the one on the simulated device. A line is
 *
 *   id | the case | the plan | the device's copies, where it is simulated | hash of C | what the library said
 *
 * The plan comes without forecasts, which are measured. Data come from a seed of the case's shape. Each group of cases is a
 * process of its own, which knows by RECORD_GROUP that it is one. A group of doubles is called d-GROUP.
 */
#include "record.h"

#include "place.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A group that has taken so many seconds hangs. */
#define GROUP_SECONDS 300

/* A group of cases with one of its elements. */
typedef struct run {
    const record_group *group;
    tb_element element;
    bool simulated;
    char name[64];
} run;

static run make_run(const record_group *group, char element, bool simulated)
{
    run made = {.group = group, .element = element == 'd' ? TB_FP64 : TB_FP32, .simulated = simulated};
    snprintf(made.name, sizeof made.name, "%s%s", element == 'd' ? "d-" : "", group->name);
    return made;
}

static int run_group(const run *run, const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    if (!library) {
        fprintf(stderr, "record: %s\n", dlerror());
        return EXIT_FAILURE;
    }
    if (!place_open(run->simulated, library))
        return EXIT_FAILURE;
    record_begin(run->name, run->element, library);
    alarm(GROUP_SECONDS);
    run->group->run(run->simulated);
    return EXIT_SUCCESS;
}

extern char **environ;

/* Nothing that is measured, remembered or loaded beside the program has a say, nor what the caller's environment asks for, nor
 * which of two devices comes first, on which depends what they bring for each other. A host BLAS is the library's own loop
 * unless the group says otherwise. */
static void set_environment(const run *run)
{
    const record_group *group = run->group;
    /* The host's loops know no machine; products for a real device are too large for them. */
    const char *const common[] = {"CALIBRATE=0",
                                  "START=wait",
                                  "KEEP_SECONDS=3600",
                                  "OPERAND_CACHE=0",
                                  "COPY_THREADS=4",
                                  "SIM_REACH=0",
                                  record_server() ? record_server() : "SERVER=never",
                                  run->simulated ? "HOST_BLAS=/nonexistent" : "HOST_BLAS="};
    char name[64];
    for (char **variable = environ; *variable;) {
        const size_t length = strcspn(*variable, "=");
        if (strncmp(*variable, "TILEBLAS_", 9) == 0 && length < sizeof name) {
            memcpy(name, *variable, length);
            name[length] = '\0';
            unsetenv(name);
            variable = environ;
        } else {
            variable++;
        }
    }
    setenv("XDG_CACHE_HOME", "/nonexistent", 1); /* where the user's profile is looked for */
    setenv("OPENBLAS_NUM_THREADS", "1", 1); /* a product that is shared by threads is summed up otherwise */
    const char *const *own =
        !run->simulated && group->environment_gpu[0] ? group->environment_gpu : group->environment;
    for (size_t i = 0; i < sizeof common / sizeof *common + 4; i++) {
        const size_t count = sizeof common / sizeof *common;
        const char *setting = i < count ? common[i] : own[i - count];
        if (!setting)
            break;
        const size_t length = strcspn(setting, "=");
        snprintf(name, sizeof name, "TILEBLAS_%.*s", (int)length, setting);
        setenv(name, setting + length + 1, 1);
    }
    setenv("RECORD_GROUP", run->name, 1);
}

/* What was said last by a process that came to a bad end. */
static void print_end(const run *run, int status, FILE *said)
{
    char line[512];
    printf("%s.end | %s %d\n", run->name, WIFSIGNALED(status) ? "ended by signal" : "exit status",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    rewind(said);
    while (fgets(line, sizeof line, said))
        fprintf(stderr, "%s: %s", run->name, line);
}

static bool run_process(const run *run, char **arguments)
{
    FILE *said = tmpfile();
    fflush(stdout);
    const pid_t child = said ? fork() : -1;
    if (child == 0) {
        set_environment(run);
        dup2(fileno(said), STDERR_FILENO);
        execv("/proc/self/exe", arguments);
        _exit(127);
    }
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) < 0) {
        fprintf(stderr, "record: no process for %s\n", run->name);
        return false;
    }
    if (status != 0)
        print_end(run, status, said);
    fclose(said);
    return status == 0;
}

static bool is_wanted(const run *run, int count, char **names)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], run->name) == 0)
            return true;
    return count == 0;
}

int main(int argc, char **argv)
{
    if (argc < 3 || (strcmp(argv[1], "sim") != 0 && strcmp(argv[1], "gpu") != 0)) {
        fprintf(stderr, "usage: record sim|gpu LIBRARY [GROUP]...\n");
        return 2;
    }
    const bool simulated = strcmp(argv[1], "sim") == 0;
    const char *own = getenv("RECORD_GROUP");
    bool well = true;
    for (size_t i = 0; i < record_group_count; i++)
        for (const char *element = record_groups[i].elements; *element; element++) {
            const run run = make_run(&record_groups[i], *element, simulated);
            if (own && strcmp(own, run.name) == 0)
                return run_group(&run, argv[2]);
            if (!own && is_wanted(&run, argc - 3, argv + 3))
                well = run_process(&run, argv) && well;
        }
    return well ? EXIT_SUCCESS : EXIT_FAILURE;
}
