/* Products on the device whose error is known: operands of a family and an element, a sample of 64 x 64
 * elements of C summed in double-double, and the error of what a kernel or cuBLAS makes of them.
 *
 * For programs: a step that fails is printed and ends the program.
 */
#ifndef TB_SAMPLED_PRODUCT_H
#define TB_SAMPLED_PRODUCT_H

#include "kernels/catalog.h"
#include "lib/device/device.h"
#include "tests/gpu/accuracy_families.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#define SAMPLED_M    1024
#define SAMPLED_N    1152
#define SAMPLED_SIDE 64
/* Elements that C has at most. */
#define SAMPLED_ROOM ((size_t)3584 * 3584)

#define MUST_CUDA(call)   sampled_must((call) == cudaSuccess, #call)
#define MUST_CUBLAS(call) sampled_must((call) == CUBLAS_STATUS_SUCCESS, #call)
#define MUST_TB(call)     sampled_must((call) == TB_OK, #call)
void sampled_must(bool condition, const char *step);

/* outer x k, on the host and on the device; k contiguous: A is stored transposed, B is not. */
typedef struct sampled_operand {
    int64_t outer, k;
    const accuracy_family *family;
    tb_element element;
    bool in_b;
    uint64_t seed;
    void *host, *device;
} sampled_operand;

/* Makes an operand of so many lines, no fewer than SAMPLED_SIDE. */
sampled_operand sampled_make_lines(const accuracy_family *family, tb_element element, int64_t outer,
                                   int64_t k, bool in_b, uint64_t seed);

void sampled_drop_operand(sampled_operand *operand);

typedef double sampled_elements[SAMPLED_SIDE][SAMPLED_SIDE]; /* [column][row] */

typedef struct sampled_reference {
    const sampled_operand *a, *b;
    double
        floor; /* what a step of k adds to d for each unit of the row's and the column's largest magnitudes */
    int exponent; /* the following three are in units of this power of 2, so that nothing over- or underflows */
    sampled_elements sum, rest; /* what the sum is more than a double holds of it */
    sampled_elements magnitude; /* d */
    sampled_elements loop;      /* what a plain loop of fused multiply-adds makes of it */
} sampled_reference;

/* Fills in the sums, from the first three. */
void sampled_refer(sampled_reference *reference);

typedef struct sampled_errors {
    double maximum, rms, bias; /* in u d, with the element's u */
    double of_result;          /* rms error over rms result */
} sampled_errors;

sampled_errors sampled_measure(const sampled_reference *reference, const sampled_elements sample);

/* The first device, a stream on it, and a place for a C of up to SAMPLED_M x SAMPLED_N elements. */
typedef struct sampled_device {
    tb_stream *stream;
    cudaStream_t native;
    cublasHandle_t cublas; /* pedantic */
    void *device_c, *host_c;
    double alpha;            /* of kernels' products, 1 unless it is changed */
    sampled_elements sample; /* of host_c */
} sampled_device;

void sampled_open(sampled_device *device);

/* A number of host_c or of an operand. */
double sampled_number(tb_element element, const void *numbers, int64_t index);

/* The product that the functions below compute. */
tb_product sampled_product(const sampled_device *device, const sampled_operand *a, const sampled_operand *b);

/* Each leaves C in host_c and its sample beside, and NaN on the device, so that an element that the next product leaves
 * out is found. */
void sampled_multiply(sampled_device *device, const tb_kernel *kernel, const sampled_operand *a,
                      const sampled_operand *b);
void sampled_multiply_cublas(sampled_device *device, bool tf32, const sampled_operand *a,
                             const sampled_operand *b);

/* The same of any product on the device. A complex C is a real one of twice as many rows: its parts are looked at by
 * themselves. */
void sampled_multiply_product(sampled_device *device, const tb_kernel *kernel, const tb_product *product);
void sampled_multiply_product_cublas(sampled_device *device, bool tf32, const tb_product *product);

#endif
