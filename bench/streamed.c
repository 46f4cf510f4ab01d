/* bench/streamed [--routine NAME] [--size N|MxNxK] ... FILE [pageable|pinned] [CONTENDER ...]: products of
 * matrices in host memory, of SGEMM unless said otherwise (routine.h); of the sizes given, or of shapes of
 * every kind.
 *
 * The library's streamed route beside NVBLAS (as it comes, and tuned: pinning what it is given, tiles of
 * 4096), cublasXt, the plain sequence of copies and cuBLAS, the same with the operands' pages registered
 * instead of copied, OpenBLAS on all cores, and itself on one device where there are several. Its cache of
 * operands is off, but for two sides, whose operands are at every call as they were ("unchanged") or all new
 * ("changed"; the same without the cache is "changed-uncached"). And the floor, the longest of what either
 * way of the link and the library's own kernel need for the product, each measured alone in the same run.
 * Both ways of the link at once, as if nothing waited for anything, are measured too. Each side is a process
 * of its own (contender.h); they take turns; medians; random data; the first turns are not counted. A turn is
 * two calls where they are short, and the second is what counts: in the first one threads, caches and clocks
 * may have to wake up, which is told too. All in milliseconds. So is, of ordinary memory, what was resident
 * at most beside the operands.
 */
#include "bench/contender.h"
#include "bench/json.h"
#include "bench/sides.h"
#include "bench/timing.h"

#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CONTENDERS_MAXIMUM = 16, SHAPES_MAXIMUM = 16, TURNS_MAXIMUM = 11, WARM_UPS = 3 };

/* OpenBLAS's threads go on spinning after a call for 2^28 ticks, 0.13 s at 2 GHz. */
#define REST_SECONDS 0.2

typedef struct shape {
    int m, n, k;
} shape;

static const shape shapes[] = {
    {512, 512, 512},    {1024, 1024, 1024},    {2048, 2048, 2048}, {4096, 4096, 4096},
    {8192, 8192, 8192}, {16384, 16384, 16384}, {16384, 512, 512},  {512, 16384, 2048},
    {4096, 4096, 128},  {1024, 1024, 65536},   {65536, 64, 1024},
};

typedef struct contender {
    const char *name;
    pid_t process;
    FILE *to, *from; /* NULL: it is gone, or was never there */
    double median, median_first;
    double peak; /* bytes of host memory added to the process and its operands, at most; NaN when unknown */
} contender;

static contender contenders[CONTENDERS_MAXIMUM];
static int contender_count;
static const bench_routine *routine;

