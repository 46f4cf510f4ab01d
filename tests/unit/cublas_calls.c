/* What bench/ calls of cuBLAS and of cublasXt is the product that it made. In place of both libraries stands the BLAS that the
 * arguments are those of.
 */
#include "bench/cublas_calls.h"
#include "tests/check.h"
#include "tests/unit/arrivals.h"

#include <string.h>

enum { M = 700, N = 600, K = 500, BLOCK = 2048 };

static const void *multiplied; /* TRMM's operand that is no triangle */
static int block;

/* Arguments of BLAS are addresses. */
typedef const void *address;
typedef void call_10(address, address, address, address, address, address, address, address, address,
                     address);
typedef void call_11(address, address, address, address, address, address, address, address, address, address,
                     address);
typedef void call_12(address, address, address, address, address, address, address, address, address, address,
                     address, address);
typedef void call_13(address, address, address, address, address, address, address, address, address, address,
                     address, address, address);

static bench_function *named(const char *name)
{
    return functions[bench_find_any_routine(name) - tb_routine_rows];
}

static const char *side_of(cublasSideMode_t side)
{
    return side == CUBLAS_SIDE_LEFT ? "L" : "R";
}

static const char *triangle_of(cublasFillMode_t triangle)
{
    return triangle == CUBLAS_FILL_MODE_LOWER ? "L" : "U";
}

static const char *letter_of(cublasOperation_t operation)
{
    return operation == CUBLAS_OP_N ? "N" : operation == CUBLAS_OP_T ? "T" : "C";
}

static const char *diagonal_of(cublasDiagType_t diagonal)
{
    return diagonal == CUBLAS_DIAG_UNIT ? "U" : "N";
}

#define INT(x)       (&(const int){(int)(x)})
#define FIRST_MATRIX alpha, a, INT(lda)
#define MATRICES     alpha, a, INT(lda), b, INT(ldb), beta, c, INT(ldc)

