/* summation: in which order does a kernel, or cuBLAS, add up the products of an element of C? The order decides the error.
 *
 *   bench/summation FILE [LETTER MxNxK OPS]...     for instance: z 512x512x64 tn
 *
 * All products are 1 but two, which are a large number and its negative: what is added to one of these before they meet is lost, and the
 * result counts the rest. So the result for each pair says how many products have been added up where these two meet, and all pairs
 * together are the tree of additions (FPRev: Xie and others, 2025). Each row of A is a pair; of C one column is read. Of complex numbers
 * it is the real part, of twice as many products, of real and imaginary parts in turn.
 *
 * Prints a line for each product and side: a hash of its tree, and how many products have met at the pairs of the first product and
 * every eighth. FILE gets each tree once: a line with its hash and number of products, and a line for each product with its pairs' sizes.
 */
#include "dispatch/plan.h"
#include "lib/device/device.h"
#include "lib/machine/calibrate.h"
#include "words/lowered.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDES_MOST = 64, TREES_MOST = 4096, ROOM = 64 << 20 };

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s failed: %s\n", what, cudaGetErrorString(cudaGetLastError()));
    exit(EXIT_FAILURE);
}
#define MUST_CUDA(call)   must((call) == cudaSuccess, #call)
#define MUST_CUBLAS(call) must((call) == CUBLAS_STATUS_SUCCESS, #call)
#define MUST_TB(call)     must((call) == TB_OK, #call)

typedef struct question {
    tb_element element;
    int64_t m, n, k;
    bool transpose_a, transpose_b;
} question;

static struct {
    cublasHandle_t cublas;
    cudaStream_t native;
    tb_stream *stream;
    tb_chip chip;
    void *a, *b, *c, *embedded; /* room on the device */
    void *host;                 /* as much */
    FILE *trees;
    uint64_t known[TREES_MOST];
    int known_count;
} on;

static int64_t parts_of(const question *q)
{
    return tb_is_complex(q->element) ? 2 : 1;
}

static void put(const question *q, int64_t index, double value)
{
    if (tb_real_of(q->element) == TB_FP64)
        ((double *)on.host)[index] = value;
    else
        ((float *)on.host)[index] = (float)value;
}

static size_t bytes_of(const question *q, int64_t reals)
{
    const size_t bytes = (size_t)reals * tb_bytes_of(tb_real_of(q->element));
    must(bytes <= ROOM, "finding room");
    return bytes;
}

/* Pairs are numbered (0, 1), (0, 2) ... (1, 2) .... */
typedef struct pair {
    int64_t first, second;
} pair;

static pair next_pair(pair p, int64_t terms)
{
    return p.second + 1 < terms ? (pair){p.first, p.second + 1} : (pair){p.first + 1, p.first + 2};
}

static double product_at(pair p, int64_t term, double large)
{
    return term == p.first ? large : term == p.second ? -large : 1;
}

/* Rows of A are pairs from one on, and beyond the last pair anything. Of complex numbers the real product's A, too. */
static void make_a(const question *q, pair first, bool embedded, void *device)
{
    const int64_t parts = parts_of(q), terms = parts * q->k;
    const double large = tb_real_of(q->element) == TB_FP64 ? 0x1p90 : 0x1p60;
    pair p = first;
    for (int64_t row = 0; row < q->m; row++, p = next_pair(p, terms))
        for (int64_t term = 0; term < terms; term++) {
            const double value = product_at(p, term, large);
            const int64_t l = term / parts, part = term % parts;
            if (!embedded) {
                const int64_t number = q->transpose_a ? l + row * q->k : row + l * q->m;
                put(q, parts * number + part, value);
            } else { /* re, -im; im, re */
                put(q, 2 * row + term * 2 * q->m, part ? -value : value);
                put(q, 2 * row + 1 + (2 * l + !part) * 2 * q->m, value);
            }
        }
    MUST_CUDA(
        cudaMemcpy(device, on.host, bytes_of(q, (embedded ? 2 : 1) * q->m * terms), cudaMemcpyHostToDevice));
}

/* Ones, of complex numbers 1 - i. */
static void make_b(const question *q)
{
    const int64_t parts = parts_of(q), reals = parts * q->k * q->n;
    for (int64_t i = 0; i < reals; i++)
        put(q, i, i % parts ? -1 : 1);
    MUST_CUDA(cudaMemcpy(on.b, on.host, bytes_of(q, reals), cudaMemcpyHostToDevice));
}

/* ---- Sides ----------------------------------------------------------------------------------------------------- */

static tb_product product_of(const question *q)
{
    static const tb_routine routines[] = {[TB_FP32] = TB_SGEMM,
                                          [TB_FP64] = TB_DGEMM,
                                          [TB_COMPLEX_FP32] = TB_CGEMM,
                                          [TB_COMPLEX_FP64] = TB_ZGEMM};
    return tb_gemm(routines[q->element], q->transpose_a, q->transpose_b, q->m, q->n, q->k, 1, on.a,
                   q->transpose_a ? q->k : q->m, on.b, q->transpose_b ? q->n : q->k, 0, on.c, q->m);
}

