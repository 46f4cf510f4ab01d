/* What matrices are made of. Sizes are in elements wherever an index is meant, and in bytes where memory is. */
#ifndef TB_ELEMENT_H
#define TB_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum tb_element {
    TB_FP32,
    TB_FP64,
    TB_REAL_ELEMENTS, /* kernels that are fast multiply these: lowered.h says how complex ones get there */
    TB_COMPLEX_FP32 = TB_REAL_ELEMENTS,
    TB_COMPLEX_FP64,
    TB_ELEMENTS,
} tb_element;

typedef struct tb_element_row {
    char letter; /* by which BLAS names it: S, D, C, Z */
    uint8_t bytes;
    bool is_complex;
    double roundoff; /* of its real numbers: 2^-24, 2^-53 */
} tb_element_row;

extern const tb_element_row tb_element_rows[TB_ELEMENTS];

static inline size_t tb_bytes_of(tb_element element)
{
    return tb_element_rows[element].bytes;
}

static inline bool tb_is_complex(tb_element element)
{
    return element >= TB_REAL_ELEMENTS;
}

/* The element that real and imaginary parts are of. */
static inline tb_element tb_real_of(tb_element element)
{
    return tb_is_complex(element) ? (tb_element)(element - TB_REAL_ELEMENTS) : element;
}

#endif
