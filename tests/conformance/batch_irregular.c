/* Irregular arguments of batches: with no BLAS in the process but ours, the number that the program's handler of errors is
 * given, in either convention, and that no product of the call is computed, those of regular groups neither; with a host that
 * has batches (batch_host.c) that it is called, and with nothing changed.
 *
 *     batch_irregular [host]
 */
#include "tests/check.h"
#include "tests/conformance/batch_calls.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

static int64_t reported;
static char reported_name[64];

/* The program's own handlers, which the library finds as the dynamic linker does. */
void cblas_xerbla(int64_t number, const char *routine, const char *format, ...);
void xerbla_(const char *routine, const int *number, size_t length);

void cblas_xerbla(int64_t number, const char *routine, const char *format, ...)
{
    (void)format;
    reported = (int)number;
    snprintf(reported_name, sizeof reported_name, "%s", routine);
}

void xerbla_(const char *routine, const int *number, size_t length)
{
    reported = *number;
    snprintf(reported_name, sizeof reported_name, "%.*s", (int)length, routine);
}

/* What is wrong with the last of two groups, and CBLAS's numbers of it: of groups, and of a strided batch. Fortran's are one
 * less, and it has no layout. */
typedef struct mistake {
    const char *field;
    batch_group group;
    int number, strided_number;
} mistake;

enum { N = 4, SIZE = 2 };

#define REGULAR 'N', 'N', N, N, N, N, N, N, {1, 0}, {0, 0}, {16, 16, 16}, SIZE
static const mistake mistakes[] = {
    {"transa", {'x', 'N', N, N, N, N, N, N, {1, 0}, {0, 0}, {16, 16, 16}, SIZE}, 2, 2},
    {"transb", {'N', 'x', N, N, N, N, N, N, {1, 0}, {0, 0}, {16, 16, 16}, SIZE}, 3, 3},
    {"m", {'N', 'N', -1, N, N, N, N, N, {1, 0}, {0, 0}, {16, 16, 16}, SIZE}, 4, 4},
    {"n", {'N', 'N', N, -1, N, N, N, N, {1, 0}, {0, 0}, {16, 16, 16}, SIZE}, 5, 5},
    {"k", {'N', 'N', N, N, -1, N, N, N, {1, 0}, {0, 0}, {16, 16, 16}, SIZE}, 6, 6},
    {"lda", {'N', 'N', N, N, N, N - 1, N, N, {1, 0}, {0, 0}, {16, 16, 16}, SIZE}, 9, 9},
    {"ldb", {'N', 'N', N, N, N, N, N - 1, N, {1, 0}, {0, 0}, {16, 16, 16}, SIZE}, 11, 12},
    {"ldc", {'N', 'N', N, N, N, N, N, N - 1, {1, 0}, {0, 0}, {16, 16, 16}, SIZE}, 14, 16},
    {"size", {'N', 'N', N, N, N, N, N, N, {1, 0}, {0, 0}, {16, 16, 16}, -1}, 16, 18},
};

static double memory[3][4 * N * N * 2]; /* of A, B and C */

static void call(const batch_spelling *spelling, bool row_major, const batch_group *groups, int64_t count)
{
    const void *a[] = {memory[0], memory[0], memory[0], memory[0]},
               *b[] = {memory[1], memory[1], memory[1], memory[1]};
    void *c[] = {memory[2], memory[2], memory[2], memory[2]};
    reported = 0;
    *reported_name = '\0';
    for (size_t i = 0; i < sizeof memory[2] / sizeof *memory[2]; i++)
        memory[0][i] = memory[1][i] = 1, memory[2][i] = 7;
    batch_call(spelling, row_major, groups, count, a, b, c);
}

static bool is_untouched(void)
{
    for (size_t i = 0; i < sizeof memory[2] / sizeof *memory[2]; i++)
        if (memory[2][i] != 7)
            return false;
    return true;
}

static int number_of(const mistake *mistake, const batch_spelling *spelling)
{
    const bool strided = tb_class_of(spelling->routine)->is_strided;
    const int number = strided ? mistake->strided_number : mistake->number;
    return number - spelling->fortran;
}

