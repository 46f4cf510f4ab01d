/* cuBLAS as a contestant, where it is installed: opened at run time, never a dependency. Its caller's part, device
 * memory and copies, goes through the CUDA driver and is measured with it. Memory is kept from call to call, as a
 * program that cares would.
 */
#include "tools/contestants.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t device_address;

/* What cuda.h and cublas_v2.h declare; both answer 0 for success. */
static struct {
    int (*cuInit)(unsigned flags);
    int (*cuDeviceGet)(int *device, int ordinal);
    int (*cuDevicePrimaryCtxRetain)(void **context, int device);
    int (*cuCtxSetCurrent)(void *context);
    int (*cuMemAlloc_v2)(device_address *memory, size_t bytes);
    int (*cuMemFree_v2)(device_address memory);
    int (*cuMemcpyHtoD_v2)(device_address target, const void *source, size_t bytes);
    int (*cuMemcpyDtoH_v2)(void *target, device_address source, size_t bytes);
    int (*cublasCreate_v2)(void **handle);
    int (*cublasSgemm_v2)(void *handle, int transpose_a, int transpose_b, int m, int n, int k,
                          const float *alpha, const device_address a, int lda, const device_address b,
                          int ldb, const float *beta, device_address c, int ldc);
} call;

static void *handle;
static struct {
    device_address memory;
    size_t bytes;
} buffers[TB_ROLES];

static bool find(void *library, const char *name, void *function)
{
    void **target = function;
    *target = dlsym(library, name);
    return *target != NULL;
}

#define FIND(library, name) find(library, #name, &call.name)

static bool find_functions(void *driver, void *cublas)
{
    return FIND(driver, cuInit) && FIND(driver, cuDeviceGet) && FIND(driver, cuDevicePrimaryCtxRetain) &&
           FIND(driver, cuCtxSetCurrent) && FIND(driver, cuMemAlloc_v2) && FIND(driver, cuMemFree_v2) &&
           FIND(driver, cuMemcpyHtoD_v2) && FIND(driver, cuMemcpyDtoH_v2) && FIND(cublas, cublasCreate_v2) &&
           FIND(cublas, cublasSgemm_v2);
}

static size_t stored_bytes(const tb_matrix *operand)
{
    return tb_pitch(operand) * (size_t)operand->columns;
}

static bool reserve(int index, size_t bytes)
{
    if (bytes <= buffers[index].bytes)
        return true;
    if (buffers[index].bytes > 0)
        call.cuMemFree_v2(buffers[index].memory);
    buffers[index].bytes = 0;
    if (call.cuMemAlloc_v2(&buffers[index].memory, bytes) != 0)
        return false;
    buffers[index].bytes = bytes;
    return true;
}

static bool multiply_with_cublas(const tb_product *product)
{
    const float alpha = (float)product->alpha.re, beta = (float)product->beta.re;
    for (tb_role role = TB_A; role < TB_ROLES; role++) {
        const tb_matrix *operand = &product->operands[role].matrix;
        if (!reserve(role, stored_bytes(operand)))
            return false;
        const bool is_read = role != TB_C || beta != 0;
        if (is_read && call.cuMemcpyHtoD_v2(buffers[role].memory, operand->data, stored_bytes(operand)) != 0)
            return false;
    }
    /* The legacy stream orders the product before the copy back. */
    return call.cublasSgemm_v2(handle, product->a.transposed, product->b.transposed, (int)product->m,
                               (int)product->n, (int)product->k, &alpha, buffers[TB_A].memory,
                               (int)product->a.ld, buffers[TB_B].memory, (int)product->b.ld, &beta,
                               buffers[TB_C].memory, (int)product->c.ld) == 0 &&
           call.cuMemcpyDtoH_v2(product->c.data, buffers[TB_C].memory, stored_bytes(&product->c.matrix)) == 0;
}

static bool bring_up(void)
{
    int device;
    void *context;
    return call.cuInit(0) == 0 && call.cuDeviceGet(&device, 0) == 0 &&
           call.cuDevicePrimaryCtxRetain(&context, device) == 0 && call.cuCtxSetCurrent(context) == 0 &&
           call.cublasCreate_v2(&handle) == 0;
}

bool open_cublas(contestant *contestant)
{
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
                                        "libcublas.so"};
    *contestant = (struct contestant){.name = "cublas", .multiply = multiply_with_cublas};
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *cublas = NULL;
    for (size_t i = 0; driver && !cublas && i < sizeof names / sizeof *names; i++)
        cublas = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    Dl_info object;
    const char *problem = !driver                           ? "there is no NVIDIA driver (libcuda.so.1)"
                          : !cublas                         ? "libcublas is not installed"
                          : !find_functions(driver, cublas) ? "libcublas or libcuda lacks a function"
                          : !bring_up()                     ? "it found no GPU"
                          : !dladdr(*(void **)&call.cublasSgemm_v2, &object)
                              ? "it cannot be told where it lies"
                              : NULL;
    snprintf(contestant->origin, sizeof contestant->origin, "%s", problem ? problem : object.dli_fname);
    return problem == NULL;
}
