/* Processes that multiply operands by a server's device, each with a copy of them of its own; and how many of their bytes cross the link.
 *
 * Header only, for programs that are linked with the library and the simulated device.
 */
#ifndef TEST_SENDING_CLIENT_H
#define TEST_SENDING_CLIENT_H

#include "include/tileblas.h"
#include "tests/server/running_server.h"

/* Slots of 128 KiB: A takes four and B half of one. In the changed row only column 96 has a sample. */
#define PINNED_MIB "1"
enum { M = 256, N = 256, K = 512, CHILD_SECONDS = 60, CHANGED_ROW = 20, SLOT_COLUMNS = 128 };

#define A_BYTES (4.0 * M * K)
#define B_BYTES (4.0 * K * N)
#define C_BYTES (4.0 * M * N)

void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                 int);

static uint64_t operand_seed;

/* ---- Operands --------------------------------------------------------------------------------------------- */

typedef struct operands {
    float *a, *b;
} operands;

/* Integers, so that each order of summation gives the same; others for each number. */
static inline operands make(uint64_t number)
{
    check_random random = {operand_seed + number};
    operands made = {malloc((size_t)A_BYTES), malloc((size_t)B_BYTES)};
    for (int i = 0; i < M * K; i++)
        made.a[i] = (float)check_between(&random, -4, 4);
    for (int i = 0; i < K * N; i++)
        made.b[i] = (float)check_between(&random, -4, 4);
    return made;
}

static inline void discard(operands *made)
{
    free(made->a);
    free(made->b);
}

static inline void change_one_byte(operands *own)
{
    ((unsigned char *)(own->a + (size_t)(K - 3) * M + CHANGED_ROW))[1] ^= 1;
}

/* All but what lies in samples: of the last three of A's slots nothing is as it was. */
static inline void change_most(operands *own)
{
    for (int l = SLOT_COLUMNS; l < K; l++)
        own->a[(size_t)l * M + CHANGED_ROW] = 5;
}

/* In the first slot as well: the copy is taken for another operand's. */
static inline void change_everywhere(operands *own)
{
    own->a[3 * M + CHANGED_ROW] = 5;
    change_most(own);
}

/* ---- Products --------------------------------------------------------------------------------------------- */

static inline void prefer_server(void)
{
    tileblas_set_option("SERVER", "auto");
    tileblas_set_option("START", "wait");
    tileblas_set_option("ROUTE", "streamed");
    tileblas_set_option("PINNED_MEMORY", PINNED_MIB);
}

static inline int errors_of(const operands *of, const float *c)
{
    static float expected[M * N];
    memset(expected, 0, sizeof expected);
    for (int j = 0; j < N; j++)
        for (int l = 0; l < K; l++)
            for (int i = 0; i < M; i++)
                expected[i + j * M] += of->a[i + l * M] * of->b[l + j * K];
    int wrong = 0;
    for (int i = 0; i < M * N; i++)
        wrong += c[i] != expected[i];
    return wrong;
}

static inline void compute(const operands *of, float *c)
{
    for (int i = 0; i < M * N; i++)
        c[i] = -1;
    cblas_sgemm(102, 111, 111, M, N, K, 1, of->a, M, of->b, K, 0, c, M);
}

static inline void multiply_right(const operands *of, const char *when)
{
    static float c[M * N];
    compute(of, c);
    CHECK(errors_of(of, c) == 0, "%s: %d numbers are wrong", when, errors_of(of, c));
}

/* Bytes of A and B that crossed the link. */
static inline double multiply(const operands *of, const char *when)
{
    tileblas_statistics before, after;
    tileblas_read_statistics(&before, sizeof before);
    multiply_right(of, when);
    tileblas_read_statistics(&after, sizeof after);
    CHECK(after.streamed.calls == before.streamed.calls + 1, "%s: not streamed", when);
    return after.streamed.link_bytes - before.streamed.link_bytes - C_BYTES;
}

/* ---- Processes -------------------------------------------------------------------------------------------- */

typedef struct range {
    double least, most;
} range;

/* A process that multiplies the operands with a number so many times. */
typedef struct job {
    uint64_t number;
    int calls;
    range sent; /* bytes of A and B, by the first call */
    const char *when;
    void (*prepare)(operands *);
} job;

static inline void do_job(void *given)
{
    const job *job = given;
    prefer_server();
    operands own = make(job->number);
    if (job->prepare)
        job->prepare(&own);
    for (int i = 0; i < job->calls; i++) {
        const double sent = multiply(&own, job->when);
        CHECK(i > 0 || (sent >= job->sent.least && sent <= job->sent.most),
              "%s: %.0f bytes crossed the link, not %.0f to %.0f", job->when, sent, job->sent.least,
              job->sent.most);
        server_pause(0.005); /* the server's keys are in the wire by then */
    }
    discard(&own);
}

static const range nothing = {0, 0}, all = {A_BYTES + B_BYTES, A_BYTES + B_BYTES}, up_to_a = {0, A_BYTES};

/* Slots of A. */
static inline range slots(int count)
{
    return (range){count * A_BYTES / 4, count * A_BYTES / 4};
}

static inline void run_changed(uint64_t number, void (*prepare)(operands *), int calls, range sent,
                               const char *when)
{
    job given = {number, calls, sent, when, prepare};
    const child_end end = child_run(do_job, &given, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "%s: %s", when, child_end_text(end));
}

static inline void run(uint64_t number, int calls, range sent, const char *when)
{
    run_changed(number, NULL, calls, sent, when);
}

/* Copies are made after the call that they are of; and when a client has left is not known at once. */
static inline tb_welcome status_with(double kept, int clients)
{
    tb_welcome status = {0};
    for (int i = 0; i < 400 && tb_ask_status(&status, 5000) &&
                    ((double)status.kept_bytes[0] != kept || status.clients != clients);
         i++)
        server_pause(0.005);
    CHECK((double)status.kept_bytes[0] == kept, "copies have %.0f bytes, not %.0f",
          (double)status.kept_bytes[0], kept);
    CHECK(status.clients == clients, "%d clients, not %d", status.clients, clients);
    return status;
}

/* Multiplies twice, does something more, and stays until it is killed. */
static inline pid_t start_owner(uint64_t number, void (*then)(operands *))
{
    int ends[2];
    char byte = 0;
    if (pipe(ends) != 0)
        abort();
    fflush(stdout);
    const pid_t owner = fork();
    if (owner == 0) {
        prefer_server();
        operands own = make(number);
        multiply(&own, "the owner");
        multiply(&own, "the owner again");
        if (then)
            then(&own);
        (void)!write(ends[1], &byte, 1);
        for (;;)
            pause();
    }
    close(ends[1]);
    CHECK(read(ends[0], &byte, 1) == 1, "the owner has ended");
    close(ends[0]);
    return owner;
}

#endif
