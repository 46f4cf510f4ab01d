/* Attaching to a program that is linked with a BLAS of its own, which the whole process sees, and to a module that brings
 * another one under the same names. Each is answered by its own, whoever is called first.
 *
 *   program TILEBLAS BLAS [MODULE BLAS MODE]    the first BLAS is the program's; MODE: own, or global where the module's
 *                                               references are bound to the program's BLAS, as without RTLD_DEEPBIND
 *
 * Built as a program at a fixed address, whose stubs stand for the functions whose addresses it takes, and as others are.
 */
#include "tests/attach/process.h"

#include "tests/abi/product.h"

static long own_errors(bool fortran, int size)
{
    const product p = {.fortran = fortran, .m = size, .n = size + 1, .k = size + 2};
    return product_errors(&p);
}

static void *volatile address;

static void check_both(const library *library, const module *own, const module *other, bool arrive,
                       const char *when)
{
    char text[64];
    snprintf(text, sizeof text, "%s, the program", when);
    check_calls(library, own, arrive, text);
    snprintf(text, sizeof text, "%s, the module", when);
    if (other)
        check_calls(library, other, arrive, text);
}

int main(int argc, char **argv)
{
    if (argc != 3 && argc != 6)
        return 2;
    address = (void *)PRODUCT_FORTRAN;
    const library tileblas = open_library(argv[1]);
    const fixture_state *blas = dlsym(RTLD_DEFAULT, "fixture_blas");
    const module own = {.errors = own_errors, .blas = blas};
    module other;
    const bool has_other = argc == 6, is_global = has_other && strcmp(argv[5], "global") == 0;
    if (has_other)
        other = open_module(argv[3], argv[4], is_global ? RTLD_LAZY | RTLD_LOCAL : ON_ITS_OWN);
    if (is_global)
        other.blas = blas;
    for (int round = 0; round < 2; round++) {
        const int bound = tileblas.attach();
        CHECK(bound > 0, "nothing is bound");
        check_both(&tileblas, &own, has_other ? &other : NULL, true, "attached");
        const int restored = tileblas.detach();
        CHECK(restored == bound, "%d references were bound and %d restored", bound, restored);
        check_both(&tileblas, &own, has_other ? &other : NULL, false, "detached");
    }
    return check_result();
}
