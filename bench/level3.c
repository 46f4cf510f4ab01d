/* level3: level 3 of BLAS as programs call it, operands in device memory, against cuBLAS; with --host operands in ordinary
 * memory, against OpenBLAS on all cores. Both sides take turns in one run; times are those of whole calls, until the result
 * is there. Prints a line for each routine and size, and the geometric mean of a routine's ratios.
 *
 *   bench/level3 [--host] [--routine NAME,NAME...] [--size N,N...] [--columns N] [--right] [--apart] [--seconds SECONDS]
 *
 * Matrices are square, and of each routine one of the cases that programs call most is taken: no transposition, the left side,
 * the lower triangle, alpha 1 and beta 0. --seconds are spent on each product and side. Of TRMM and TRSM, --columns says how
 * many right-hand sides there are, --right that the triangle stands on their right, and --apart that cuBLAS's TRMM, which can,
 * writes into another matrix than it reads. Their triangle is nearly one matrix: what is computed again and again stays finite.
 */
#include "bench/routine.h"
#include "bench/timing.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* One product's matrices, and where either side writes. */
typedef struct operands {
    int n;
    int rows, columns; /* of C; the same but for what happens in its place */
    bool right, apart;
    void *a, *b, *c[2];
} operands;

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "level3: %s failed\n", what);
    exit(1);
}

static bool is_in_place(const bench_routine *routine)
{
    return routine->class == TB_CLASS_TRMM || routine->class == TB_CLASS_TRSM;
}

/* ---- Our side, and OpenBLAS: by Fortran's names ------------------------------------------------------------ */

/* alpha and beta of any element. */
static const void *scalar(const bench_routine *routine, bool one)
{
    static const float floats[2][2] = {{0, 0}, {1, 0}};
    static const double doubles[2][2] = {{0, 0}, {1, 0}};
    return tb_real_of(routine->element) == TB_FP32 ? (const void *)floats[one] : doubles[one];
}

static tb_product product_of(const bench_routine *routine, const operands *o, void *c)
{
    const bool transpose_b = is_in_place(routine) ? o->right : routine->class == TB_CLASS_TRIANGLE;
    return bench_product_of(routine, false, transpose_b, o->rows, o->columns, o->n, o->a, o->b, c);
}

/* ---- cuBLAS ------------------------------------------------------------------------------------------------- */

#define LEFT_LOWER CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER
#define LOWER_N    CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N
#define TRIANGLE   operands->right ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT, LOWER_N, CUBLAS_DIAG_NON_UNIT
#define FACTORS    one, o->a, n, o->b, n, zero, c, n
#define FACTOR     one, o->a, n, zero, c, n

/* Of a letter, and the types of its matrices and of HERK's scalars. */
#define OF_ELEMENT(letter, type, real, hermitian)                                                            \
    static cublasStatus_t call_##letter(cublasHandle_t handle, tb_routine_class class,                       \
                                        const operands *operands, const void *ones, const void *zeros,       \
                                        void *result)                                                        \
    {                                                                                                        \
        const int n = operands->n, rows = operands->rows, columns = operands->columns;                       \
        const struct {                                                                                       \
            const type *a, *b;                                                                               \
        } both = {operands->a, operands->b}, *o = &both;                                                     \
        const type *one = ones, *zero = zeros;                                                               \
        type *c = result;                                                                                    \
        switch (class) {                                                                                     \
        case TB_CLASS_GEMM:                                                                                  \
            return cublas##letter##gemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, FACTORS);                 \
        case TB_CLASS_SYMM:                                                                                  \
            return cublas##letter##symm(handle, LEFT_LOWER, n, n, FACTORS);                                  \
        case TB_CLASS_RANK_K:                                                                                \
            return cublas##letter##syrk(handle, LOWER_N, n, n, FACTOR);                                      \
        case TB_CLASS_RANK_2K:                                                                               \
            return cublas##letter##syr2k(handle, LOWER_N, n, n, FACTORS);                                    \
        case TB_CLASS_TRIANGLE:                                                                              \
            return cublas##letter##syrkx(handle, LOWER_N, n, n, FACTORS);                                    \
        case TB_CLASS_TRMM:                                                                                  \
            return cublas##letter##trmm(handle, TRIANGLE, rows, columns, one, o->a, n,                       \
                                        operands->apart ? o->b : c, rows, c, rows);                          \
        case TB_CLASS_TRSM:                                                                                  \
            return cublas##letter##trsm(handle, TRIANGLE, rows, columns, one, o->a, n, c, rows);             \
        default:                                                                                             \
            hermitian;                                                                                       \
            return CUBLAS_STATUS_NOT_SUPPORTED;                                                              \
        }                                                                                                    \
    }
