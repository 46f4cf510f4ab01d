/* A program whose library has functions of its own under bare names (own_names.c): called there and from here, twice, plain,
 * preloaded, linked behind a TileBLAS and, with that as the argument, attached to one.
 */
#include "tests/abi/own_names.h"

#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc > 1) {
        int (*attach)(void);
        void *library = dlopen(argv[1], RTLD_NOW);
        if (!library || !(*(void **)&attach = dlsym(library, "tileblas_attach")) || attach() != 0)
            return 2;
    }
    for (int i = 0; i < 2; i++) {
        const double a[4] = {1, 2, 3, 4};
        double c[4] = {-1, -1, -1, -1};
        dgemm(2, a, a, c);
        const double sum = DSYMM(1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10);
        if (!own_names_work() || c[0] != 7 || c[3] != 22 || sum != 385 || sgemm_batch(41) != 42)
            return fprintf(stderr, "the program's own functions were not called\n"), 1;
    }
    return 0;
}
