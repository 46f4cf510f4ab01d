/* Random calls: every routine, spelling, triangle, shape, storage, scalar and place that a program may use. */
#ifndef TB_CASES_H
#define TB_CASES_H

#include "words/place.h"
#include "tests/conformance/spellings.h"
#include "tests/oracle.h"

#define CASE_MIXED_MEMORY   (-1)
#define CASE_MIXED_ELEMENTS (-1)

/* What the cases of a run have in common. */
typedef struct case_wishes {
    int memory; /* a tb_memory, or CASE_MIXED_MEMORY: each operand somewhere else */
    int bits;   /* of an integer argument; 0: both */
    int element; /* a tb_element, that most cases, or their parts, are of, or CASE_MIXED_ELEMENTS: as likely as any other */
} case_wishes;

typedef struct operand {
    tb_memory memory;
    void *block; /* in that memory, laid out as the matrix's */
    void *start; /* of element 0; NULL when the call is given no pointer */
} operand;

typedef struct routine_call {
    const spelling *spelling;
    call_arguments arguments;
    product product; /* the matrices as they are before the call */
    operand a, b, c;
} routine_call;

routine_call case_make(check_random *random, const case_wishes *wishes);
void case_free(routine_call *spent);

/* False: neither A nor B is to be read, as alpha or k is 0. */
bool case_multiplies(const routine_call *made);

/* Whether C holds the product and all else is as it was; if not, says what is wrong first. */
bool case_holds(const routine_call *made, char *message, size_t size);

/* The tb_memory of that name, "host" to "device"; CASE_MIXED_MEMORY for "mixed". */
int case_memory_named(const char *name);

/* "cblas_sgemm row-major side 0 triangle 0 transposes 111 112, m=3 ..., A in host memory at 0x..." */
void case_describe(const routine_call *made, char *text, size_t size);

#endif