#define NOTHING
#define HERMITIAN(letter, real)                                                                              \
    if (class == TB_CLASS_HEMM)                                                                              \
        return cublas##letter##hemm(handle, LEFT_LOWER, n, n, FACTORS);                                      \
    if (class == TB_CLASS_HERK)                                                                              \
        return cublas##letter##herk(handle, LOWER_N, n, n, (const real *)ones, o->a, n, (const real *)zeros, \
                                    c, n);                                                                   \
    if (class == TB_CLASS_HER2K)                                                                             \
    return cublas##letter##her2k(handle, LOWER_N, n, n, one, o->a, n, o->b, n, (const real *)zeros, c, n)
OF_ELEMENT(S, float, float, NOTHING)
OF_ELEMENT(D, double, double, NOTHING)
OF_ELEMENT(C, cuComplex, float, HERMITIAN(C, float))
OF_ELEMENT(Z, cuDoubleComplex, double, HERMITIAN(Z, double))

static cublasStatus_t call_cublas(cublasHandle_t handle, const bench_routine *routine, const operands *o,
                                  void *c)
{
    static cublasStatus_t (*const calls[TB_ELEMENTS])(cublasHandle_t, tb_routine_class, const operands *,
                                                      const void *, const void *, void *) = {
        [TB_FP32] = call_S, [TB_FP64] = call_D, [TB_COMPLEX_FP32] = call_C, [TB_COMPLEX_FP64] = call_Z};
    return calls[routine->element](handle, routine->class, o, scalar(routine, true), scalar(routine, false),
                                   c);
}

/* ---- Measuring ---------------------------------------------------------------------------------------------- */

typedef struct bench {
    bool on_host;
    void *ours, *theirs; /* libraries; theirs is OpenBLAS */
    cublasHandle_t cublas;
    double seconds;
    int columns; /* of C in TRMM and TRSM; 0: as many as rows */
    bool right, apart;
} bench;

static void *allocate(const bench *bench, size_t bytes)
{
    void *memory = NULL;
    if (bench->on_host)
        memory = malloc(bytes);
    else
        require(cudaMalloc(&memory, bytes) == cudaSuccess, "cudaMalloc");
    require(memory != NULL, "malloc");
    return memory;
}

static void release(const bench *bench, void *memory)
{
    if (bench->on_host)
        free(memory);
    else
        cudaFree(memory);
}

static void *make_matrix(const bench *bench, const bench_routine *routine, int n, int which)
{
    const size_t numbers = (size_t)n * (size_t)n * (tb_is_complex(routine->element) ? 2 : 1);
    const size_t bytes = numbers * tb_bytes_of(tb_real_of(routine->element));
    const size_t first = 977 * (size_t)which * tb_bytes_of(tb_real_of(routine->element));
    void *random = malloc(first + bytes), *matrix = allocate(bench, bytes);
    require(random != NULL, "malloc");
    /* As operands are filled alike, each begins elsewhere among the same numbers. */
    bench_fill_random(tb_real_of(routine->element), random, numbers + 977 * (size_t)which);
    if (which == 0 && is_in_place(routine))
        bench_make_triangle(routine->element, (char *)random + first, n);
    require(cudaMemcpy(matrix, (char *)random + first, bytes, cudaMemcpyDefault) == cudaSuccess,
            "cudaMemcpy");
    free(random);
    return matrix;
}

static bench_function *find(void *library, const bench_routine *routine)
{
    char symbol[16];
    snprintf(symbol, sizeof symbol, "%s_", routine->name);
    return (bench_function *)dlsym(library, symbol);
}

/* Side 0 is ours. */
static void call_side(const bench *bench, const bench_routine *routine, const operands *o, int side)
{
    const tb_product product = product_of(routine, o, o->c[side]);
    if (side == 1 && !bench->on_host)
        require(call_cublas(bench->cublas, routine, o, o->c[1]) == CUBLAS_STATUS_SUCCESS, routine->name);
    else
        bench_call_fortran(find(side == 0 ? bench->ours : bench->theirs, routine), &product);
    if (!bench->on_host)
        require(cudaDeviceSynchronize() == cudaSuccess, "cudaDeviceSynchronize");
}

/* The largest difference beside the largest number, of what both have written. */
static double difference(const bench_routine *routine, const operands *o)
{
    const size_t numbers = (size_t)o->rows * (size_t)o->columns * (tb_is_complex(routine->element) ? 2 : 1);
    const bool single = tb_real_of(routine->element) == TB_FP32;
    const size_t bytes = numbers * (single ? 4 : 8);
    void *results[2] = {malloc(bytes), malloc(bytes)};
    for (int side = 0; side < 2; side++)
        require(results[side] &&
                    cudaMemcpy(results[side], o->c[side], bytes, cudaMemcpyDefault) == cudaSuccess,
                "fetching");
    double most = 0, largest = 0;
    for (size_t i = 0; i < numbers; i++) {
        const double x = single ? (double)((float *)results[0])[i] : ((double *)results[0])[i];
        const double y = single ? (double)((float *)results[1])[i] : ((double *)results[1])[i];
        most = isnan(x - y) ? INFINITY : fmax(most, fabs(x - y));
        largest = fmax(largest, fabs(y));
    }
    free(results[0]);
    free(results[1]);
    return most / largest;
}

