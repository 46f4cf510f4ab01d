/* Stands for libcuda.so.1 and libcublas.so.13 at once: device memory is host memory. With FIXTURE_CUBLAS_WRONG in
 * the environment its products are wrong.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int cuInit(unsigned flags);
int cuDeviceGet(int *device, int ordinal);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuMemAlloc_v2(uint64_t *memory, size_t bytes);
int cuMemFree_v2(uint64_t memory);
int cuMemcpyHtoD_v2(uint64_t target, const void *source, size_t bytes);
int cuMemcpyDtoH_v2(void *target, uint64_t source, size_t bytes);
int cublasCreate_v2(void **handle);
int cublasSgemm_v2(void *handle, int transpose_a, int transpose_b, int m, int n, int k, const float *alpha,
                   const float *a, int lda, const float *b, int ldb, const float *beta, float *c, int ldc);

static int only_context;

int cuInit(unsigned flags)
{
    return flags != 0;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    *context = &only_context;
    return device != 0;
}

int cuCtxSetCurrent(void *context)
{
    return context != &only_context;
}

int cuMemAlloc_v2(uint64_t *memory, size_t bytes)
{
    *memory = (uintptr_t)malloc(bytes);
    return *memory == 0;
}

int cuMemFree_v2(uint64_t memory)
{
    free((void *)(uintptr_t)memory);
    return 0;
}

int cuMemcpyHtoD_v2(uint64_t target, const void *source, size_t bytes)
{
    memcpy((void *)(uintptr_t)target, source, bytes);
    return 0;
}

int cuMemcpyDtoH_v2(void *target, uint64_t source, size_t bytes)
{
    memcpy(target, (const void *)(uintptr_t)source, bytes);
    return 0;
}

int cublasCreate_v2(void **handle)
{
    *handle = &only_context;
    return 0;
}

int cublasSgemm_v2(void *handle, int transpose_a, int transpose_b, int m, int n, int k, const float *alpha,
                   const float *a, int lda, const float *b, int ldb, const float *beta, float *c, int ldc)
{
    if (handle != &only_context || transpose_a || transpose_b || *beta != 0)
        return 1;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            float sum = getenv("FIXTURE_CUBLAS_WRONG") ? 1 : 0;
            for (int l = 0; l < k; l++)
                sum += a[i + l * lda] * b[l + j * ldb];
            c[i + j * ldc] = *alpha * sum;
        }
    return 0;
}