static void numbers_are_gemms(const batch_spelling *spelling, atomic_long *host_calls)
{
    const tb_routine_row *row = &tb_routine_rows[spelling->routine];
    const bool strided = tb_class_rows[row->class].is_strided;
    const batch_group regular = {REGULAR};
    call(spelling, false, &regular, 1); /* the host is asked whether it computes */
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        for (int row_major = 0; row_major < (spelling->fortran ? 1 : 2); row_major++) {
            const batch_group groups[] = {regular, mistakes[i].group};
            const long before = host_calls ? atomic_load(host_calls) : 0;
            call(spelling, row_major, strided ? &groups[1] : groups, strided ? 1 : 2);
            const char *name = spelling->fortran ? row->reported : row->cblas_name;
            if (host_calls) {
                CHECK(atomic_load(host_calls) == before + 1 && reported == 0,
                      "%s: an irregular %s is kept from the host", spelling->name, mistakes[i].field);
                continue;
            }
            CHECK(reported == number_of(&mistakes[i], spelling) &&
                      strncmp(reported_name, name, strlen(reported_name)) == 0 && *reported_name,
                  "%s: an irregular %s is argument %d of %s, not %d", spelling->name, mistakes[i].field,
                  (int)reported, reported_name, number_of(&mistakes[i], spelling));
            CHECK(is_untouched(), "%s: with an irregular %s something was computed", spelling->name,
                  mistakes[i].field);
        }
}

/* Nothing to do, and nothing to report. */
static void empty_calls_do_nothing(const batch_spelling *spelling)
{
    const bool strided = tb_class_of(spelling->routine)->is_strided;
    const batch_group empty = {'N', 'N', N, N, N, N, N, N, {1, 0}, {0, 0}, {16, 16, 16}, 0},
                      regular = {REGULAR};
    call(spelling, false, &empty, 1);
    CHECK(reported == 0 && is_untouched(), "%s: an empty group", spelling->name);
    if (strided)
        return;
    call(spelling, false, &regular, 0);
    CHECK(reported == 0 && is_untouched(), "%s: no groups", spelling->name);
    call(spelling, false, &regular, -1);
    CHECK(reported == 15 - spelling->fortran && is_untouched(), "%s: fewer than no groups are argument %d",
          spelling->name, (int)reported);
}

/* Matrices of no elements need not be anywhere, nor be listed; and many of them take no time. */
static void matrices_without_elements_are_nowhere(const batch_spelling *spelling)
{
    const bool strided = tb_class_of(spelling->routine)->is_strided;
    const int64_t many = strided ? INT32_MAX : SIZE;
    const batch_group groups[] = {
        {'N', 'N', 0, N, N, N, N, N, {1, 0}, {0, 0}, {16, 16, 16}, many},
        {'N', 'N', N, 0, N, N, N, N, {1, 0}, {0, 0}, {16, 16, 16}, many},
    };
    const void *nothing[] = {NULL};
    reported = 0;
    for (int64_t i = 0; i < 2; i++)
        if (strided)
            batch_call(spelling, false, &groups[i], 1, nothing, nothing, (void *const *)nothing);
    if (!strided)
        batch_call(spelling, false, groups, 2, NULL, NULL, NULL);
    CHECK(reported == 0, "%s: matrices without elements are argument %d", spelling->name, (int)reported);
}

int main(int count, char **arguments)
{
    alarm(60);
    const bool on_host = count > 1 && strcmp(arguments[1], "host") == 0;
    void *host = on_host ? dlopen(getenv("TILEBLAS_HOST_BLAS"), RTLD_LAZY) : NULL;
    atomic_long *host_calls = host ? dlsym(host, "batch_host_calls") : NULL;
    CHECK(!on_host || host_calls, "no host");
    for (int64_t i = 0; i < batch_spelling_count(); i++) {
        const batch_spelling *spelling = batch_spelling_numbered(i);
        if (on_host && spelling->bits == 64)
            continue;
        numbers_are_gemms(spelling, host_calls);
        if (!on_host)
            empty_calls_do_nothing(spelling);
        if (!on_host)
            matrices_without_elements_are_nowhere(spelling);
    }
    return check_result();
}
