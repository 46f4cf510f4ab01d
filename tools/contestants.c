/* The host's BLAS and TileBLAS; cuBLAS is in cublas.c. */
#include "tools/contestants.h"

#include "compat/arguments.h"
#include "compat/host_blas.h"
#include "tools/tool.h"

#include <dlfcn.h>
#include <stdio.h>

static const tb_host_blas *host_blas;
static union {
    void *address;
    void (*call)(int layout, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k, float alpha,
                 const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc);
} tileblas_sgemm;
static union {
    void *address;
    size_t (*call)(char *text, size_t size);
} last_plan;

static bool multiply_on_host(const tb_product *product)
{
    host_blas->base.call(&host_blas->base, tb_task_of_product(product));
    return true;
}

bool open_host_blas(contestant *contestant)
{
    *contestant = (struct contestant){.name = "host", .multiply = multiply_on_host};
    host_blas = tb_find_host_blas(TB_SPELLING_cblas_sgemm, __builtin_return_address(0));
    Dl_info object;
    if (!host_blas->address || !dladdr(host_blas->address, &object)) {
        snprintf(contestant->origin, sizeof contestant->origin, "no BLAS was found");
        return false;
    }
    snprintf(contestant->origin, sizeof contestant->origin, "%s", object.dli_fname);
    return true;
}

/* Sizes go in whole registers, so that a library of either integer width reads them. */
static bool multiply_with_tileblas(const tb_product *product)
{
    tileblas_sgemm.call(TB_COLUMN_MAJOR, TB_NO_TRANSPOSE + product->a.transposed,
                        TB_NO_TRANSPOSE + product->b.transposed, product->m, product->n, product->k,
                        (float)product->alpha.re, product->a.data, product->a.ld, product->b.data,
                        product->b.ld, (float)product->beta.re, product->c.data, product->c.ld);
    return true;
}

/* Measured is what a program sees once the device is up. */
static void let_it_wait_for_the_device(void *library)
{
    union {
        void *address;
        int (*call)(const char *name, const char *value);
    } set_option = {dlsym(library, "tileblas_set_option")};
    if (set_option.address)
        set_option.call("START", "wait");
}

bool open_tileblas(const char *path, contestant *contestant)
{
    char found[PATH_MAX];
    *contestant = (struct contestant){.name = "tileblas", .multiply = multiply_with_tileblas};
    if (!path && tool_find_library(TB_CODE_HOLDER, found, sizeof found))
        path = found;
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    tileblas_sgemm.address = library ? dlsym(library, "cblas_sgemm") : NULL;
    last_plan.address = library ? dlsym(library, "tileblas_last_plan") : NULL;
    if (!tileblas_sgemm.address || !last_plan.address) {
        snprintf(contestant->origin, sizeof contestant->origin, "%s",
                 !path     ? TB_CODE_HOLDER " was not found"
                 : library ? "is no TileBLAS"
                           : dlerror());
        return false;
    }
    snprintf(contestant->origin, sizeof contestant->origin, "%s", path);
    let_it_wait_for_the_device(library);
    return true;
}

void last_tileblas_plan(char *text, size_t size)
{
    last_plan.call(text, size);
}