enum { TURNS_MOST = 200 };

/* The ratio of their time to ours. */
static double measure(const bench *bench, const bench_routine *routine, int n)
{
    operands o = {.n = n, .rows = n, .columns = n, .right = bench->right, .apart = bench->apart};
    if (is_in_place(routine) && bench->columns > 0 && bench->columns < n)
        *(bench->right ? &o.rows : &o.columns) = bench->columns;
    void **matrices[] = {&o.a, &o.b, &o.c[0], &o.c[1]};
    for (int i = 0; i < 4; i++)
        *matrices[i] = make_matrix(bench, routine, n, i < 3 ? i : 2); /* both C alike */
    double times[2][TURNS_MOST], spent = 0;
    int turns = 0;
    for (int i = 0; i < 4; i++)
        call_side(bench, routine, &o, i % 2);
    for (; turns < TURNS_MOST && (turns < 5 || spent < 2 * bench->seconds); turns++)
        for (int side = 0; side < 2; side++) {
            const double start = tb_seconds();
            call_side(bench, routine, &o, (side + turns) % 2);
            times[(side + turns) % 2][turns] = tb_seconds() - start;
            spent += times[(side + turns) % 2][turns];
        }
    const double ours = bench_median(times[0], (size_t)turns), theirs = bench_median(times[1], (size_t)turns);
    const tb_product product = product_of(routine, &o, o.c[0]);
    const double flop = bench_flop(&product);
    printf("%-7s %6d  %8.3f ms %7.2f TFLOP/s   %s %8.3f ms %7.2f   ratio %6.3f   differ by %.1e\n",
           routine->name, n, 1e3 * ours, 1e-12 * flop / ours, bench->on_host ? "OpenBLAS" : "cuBLAS",
           1e3 * theirs, 1e-12 * flop / theirs, theirs / ours, difference(routine, &o));
    for (int i = 0; i < 4; i++)
        release(bench, *matrices[i]);
    return theirs / ours;
}

/* Whether a list of words, with commas between them, has the word; NULL has all. */
static bool lists(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == 0))
            return true;
    return !list;
}

static void measure_routine(const bench *bench, const bench_routine *routine, const char *sizes)
{
    double log_sum = 0;
    int count = 0;
    char list[256];
    if (!find(bench->ours, routine) || (bench->on_host && !find(bench->theirs, routine)))
        return;
    snprintf(list, sizeof list, "%s", sizes);
    for (const char *size = strtok(list, ","); size; size = strtok(NULL, ","), count++)
        log_sum += log(measure(bench, routine, atoi(size)));
    printf("%s: geometric mean %.3f of %d\n", routine->name, exp(log_sum / count), count);
}

int main(int argc, char **argv)
{
    static const struct option long_options[] = {
        {"host", no_argument, NULL, 'h'},          {"routine", required_argument, NULL, 'r'},
        {"size", required_argument, NULL, 'n'},    {"seconds", required_argument, NULL, 's'},
        {"columns", required_argument, NULL, 'c'}, {"right", no_argument, NULL, 'R'},
        {"apart", no_argument, NULL, 'a'},         {0}};
    bench bench = {.seconds = 0.1};
    const char *routines = NULL, *sizes = "512,1024,2048,4096,8192";
    for (int option; (option = getopt_long(argc, argv, "", long_options, NULL)) != -1;)
        switch (option) {
        case 'h':
            bench.on_host = true;
            break;
        case 'r':
            routines = optarg;
            break;
        case 'n':
            sizes = optarg;
            break;
        case 's':
            bench.seconds = atof(optarg);
            break;
        case 'c':
            bench.columns = atoi(optarg);
            break;
        case 'R':
            bench.right = true;
            break;
        case 'a':
            bench.apart = true;
            break;
        default:
            fprintf(
                stderr,
                "usage: level3 [--host] [--routine NAMES] [--size SIZES] [--columns N] [--right] [--apart] "
                "[--seconds SECONDS]\n");
            return 2;
        }
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    if (bench.on_host)
        setenv("TILEBLAS_START", "wait", 0); /* the first call brings the device up */
    bench.ours = dlopen(TB_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    require(bench.ours != NULL, TB_LIBRARY);
    if (bench.on_host)
        require((bench.theirs = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL)) != NULL, "OpenBLAS");
    else
        require(cublasCreate(&bench.cublas) == CUBLAS_STATUS_SUCCESS, "cublasCreate");
    for (tb_routine_class group = 0; group < TB_CLASSES; group++)
        for (tb_routine row = 0; row < TB_ROUTINES; row++) {
            const bench_routine *routine = bench_find_any_routine(tb_routine_rows[row].name);
            const bool again = routine && strstr(routine->name, "gemmtr"); /* GEMMT's other name */
            if (routine && routine->class == group && lists(routines, routine->name) && (routines || !again))
                measure_routine(&bench, routine, sizes);
        }
    return 0;
}
