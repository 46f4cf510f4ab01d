/* A program that calls a routine (PRODUCT_ROUTINE) and does not know of TileBLAS. However the two come together
 * (preloaded, linked, both, twice), each call must be decided upon by exactly one TileBLAS exactly once, be answered by the
 * program's own BLAS, and be right.
 *
 *   client LIBRARY        the fixture BLAS that must answer, by path or soname
 *   client LIBRARY gemm   a fixture that has GEMM but not the routine: GEMM must answer, called as often as it takes
 *   client LIBRARY large  makes products of which also the blocks that GEMM computes are large
 *   client real           a BLAS that is no fixture, so that nothing is known of its calls
 *   client none           there is no BLAS
 *   client none lacks     what TILEBLAS_HOST_BLAS names is one that lacks the routine, which is said
 *
 * Decisions are counted by the lines that TILEBLAS_VERBOSE=1 prints; without it small calls take their short
 * way, which is not counted.
 */
#include "tests/abi/fixture_blas.h"
#include "tests/abi/product.h"
#include "tests/check.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

/* Between these two standard error is turned aside; the second answers how many decisions were printed. */
static FILE *lines;
static int kept_stderr;

static void start_counting(void)
{
    lines = tmpfile();
    kept_stderr = dup(STDERR_FILENO);
    dup2(fileno(lines), STDERR_FILENO);
}

/* The host is the one that TILEBLAS_HOST_BLAS names. */
static bool answers_by_choice;

/* It was said that what TILEBLAS_HOST_BLAS names lacks the routine. */
static bool lack_was_said;

/* Counts the decisions on calls of the routine; a GEMM that computes a part of one is not decided upon. */
static int count_decisions(void)
{
    dup2(kept_stderr, STDERR_FILENO);
    close(kept_stderr);
    int decisions = 0;
    static const char deciding[] = "tileblas: " PRODUCT_ROUTINE " ";
    static const char lacking[] = "tileblas: TILEBLAS_HOST_BLAS: no usable ";
    static const char *const parts[] = {"tileblas: sgemm ", "tileblas: dgemm ", "tileblas: cgemm ",
                                        "tileblas: zgemm "};
    char line[1024];
    rewind(lines);
    while (fgets(line, sizeof line, lines)) {
        CHECK(!answers_by_choice || !strstr(line, "TILEBLAS_HOST_BLAS"), "what is chosen answers: %s", line);
        lack_was_said |= strncmp(line, lacking, strlen(lacking)) == 0;
        decisions += strncmp(line, deciding, strlen(deciding)) == 0;
        for (int i = 0; i < 4 && PRODUCT_OF != GEMM_NUMBER; i++)
            CHECK(strncmp(line, parts[i], strlen(parts[i])) != 0, "a part was decided upon: %s", line);
    }
    fclose(lines);
    return decisions;
}

#define NAME_OF_(name) #name
#define NAME_OF(name)  NAME_OF_(name)

static fixture_state *find_fixture(const char *name, bool by_gemm)
{
    void *library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    return library ? dlsym(library, by_gemm ? NAME_OF(PRODUCT_GEMM_STATE) : NAME_OF(PRODUCT_STATE)) : NULL;
}

static void check_product(const product *p, const char *host, bool by_gemm)
{
    const fixture_state none = {0};
    const fixture_state *fixture = find_fixture(host, by_gemm);
    const int cblas_before = fixture ? fixture->cblas_calls : 0;
    const int fortran_before = fixture ? fixture->fortran_calls : 0;

    start_counting();
    long errors = product_errors(p);
    int decisions = count_decisions();
    const char *name = p->fortran     ? NAME_OF(PRODUCT_FORTRAN)
                       : p->row_major ? NAME_OF(PRODUCT_CBLAS) ", row-major"
                                      : NAME_OF(PRODUCT_CBLAS) ", column-major";
    CHECK(errors == 0, "%s, %lld x %lld x %lld: %ld elements of C are wrong", name, (long long)p->m,
          (long long)p->n, (long long)p->k, errors);
    if (getenv("TILEBLAS_VERBOSE"))
        CHECK(decisions == 1, "%s: decided %d times", name, decisions);

    if (strcmp(host, "real") == 0 || strcmp(host, "none") == 0)
        return;
    fixture = find_fixture(host, by_gemm); /* it may have been opened by the call itself */
    if (!CHECK(fixture, "%s is not in the process", host))
        fixture = &none;
    int cblas_calls = fixture->cblas_calls - cblas_before;
    int fortran_calls = fixture->fortran_calls - fortran_before;
    const int cblas_most = by_gemm ? cblas_calls : 1, fortran_most = by_gemm ? fortran_calls : 1;
    CHECK(cblas_calls == (p->fortran ? 0 : cblas_most) && (cblas_calls > 0) == !p->fortran,
          "%s: %d calls of the host's CBLAS", name, cblas_calls);
    CHECK(fortran_calls == fortran_most * (p->fortran || fixture->nests),
          "%s: %d calls of the host's Fortran", name, fortran_calls);
    CHECK(fixture->wrong_lengths == 0, "%s: string lengths other than 1 were passed", name);
}

/* The sizes are below and above what the runtime calls small. */
static void check_products(const char *host, bool by_gemm, bool large)
{
    static const integer sizes[][3] = {{3, 4, 5}, {1, 7, 1}, {6, 1, 2}, {82, 81, 83}, {200, 200, 80}};
    const size_t count = sizeof sizes / sizeof *sizes;
    for (size_t i = 0; i < (large ? count : count - 1); i++)
        for (int form = 0; form < 12; form++) {
            product p = {.lower = (form + (int)i) % 3 == 0,
                         .left = form & 1,
                         .unit = ((int)i + form / 2) % 2 == 0,
                         .transpose_a = form & 1,
                         .transpose_b = form & 2,
                         .fortran = form >= 8,
                         .row_major = form >= 4 && form < 8,
                         .m = sizes[i][0],
                         .n = sizes[i][1],
                         .k = sizes[i][2]};
            check_product(&p, host, by_gemm);
        }
}

/* A routine of the host's that is another one, such as its LAPACK, is a caller like any other. */
static void check_call_from_host(const char *host)
{
    void *library = dlopen(host, RTLD_LAZY | RTLD_NOLOAD);
    void (*square)(void);
    if (!library || !getenv("TILEBLAS_VERBOSE"))
        return;
    *(void **)&square = dlsym(library, NAME_OF(PRODUCT_SQUARE));
    start_counting();
    square();
    int decisions = count_decisions();
    CHECK(decisions == 1, "a call from the host's own library: decided %d times", decisions);
}

int main(int argc, char **argv)
{
    if (argc != 2 && argc != 3)
        return 2;
    const char *chosen = getenv("TILEBLAS_HOST_BLAS");
    answers_by_choice = chosen && strcmp(chosen, argv[1]) == 0;
    const bool lacks = argc == 3 && strcmp(argv[2], "lacks") == 0;
    const bool by_gemm = argc == 3 && strcmp(argv[2], "gemm") == 0;
    check_products(argv[1], by_gemm, argc == 3 && strcmp(argv[2], "large") == 0);
    if (!by_gemm)
        check_call_from_host(argv[1]);
    CHECK(!lacks || lack_was_said, "it was not said that %s lacks the routine", chosen);
    return check_result();
}