/* The same as rows of the catalog that know no complex numbers multiply it. */
static tb_product real_product_of(const question *q)
{
    const tb_product given = product_of(q);
    tb_product real = tb_lowered(&given);
    if (tb_is_complex(q->element)) {
        real.a.data = on.embedded;
        real.b.data = on.b; /* all its numbers are alike */
        real.b.ld = real.b.rows;
    }
    return real;
}

static void multiply(const question *q, const tb_kernel *kernel)
{
    const tb_product product = kernel->element == q->element ? product_of(q) : real_product_of(q);
    const tb_schedule schedule = tb_device.prepare(on.stream, kernel, &product);
    void *workspace = NULL;
    if (schedule.workspace > 0)
        MUST_TB(tb_device.allocate(0, schedule.workspace, &workspace));
    MUST_TB(tb_device.launch(on.stream, kernel, &product, &schedule, workspace));
    MUST_TB(tb_device.synchronize(on.stream));
    if (workspace)
        tb_device.release(0, workspace);
}

static void multiply_by_cublas(const question *q, cublasMath_t mode)
{
    const cuDoubleComplex one = {1, 0}, zero = {0, 0};
    const cuComplex one_float = {1, 0}, zero_float = {0, 0};
    const cublasOperation_t op_a = q->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N,
                            op_b = q->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    const int m = (int)q->m, n = (int)q->n, k = (int)q->k, lda = q->transpose_a ? k : m,
              ldb = q->transpose_b ? n : k;
    MUST_CUBLAS(cublasSetMathMode(on.cublas, mode));
    switch (q->element) {
    case TB_FP32:
        MUST_CUBLAS(cublasSgemm(on.cublas, op_a, op_b, m, n, k, &one_float.x, on.a, lda, on.b, ldb,
                                &zero_float.x, on.c, m));
        break;
    case TB_FP64:
        MUST_CUBLAS(
            cublasDgemm(on.cublas, op_a, op_b, m, n, k, &one.x, on.a, lda, on.b, ldb, &zero.x, on.c, m));
        break;
    case TB_COMPLEX_FP32:
        MUST_CUBLAS(cublasCgemm(on.cublas, op_a, op_b, m, n, k, &one_float, on.a, lda, on.b, ldb, &zero_float,
                                on.c, m));
        break;
    default:
        MUST_CUBLAS(cublasZgemm(on.cublas, op_a, op_b, m, n, k, &one, on.a, lda, on.b, ldb, &zero, on.c, m));
    }
    MUST_CUDA(cudaStreamSynchronize(on.native));
}

/* ---- Trees ----------------------------------------------------------------------------------------------------- */

typedef struct side {
    const char *name;
    const tb_kernel *kernel; /* NULL: cuBLAS */
    cublasMath_t mode;
    uint16_t *sizes; /* terms x terms, of pairs */
} side;

static void compute(const question *q, const side *side)
{
    if (side->kernel)
        multiply(q, side->kernel);
    else
        multiply_by_cublas(q, side->mode);
}

static void note_sizes(const question *q, pair first, uint16_t *sizes)
{
    const int64_t parts = parts_of(q), terms = parts * q->k;
    MUST_CUDA(cudaMemcpy(on.host, on.c, bytes_of(q, parts * q->m), cudaMemcpyDeviceToHost));
    pair p = first;
    for (int64_t row = 0; row < q->m && p.first < terms - 1; row++, p = next_pair(p, terms)) {
        const double counted = tb_real_of(q->element) == TB_FP64 ? ((double *)on.host)[parts * row]
                                                                 : (double)((float *)on.host)[parts * row];
        sizes[p.first * terms + p.second] = (uint16_t)(terms - (int64_t)counted);
    }
}

static uint64_t hash_of(const uint16_t *sizes, int64_t terms)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (int64_t i = 0; i < terms * terms; i++)
        hash = (hash ^ sizes[i]) * 0x100000001b3u;
    return hash;
}

static void keep_tree(uint64_t hash, const uint16_t *sizes, int64_t terms)
{
    for (int i = 0; i < on.known_count; i++)
        if (on.known[i] == hash)
            return;
    must(on.known_count < TREES_MOST, "keeping a tree");
    on.known[on.known_count++] = hash;
    fprintf(on.trees, "%016" PRIx64 " %" PRId64 "\n", hash, terms);
    for (int64_t i = 0; i < terms - 1; i++) {
        for (int64_t j = i + 1; j < terms; j++)
            fprintf(on.trees, "%d ", sizes[i * terms + j]);
        fprintf(on.trees, "\n");
    }
}

