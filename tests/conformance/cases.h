/* Random calls of GEMM: every routine, spelling, shape, storage, scalar and place that a program may use. */
#ifndef TB_CASES_H
#define TB_CASES_H

#include "words/place.h"
#include "tests/conformance/spellings.h"
#include "tests/matrix.h"

#define CASE_MIXED_MEMORY   (-1)
#define CASE_MIXED_ROUTINES (-1)

/* What the cases of a run have in common. */
typedef struct case_wishes {
    int memory;  /* a tb_memory, or CASE_MIXED_MEMORY: each operand somewhere else */
    int bits;    /* of an integer argument; 0: both */
    int routine; /* a tb_routine, that most cases call, or CASE_MIXED_ROUTINES: as likely as any other */
} case_wishes;

typedef struct operand {
    tb_memory memory;
    void *block; /* in that memory, laid out as the matrix's */
    void *start; /* of element 0; NULL when the call is given no pointer */
} operand;

typedef struct gemm_case {
    const spelling *spelling;
    gemm_arguments arguments;
    product product; /* the matrices as they are before the call */
    operand a, b, c;
} gemm_case;

gemm_case case_make(check_random *random, const case_wishes *wishes);
void case_free(gemm_case *spent);

/* False: neither A nor B is to be read, as alpha or k is 0. */
bool case_multiplies(const gemm_case *made);

/* Whether C holds the product and all else is as it was; if not, says what is wrong first. */
bool case_holds(const gemm_case *made, char *message, size_t size);

/* The tb_memory of that name, "host" to "device"; CASE_MIXED_MEMORY for "mixed". */
int case_memory_named(const char *name);

/* "cblas_sgemm row-major transposes 111 112, m=3 ..., A in host memory at 0x..." */
void case_describe(const gemm_case *made, char *text, size_t size);

#endif
