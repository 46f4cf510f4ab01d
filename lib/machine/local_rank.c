#include "lib/machine/local_rank.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
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
 * that a batch system started is no rank among others. */
static void read_environment(void)
{
    static const struct {
        const char *rank, *ranks;
    } launchers[] = {
        {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
        {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
        {"MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"},
        {"LOCAL_RANK", "LOCAL_WORLD_SIZE"},
        {"SLURM_LOCALID", "SLURM_NTASKS"},
    };
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        int rank = read_number(launchers[i].rank), ranks = read_number(launchers[i].ranks);
        if (rank >= 0 && ranks != 0 && ranks != 1) {
            local_rank = rank;
            return;
        }
    }
}

int tb_local_rank(void)
{
    pthread_once(&once, read_environment);
    return local_rank;
}
