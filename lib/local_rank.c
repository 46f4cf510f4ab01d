#include "lib/local_rank.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int local_rank = -1;

/* Open MPI, MPICH and Intel MPI, MVAPICH2, Slurm. */
static void read_environment(void)
{
    static const char *const variables[] = {
        "OMPI_COMM_WORLD_LOCAL_RANK",
        "MPI_LOCALRANKID",
        "MV2_COMM_WORLD_LOCAL_RANK",
        "SLURM_LOCALID",
    };
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = secure_getenv(variables[i]);
        char *end;
        long rank = value ? strtol(value, &end, 10) : -1;
        if (value && end != value && *end == '\0' && rank >= 0 && rank < 1 << 20) {
            local_rank = (int)rank;
            return;
        }
    }
}

int tb_local_rank(void)
{
    pthread_once(&once, read_environment);
    return local_rank;
}