static void print_tree(const question *q, const side *side)
{
    const int64_t terms = parts_of(q) * q->k;
    const uint64_t hash = hash_of(side->sizes, terms);
    keep_tree(hash, side->sizes, terms);
    printf("%c %" PRId64 "x%" PRId64 "x%" PRId64 " %c%c %-22s %016" PRIx64 " :",
           tb_element_rows[q->element].letter, q->m, q->n, q->k, q->transpose_a ? 't' : 'n',
           q->transpose_b ? 't' : 'n', side->name, hash);
    for (int64_t j = 1; j < terms; j += j < 8 ? 1 : 8)
        printf(" %d", side->sizes[j]);
    printf("\n");
    fflush(stdout);
}

static int find_sides(const question *q, side sides[SIDES_MOST])
{
    const tb_product complex = product_of(q), real = real_product_of(q);
    int count = 0;
    sides[count++] = (side){.name = "cuBLAS, pedantic", .mode = CUBLAS_PEDANTIC_MATH};
    sides[count++] = (side){.name = "cuBLAS", .mode = CUBLAS_DEFAULT_MATH};
    for (size_t row = 0; row < tb_catalog_size && count < SIDES_MOST; row++) {
        const tb_kernel *kernel = &tb_catalog[row];
        const bool directly = kernel->element == q->element;
        if (kernel->accuracy == TB_ACCURACY_IEEE && tb_kernel_is_free_on(kernel, on.chip.architecture) &&
            (directly || kernel->element == real.c.element) &&
            tb_kernel_serves(kernel, directly ? &complex : &real, &on.chip, false) &&
            tb_kernel_takes(kernel, directly ? &complex.a : &real.a) &&
            tb_kernel_takes(kernel, directly ? &complex.b : &real.b))
            sides[count++] = (side){.name = kernel->name, .kernel = kernel};
    }
    return count;
}

static void answer(const question *q)
{
    const int64_t terms = parts_of(q) * q->k;
    side sides[SIDES_MOST];
    const int count = find_sides(q, sides);
    for (int i = 0; i < count; i++) {
        sides[i].sizes = calloc((size_t)(terms * terms), sizeof *sides[i].sizes);
        must(sides[i].sizes != NULL, "calloc");
    }
    make_b(q);
    for (pair p = {0, 1}; p.first < terms - 1;) {
        make_a(q, p, false, on.a);
        if (tb_is_complex(q->element))
            make_a(q, p, true, on.embedded);
        for (int i = 0; i < count; i++) {
            compute(q, &sides[i]);
            note_sizes(q, p, sides[i].sizes);
        }
        for (int64_t row = 0; row < q->m && p.first < terms - 1; row++)
            p = next_pair(p, terms);
    }
    for (int i = 0; i < count; i++) {
        print_tree(q, &sides[i]);
        free(sides[i].sizes);
    }
}

static void open_device(void)
{
    int devices;
    tb_device_description description;
    must(tb_device.open(&devices) == TB_OK && tb_device.describe(0, &description) == TB_OK &&
             tb_device.open_device(0) == TB_OK,
         "opening the device");
    on.chip = tb_presume_chip(0, &description);
    on.chip.open = true;
    on.chip.clusters = tb_device.clusters(0);
    printf("%s\n", description.name);
    MUST_CUDA(cudaStreamCreate(&on.native));
    MUST_TB(tb_device.adopt_stream(&(tb_place){.memory = TB_MEMORY_DEVICE}, on.native, &on.stream));
    MUST_CUBLAS(cublasCreate(&on.cublas));
    MUST_CUBLAS(cublasSetStream(on.cublas, on.native));
    void **rooms[] = {&on.a, &on.b, &on.c, &on.embedded};
    for (int i = 0; i < 4; i++)
        MUST_CUDA(cudaMalloc(rooms[i], ROOM));
    on.host = malloc(ROOM);
    must(on.host != NULL, "malloc");
}

static question read_question(char *const *words)
{
    question q = {.element = TB_ELEMENTS};
    for (tb_element element = 0; element < TB_ELEMENTS; element++)
        if (tb_element_rows[element].letter == toupper(words[0][0]))
            q.element = element;
    const int count = sscanf(words[1], "%" SCNd64 "x%" SCNd64 "x%" SCNd64, &q.m, &q.n, &q.k);
    must(q.element < TB_ELEMENTS && count == 3 && strlen(words[2]) == 2, words[1]);
    q.transpose_a = words[2][0] == 't';
    q.transpose_b = words[2][1] == 't';
    return q;
}

int main(int argc, char **argv)
{
    if (argc < 5 || (argc - 2) % 3 != 0) {
        fprintf(stderr, "usage: summation FILE LETTER MxNxK OPS [LETTER MxNxK OPS]...\n");
        return 2;
    }
    open_device();
    on.trees = fopen(argv[1], "w");
    must(on.trees != NULL, argv[1]);
    for (int i = 2; i < argc; i += 3) {
        const question q = read_question(argv + i);
        answer(&q);
    }
    return fclose(on.trees) ? EXIT_FAILURE : 0;
}
