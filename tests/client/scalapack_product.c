/* A product of matrices that are spread over two MPI ranks: ScaLAPACK's psgemm, or pdgemm, multiplies the
 * parts with sgemm_, or dgemm_. Each rank checks its part of C by a loop in double. Built once for each
 * element.
 *
 * usage: mpirun -n 2 scalapack_product
 */
#include <math.h>
#include <stdio.h>

/* There is no header for these: they are Fortran's, and the BLACS's for C. */
void Cblacs_pinfo(int *rank, int *ranks);
void Cblacs_get(int context, int what, int *value);
void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
void Cblacs_gridexit(int context);
void Cblacs_exit(int keep);
int numroc_(const int *n, const int *block, const int *place, const int *first, const int *places);
void descinit_(int *descriptor, const int *m, const int *n, const int *row_block, const int *column_block,
               const int *first_row, const int *first_column, const int *context, const int *ld, int *info);
#if ELEMENT_BITS == 64
typedef double element;
#define PGEMM pdgemm_
#else
typedef float element;
#define PGEMM psgemm_
#endif
void PGEMM(const char *transpose_a, const char *transpose_b, const int *m, const int *n, const int *k,
           const element *alpha, const element *a, const int *ia, const int *ja, const int *descriptor_a,
           const element *b, const int *ib, const int *jb, const int *descriptor_b, const element *beta,
           element *c, const int *ic, const int *jc, const int *descriptor_c);

enum { M = 170, N = 130, K = 150, BLOCK = 32, PLACES = 2 };

/* All products and sums are exact: multiples of 1 under 2^24, and of 2^-20 under 2^16 where the element has
 * room for them. */
static const double fine = ELEMENT_BITS == 64 ? 1 + 0x1p-20 : 1;

static double a_entry(int i, int j)
{
    return ((i * 7 + j * 13) % 17 - 8) * fine;
}

static double b_entry(int i, int j)
{
    return (i * 5 + j * 11) % 19 - 9;
}

static double no_entry(int i, int j)
{
    (void)i, (void)j;
    return NAN; /* beta is 0: C must not be read */
}

/* Rows are dealt out in blocks, like cards; every rank has all columns. */
static int global_row(int local, int rank)
{
    return (local / BLOCK * PLACES + rank) * BLOCK + local % BLOCK;
}

static int spread(int rank, int context, int m, int n, double (*entry)(int, int), element *local,
                  int *descriptor)
{
    int block = BLOCK, zero = 0, places = PLACES, info;
    int rows = numroc_(&m, &block, &rank, &zero, &places);
    descinit_(descriptor, &m, &n, &block, &block, &zero, &zero, &context, &rows, &info);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < rows; i++)
            local[j * rows + i] = (element)entry(global_row(i, rank), j);
    return rows;
}

int main(void)
{
    static element a[M * K], b[K * N], c[M * N];
    int rank, ranks, context, descriptor_a[9], descriptor_b[9], descriptor_c[9], one = 1, wrong = 0;
    Cblacs_pinfo(&rank, &ranks);
    if (ranks != PLACES) {
        printf("%d ranks, not %d\n", ranks, PLACES);
        return 1;
    }
    Cblacs_get(0, 0, &context);
    Cblacs_gridinit(&context, "Row", PLACES, 1);
    spread(rank, context, M, K, a_entry, a, descriptor_a);
    spread(rank, context, K, N, b_entry, b, descriptor_b);
    int rows = spread(rank, context, M, N, no_entry, c, descriptor_c);

    PGEMM("N", "N", &(int){M}, &(int){N}, &(int){K}, &(element){1}, a, &one, &one, descriptor_a, b, &one,
          &one, descriptor_b, &(element){0}, c, &one, &one, descriptor_c);

    for (int j = 0; j < N; j++)
        for (int i = 0; i < rows; i++) {
            double exact = 0;
            for (int l = 0; l < K; l++)
                exact += a_entry(global_row(i, rank), l) * b_entry(l, j);
            wrong += c[j * rows + i] != (element)exact;
        }
    printf("rank %d: %d of %d entries are wrong\n", rank, wrong, rows * N);
    Cblacs_gridexit(context);
    Cblacs_exit(0);
    return wrong != 0;
}
