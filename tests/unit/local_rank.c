/* Which rank of this host a process is, as parallel programs' launchers tell it in the environment. */
#include "lib/machine/local_rank.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* "NAME=value NAME=value"; what an MPI that runs these tests may have set is taken away. */
static int rank_in(const char *environment)
{
    pid_t child = fork();
    if (child == 0) {
        char words[256], *rest = words;
        clearenv();
        snprintf(words, sizeof words, "%s", environment);
        for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL;) {
            char *value = strchr(word, '=');
            *value++ = '\0';
            setenv(word, value, 1);
        }
        _exit(tb_local_rank() & 0xff);
    }
    int status;
    waitpid(child, &status, 0);
    return (int8_t)WEXITSTATUS(status);
}

int main(void)
{
    static const struct {
        const char *environment;
        int rank;
    } cases[] = {
        {"HOME=/", -1},
        {"OMPI_COMM_WORLD_LOCAL_RANK=3 OMPI_COMM_WORLD_LOCAL_SIZE=4", 3},
        {"MPI_LOCALRANKID=1 MPI_LOCALNRANKS=2", 1},
        {"MV2_COMM_WORLD_LOCAL_RANK=2", 2},
        {"SLURM_LOCALID=3 SLURM_NTASKS=8 SLURM_STEP_NUM_TASKS=8", 3},
        {"SLURM_LOCALID=0 SLURM_NTASKS=8", -1}, /* the batch script, which may start workers of its own */
        {"SLURM_LOCALID=0 SLURM_NTASKS=8 SLURM_STEP_NUM_TASKS=1", -1},
        {"LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 SLURM_LOCALID=0 SLURM_STEP_NUM_TASKS=8", 1},
        {"SLURM_LOCALID=0 SLURM_STEP_NUM_TASKS=1", -1},
        {"OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=1", -1},
        {"SLURM_LOCALID=0 SLURM_STEP_NUM_TASKS=2 OMPI_COMM_WORLD_LOCAL_RANK=1", 1},
        {"OMPI_COMM_WORLD_LOCAL_RANK=x SLURM_LOCALID=-1", -1},
        {"MPI_LOCALRANKID=", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK(rank_in(cases[i].environment) == cases[i].rank, "%s: %d", cases[i].environment,
              rank_in(cases[i].environment));
    return check_result();
}
