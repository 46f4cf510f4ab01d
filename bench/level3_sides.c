#include "bench/level3_sides.h"

#include "bench/expect.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdlib.h>

/* The documentation tells no best one. */
static const int xt_blocks[LEVEL3_XT_BLOCKS] = {1024, 2048, 4096};

static level3_side library_side(const char *name, const char *key, const char *file)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    bench_expect(library != NULL, dlerror());
    return (level3_side){.name = name, .key = key, .library = library};
}

static level3_side cublas_side(void)
{
    level3_side side = {.name = "cuBLAS", .key = "cublas"};
    bench_expect(cublasCreate(&side.cublas) == CUBLAS_STATUS_SUCCESS, "cuBLAS does not start");
    return side;
}

static level3_side xt_side(int block)
{
    level3_side side = {.name = "cublasXt", .key = "cublasxt", .block = block};
    bench_expect(bench_create_cublas_xt(&side.cublas_xt, block) == CUBLAS_STATUS_SUCCESS,
                 "cublasXt does not start");
    return side;
}

level3_sides level3_open_sides(const level3_options *options)
{
    const bool on_host = options->on_host, itself = options->itself;
    level3_sides sides = {.on_host = on_host, .has_xt = on_host && !options->pairs};
    if (on_host)
        setenv("TILEBLAS_START", "wait", 0); /* the first call brings the device up */
    sides.list[LEVEL3_REFERENCE] =
        on_host ? library_side("OpenBLAS", "openblas", "libopenblas.so.0") : cublas_side();
    sides.list[LEVEL3_OURS] =
        itself ? sides.list[LEVEL3_REFERENCE] : library_side("TileBLAS", "tileblas", TB_LIBRARY);
    if (itself)
        sides.list[LEVEL3_OURS].key = "itself";
    for (int i = 0; sides.has_xt && i < LEVEL3_XT_BLOCKS; i++)
        sides.list[LEVEL3_XT + i] = xt_side(xt_blocks[i]);
    return sides;
}

int level3_count_sides(const level3_sides *sides, int n)
{
    int blocks = sides->has_xt ? 1 : 0;
    while (blocks > 0 && blocks < LEVEL3_XT_BLOCKS && xt_blocks[blocks - 1] < n)
        blocks++;
    return LEVEL3_XT + blocks;
}

static bench_function *find_routine(const level3_side *side, const bench_routine *routine)
{
    char symbol[16];
    snprintf(symbol, sizeof symbol, "%s_", routine->name);
    return (bench_function *)dlsym(side->library, symbol);
}

bool level3_find_routine(level3_sides *sides, const bench_routine *routine)
{
    for (int i = LEVEL3_OURS; i <= LEVEL3_REFERENCE; i++) {
        level3_side *side = &sides->list[i];
        side->function = side->library ? find_routine(side, routine) : NULL;
        if (side->library && !side->function)
            return false;
    }
    return true;
}

bool level3_call(const level3_sides *sides, int side, const bench_routine *routine, const tb_product *product)
{
    const level3_side *called = &sides->list[side];
    if (called->library)
        bench_call_fortran(called->function, product);
    else if ((called->cublas
                  ? bench_call_cublas(called->cublas, routine, product)
                  : bench_call_cublas_xt(called->cublas_xt, routine, product)) != CUBLAS_STATUS_SUCCESS)
        return false;
    return sides->on_host || cudaDeviceSynchronize() == cudaSuccess;
}