/* library, letter and end as in bench/cublas_calls.c; blas is BLAS's letter. */
#define STAMP_SYMM(library, letter, blas, end, size, type, routine)                                          \
    cublasStatus_t library##letter##routine##end(library##Handle_t handle, cublasSideMode_t side,            \
                                                 cublasFillMode_t triangle, size m, size n,                  \
                                                 const type *alpha, const type *a, size lda, const type *b,  \
                                                 size ldb, const type *beta, type *c, size ldc)              \
    {                                                                                                        \
        (void)handle;                                                                                        \
        ((call_12 *)named(#blas #routine))(side_of(side), triangle_of(triangle), INT(m), INT(n), MATRICES);  \
        return CUBLAS_STATUS_SUCCESS;                                                                        \
    }

#define STAMP_RANK_K(library, letter, blas, end, size, type, real, routine)                                  \
    cublasStatus_t library##letter##routine##end(                                                            \
        library##Handle_t handle, cublasFillMode_t triangle, cublasOperation_t of_a, size n, size k,         \
        const real *alpha, const type *a, size lda, const real *beta, type *c, size ldc)                     \
    {                                                                                                        \
        (void)handle;                                                                                        \
        ((call_10 *)named(#blas #routine))(triangle_of(triangle), letter_of(of_a), INT(n), INT(k),           \
                                           FIRST_MATRIX, beta, c, INT(ldc));                                 \
        return CUBLAS_STATUS_SUCCESS;                                                                        \
    }

#define STAMP_RANK_2K(library, letter, blas, end, size, type, real, routine)                                 \
    cublasStatus_t library##letter##routine##end(library##Handle_t handle, cublasFillMode_t triangle,        \
                                                 cublasOperation_t of_a, size n, size k, const type *alpha,  \
                                                 const type *a, size lda, const type *b, size ldb,           \
                                                 const real *beta, type *c, size ldc)                        \
    {                                                                                                        \
        (void)handle;                                                                                        \
        ((call_12 *)named(#blas #routine))(triangle_of(triangle), letter_of(of_a), INT(n), INT(k),           \
                                           MATRICES);                                                        \
        return CUBLAS_STATUS_SUCCESS;                                                                        \
    }

#define STAMP_OTHERS(library, letter, blas, end, size, type)                                                 \
    cublasStatus_t library##letter##gemm##end(library##Handle_t handle, cublasOperation_t of_a,              \
                                              cublasOperation_t of_b, size m, size n, size k,                \
                                              const type *alpha, const type *a, size lda, const type *b,     \
                                              size ldb, const type *beta, type *c, size ldc)                 \
    {                                                                                                        \
        (void)handle;                                                                                        \
        ((call_13 *)named(#blas "gemm"))(letter_of(of_a), letter_of(of_b), INT(m), INT(n), INT(k),           \
                                         MATRICES);                                                          \
        return CUBLAS_STATUS_SUCCESS;                                                                        \
    }                                                                                                        \
    /* B is read the other way than A. */                                                                    \
    cublasStatus_t library##letter##syrkx##end(library##Handle_t handle, cublasFillMode_t triangle,          \
                                               cublasOperation_t of_a, size n, size k, const type *alpha,    \
                                               const type *a, size lda, const type *b, size ldb,             \
                                               const type *beta, type *c, size ldc)                          \
    {                                                                                                        \
        (void)handle;                                                                                        \
        ((call_13 *)named(#blas "gemmt"))(triangle_of(triangle), letter_of(of_a),                            \
                                          letter_of(of_a == CUBLAS_OP_N ? CUBLAS_OP_T : CUBLAS_OP_N),        \
                                          INT(n), INT(k), MATRICES);                                         \
        return CUBLAS_STATUS_SUCCESS;                                                                        \
    }                                                                                                        \
    cublasStatus_t library##letter##trmm##end(                                                               \
        library##Handle_t handle, cublasSideMode_t side, cublasFillMode_t triangle, cublasOperation_t of_a,  \
        cublasDiagType_t diagonal, size m, size n, const type *alpha, const type *a, size lda,               \
        const type *b, size ldb, type *c, size ldc)                                                          \
    {                                                                                                        \
        (void)handle;                                                                                        \
        multiplied = b;                                                                                      \
        CHECK(ldb == ldc, "TRMM's operands have different leading dimensions");                              \
        ((call_11 *)named(#blas "trmm"))(side_of(side), triangle_of(triangle), letter_of(of_a),              \
                                         diagonal_of(diagonal), INT(m), INT(n), FIRST_MATRIX, c, INT(ldc));  \
        return CUBLAS_STATUS_SUCCESS;                                                                        \
    }                                                                                                        \
    cublasStatus_t library##letter##trsm##end(library##Handle_t handle, cublasSideMode_t side,               \
                                              cublasFillMode_t triangle, cublasOperation_t of_a,             \
                                              cublasDiagType_t diagonal, size m, size n, const type *alpha,  \
                                              const type *a, size lda, type *c, size ldc)                    \
    {                                                                                                        \
        (void)handle;                                                                                        \
        ((call_11 *)named(#blas "trsm"))(side_of(side), triangle_of(triangle), letter_of(of_a),              \
                                         diagonal_of(diagonal), INT(m), INT(n), FIRST_MATRIX, c, INT(ldc));  \
        return CUBLAS_STATUS_SUCCESS;                                                                        \
    }

#define STAMP_LETTER(library, letter, blas, end, size, type)                                                 \
    STAMP_OTHERS(library, letter, blas, end, size, type)                                                     \
    STAMP_SYMM(library, letter, blas, end, size, type, symm)                                                 \
    STAMP_RANK_K(library, letter, blas, end, size, type, type, syrk)                                         \
    STAMP_RANK_2K(library, letter, blas, end, size, type, type, syr2k)
#define STAMP_COMPLEX_LETTER(library, letter, blas, end, size, type, real)                                   \
    STAMP_LETTER(library, letter, blas, end, size, type)                                                     \
    STAMP_SYMM(library, letter, blas, end, size, type, hemm)                                                 \
    STAMP_RANK_K(library, letter, blas, end, size, type, real, herk)                                         \
    STAMP_RANK_2K(library, letter, blas, end, size, type, real, her2k)
#define STAMP_LIBRARY(library, end, size)                                                                    \
    STAMP_LETTER(library, S, s, end, size, float)                                                            \
    STAMP_LETTER(library, D, d, end, size, double)                                                           \
    STAMP_COMPLEX_LETTER(library, C, c, end, size, cuComplex, float)                                         \
    STAMP_COMPLEX_LETTER(library, Z, z, end, size, cuDoubleComplex, double)

STAMP_LIBRARY(cublas, _64, int64_t)
STAMP_LIBRARY(cublasXt, , size_t)

cublasStatus_t cublasXtCreate(cublasXtHandle_t *handle)
{
    *handle = NULL;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t handle, int count, int devices[])
{
    (void)handle;
    return count == 1 && devices[0] == 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t handle, int dimension)
{
    (void)handle;
    block = dimension;
    return CUBLAS_STATUS_SUCCESS;
}

/* What bench_product_of makes has lower triangles alone. */
static void turn_over(tb_product *product)
{
    for (tb_role role = TB_A; role < TB_ROLES; role++)
        if (product->operands[role].stored != TB_FULL)
            product->operands[role].stored = TB_UPPER;
    if (product->mask != TB_FULL)
        product->mask = TB_UPPER;
}

static void check_call(const bench_routine *routine, bool transpose_a, bool transpose_b, bool upper)
{
    static double a, b, c, other; /* nobody looks at what is there */
    tb_product product = bench_product_of(routine, transpose_a, transpose_b, M, N, K, &a, &b, &c);
    if (upper)
        turn_over(&product);
    const tb_product expected = product;
    tb_operand *in_place = &product.operands[transpose_b ? TB_A : TB_B];
    const bool is_trmm = routine->class == TB_CLASS_TRMM;
    for (int way = 0; way < 4; way++) {
        const bool xt = way & 1, apart = way & 2;
        const int before = arrivals;
        if (is_trmm)
            in_place->data = apart ? &other : &c;
        const cublasStatus_t status =
            xt ? bench_call_cublas_xt(NULL, routine, &product) : bench_call_cublas(NULL, routine, &product);
        if (CHECK(status == CUBLAS_STATUS_SUCCESS && arrivals == before + 1, "%s: nothing arrived",
                  routine->name))
            CHECK(is_same_product(&arrived, &expected), "%s, %d %d: another product arrived", routine->name,
                  transpose_a, transpose_b);
        if (is_trmm)
            CHECK(multiplied == in_place->data, "%s reads another operand", routine->name);
    }
}

/* cuBLAS has one function for all routines of a class and an element. */
static tb_routine first_like(const tb_routine_row *row)
{
    tb_routine routine = 0;
    while (tb_routine_rows[routine].class != row->class || tb_routine_rows[routine].element != row->element)
        routine++;
    return routine;
}

int main(void)
{
    cublasXtHandle_t handle;
    for (tb_routine routine = 0; routine < TB_PRODUCT_ROUTINES; routine++) {
        const bench_routine *row = bench_find_any_routine(tb_routine_rows[routine].name);
        if (!row || routine != first_like(row)) /* GEMMT's other name */
            continue;
        for (int way = 0; way < 8; way++) {
            const bool transpose_a = way & 1, transpose_b = way & 2, upper = way & 4;
            if (row->class != TB_CLASS_TRIANGLE || transpose_a != transpose_b)
                check_call(row, transpose_a, transpose_b, upper);
        }
    }
    CHECK(bench_create_cublas_xt(&handle, BLOCK) == CUBLAS_STATUS_SUCCESS && block == BLOCK,
          "cublasXt has other tiles");
    return check_result();
}
