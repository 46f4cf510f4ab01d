#include "lib/machine/local_rank.h"

#include "lib/process/threads.h"

#include <stdbool.h>
#include <stdlib.h>

static tb_once once = TB_ONCE;
static int local_rank = -1;

/* A whole number of an environment variable; -1 when it is none. */
static int read_number(const char *variable)
{
    const char *value = secure_getenv(variable);
    char *end;
    long number = value ? strtol(value, &end, 10) : -1;
    return value && end != value && *end == '\0' && number >= 0 && number < 1 << 20 ? (int)number : -1;
}

/* Open MPI, MPICH and Intel MPI, MVAPICH2, torchrun, Slurm: which rank of this host, and of how many at most. A single process
 * that a batch system started is no rank among others; nor is a batch script, which Slurm numbers as if it were the first of all
 * tasks, though it runs them only by srun, as a step. */
static void read_environment(void)
{
    static const struct {
        const char *rank, *ranks;
        bool tells_ranks; /* always */
    } launchers[] = {
        {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", false},
        {"MPI_LOCALRANKID", "MPI_LOCALNRANKS", false},
        {"MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE", false},
        {"LOCAL_RANK", "LOCAL_WORLD_SIZE", false},
        {"SLURM_LOCALID", "SLURM_STEP_NUM_TASKS", true},
    };
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        int rank = read_number(launchers[i].rank), ranks = read_number(launchers[i].ranks);
        if (rank >= 0 && (ranks > 1 || (ranks < 0 && !launchers[i].tells_ranks))) {
            local_rank = rank;
            return;
        }
    }
}

int tb_local_rank(void)
{
    tb_do_once(&once, read_environment);
    return local_rank;
}