static void start(const char *program, contender *c)
{
    int to[2], from[2];
    /* Closed on exec, or the sides started later would hold them open. */
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) {
        perror("streamed");
        exit(1);
    }
    c->process = fork();
    if (c->process == 0) {
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        execl(program, "streamed", "--contender", c->name, routine->name, (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    c->peak = (double)NAN;
    c->to = fdopen(to[1], "w");
    c->from = fdopen(from[0], "r");
}

/* The answer to a request; false when the contender is gone. */
static bool ask(contender *c, const char *request, char *answer, int size)
{
    if (!c->to)
        return false;
    fputs(request, c->to);
    fflush(c->to);
    if (fgets(answer, size, c->from))
        return true;
    fclose(c->to);
    fclose(c->from);
    c->to = c->from = NULL;
    fprintf(stderr, "streamed: %s gave up\n", c->name);
    return false;
}

static void rest_after(const contender *c)
{
    if (strcmp(c->name, "openblas") == 0 || strncmp(c->name, "nvblas", 6) == 0)
        nanosleep(&(struct timespec){.tv_nsec = (long)(REST_SECONDS * 1e9)}, NULL);
}

static double run_once(contender *c)
{
    char answer[64];
    return ask(c, "run\n", answer, sizeof answer) ? atof(answer) : (double)NAN;
}

/* Turn after turn, each contender. */
static void measure(const shape *s, const char *memory)
{
    static double times[CONTENDERS_MAXIMUM][TURNS_MAXIMUM], first_times[CONTENDERS_MAXIMUM][TURNS_MAXIMUM];
    char request[96], answer[64];
    int turns = (double)s->m * s->n * s->k > 1e11 ? 5 : TURNS_MAXIMUM;
    snprintf(request, sizeof request, "prepare %d %d %d %s\n", s->m, s->n, s->k, memory);
    for (int i = 0; i < contender_count; i++)
        ask(&contenders[i], request, answer, sizeof answer);
    for (int turn = -WARM_UPS; turn < turns; turn++)
        for (int i = 0; i < contender_count; i++) {
            const double first = run_once(&contenders[i]);
            const double second = first < BENCH_LONG_SECONDS ? run_once(&contenders[i]) : first;
            if (turn >= 0) {
                first_times[i][turn] = first;
                times[i][turn] = second;
            }
            rest_after(&contenders[i]);
        }
    for (int i = 0; i < contender_count; i++) {
        contender *c = &contenders[i];
        c->median = c->to ? bench_median(times[i], (size_t)turns) : (double)NAN;
        c->median_first = c->to ? bench_median(first_times[i], (size_t)turns) : (double)NAN;
        double peak = 0;
        if (ask(c, "release\n", answer, sizeof answer) && sscanf(answer, "released %lf", &peak) == 1 &&
            peak >= 0)
            c->peak = fmax(c->peak, peak);
    }
}

static const contender *find(const char *name)
{
    static const contender nobody = {.median = (double)NAN, .median_first = (double)NAN};
    for (int i = 0; i < contender_count; i++)
        if (strcmp(contenders[i].name, name) == 0)
            return &contenders[i];
    return &nobody;
}

static double median_of(const char *name)
{
    return find(name)->median;
}

/* Two large kernels in a row may meet the device's power limit. */
static double least_of(const char *name)
{
    return fmin(find(name)->median, find(name)->median_first);
}

static void report_first(bench_json *json)
{
    bench_json_begin(json, "first_seconds", '{');
    for (int i = 0; i < contender_count; i++)
        bench_json_number(json, contenders[i].name, contenders[i].median_first);
    bench_json_end(json, '}');
}

static void report(bench_json *json, const shape *s, const char *memory)
{
    const double floor = fmax(fmax(least_of("link_in"), least_of("link_out")), least_of("kernel"));
    printf("%5dx%5dx%5d %-8s", s->m, s->n, s->k, memory);
    bench_json_begin(json, NULL, '{');
    bench_json_integer(json, "m", s->m);
    bench_json_integer(json, "n", s->n);
    bench_json_integer(json, "k", s->k);
    bench_json_text(json, "memory", memory);
    bench_json_number(json, "floor", floor);
    bench_json_begin(json, "seconds", '{');
    for (int i = 0; i < contender_count; i++) {
        printf(" %13.3f", 1e3 * contenders[i].median);
        bench_json_number(json, contenders[i].name, contenders[i].median);
    }
    bench_json_end(json, '}');
    report_first(json);
    bench_json_end(json, '}');
    printf(" | %6.2f of the floor, unchanged %.2f, %5.2f times copy-run-copy's speed; first calls %.3f\n",
           median_of("tileblas") / floor, median_of("unchanged") / floor,
           median_of("copy-run-copy") / median_of("tileblas"), 1e3 * find("tileblas")->median_first);
    fflush(stdout);
}

static void report_peaks(bench_json *json)
{
    printf("%-26s", "MiB of host memory added");
    bench_json_begin(json, "peak_host_bytes", '{');
    for (int i = 0; i < contender_count; i++) {
        printf(" %13.0f", contenders[i].peak / (1 << 20));
        bench_json_number(json, contenders[i].name, contenders[i].peak);
    }
    bench_json_end(json, '}');
    printf("\n");
}

static void choose_contenders(int count, char **names)
{
    for (const char *const *name = bench_contenders; *name; name++) {
        bool chosen = count == 0;
        for (int i = 0; i < count; i++)
            chosen = chosen || strcmp(names[i], *name) == 0;
        if (chosen)
            contenders[contender_count++].name = *name;
    }
}

static _Noreturn void explain_usage(void)
{
    fprintf(
        stderr,
        "usage: streamed [--routine NAME] [--size N|MxNxK] ... FILE.json [pageable|pinned] [CONTENDER ...]\n"
        "routines: %s\n",
        bench_routine_names());
    exit(2);
}

static shape read_shape(const char *text)
{
    shape given = {0};
    const int count = sscanf(text, "%dx%dx%d", &given.m, &given.n, &given.k);
    if (count == 1)
        given.n = given.k = given.m;
    if ((count != 1 && count != 3) || given.m < 1 || given.n < 1 || given.k < 1)
        explain_usage();
    return given;
}

/* The first of the arguments that are no options. */
static int read_options(int argc, char **argv, shape *given, int *given_count)
{
    static const struct option long_options[] = {
        {"routine", required_argument, NULL, 'r'}, {"size", required_argument, NULL, 's'}, {0}};
    routine = bench_find_routine("sgemm");
    for (int option; (option = getopt_long(argc, argv, "+", long_options, NULL)) != -1;)
        if (option == 's' && *given_count < SHAPES_MAXIMUM)
            given[(*given_count)++] = read_shape(optarg);
        else if (option != 'r' || !(routine = bench_find_routine(optarg)))
            explain_usage();
    return optind;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--contender") == 0)
        return bench_serve(argv[2], argv[3]);
    shape given[SHAPES_MAXIMUM];
    int given_count = 0;
    const int first = read_options(argc, argv, given, &given_count);
    if (argc <= first)
        explain_usage();
    const shape *measured = given_count > 0 ? given : shapes;
    const int measured_count = given_count > 0 ? given_count : (int)(sizeof shapes / sizeof *shapes);
    const char *memory = argc > first + 1 ? argv[first + 1] : "pageable";
    choose_contenders(argc > first + 2 ? argc - first - 2 : 0, argv + first + 2);
    FILE *file = fopen(argv[first], "w");
    if (!file) {
        perror(argv[first]);
        return 1;
    }
    printf("%-26s", routine->name);
    for (int i = 0; i < contender_count; i++) {
        start("/proc/self/exe", &contenders[i]);
        printf(" %13s", contenders[i].name);
    }
    printf("\n");
    bench_json json = bench_json_to(file);
    bench_json_begin(&json, NULL, '{');
    bench_json_text(&json, "routine", routine->name);
    bench_json_begin(&json, "products", '[');
    for (int i = 0; i < measured_count; i++) {
        if (!bench_has_product(routine, false, bench_updates(routine), measured[i].m, measured[i].n))
            continue;
        measure(&measured[i], memory);
        report(&json, &measured[i], memory);
    }
    bench_json_end(&json, ']');
    report_peaks(&json);
    bench_json_end(&json, '}');
    for (int i = 0; i < contender_count; i++) {
        if (contenders[i].to)
            fclose(contenders[i].to);
        waitpid(contenders[i].process, NULL, 0);
    }
    return fclose(file) == 0 ? 0 : 1;
}
