/* Operands of a case of the record, which are made for one call and its repetitions. */
#ifndef TB_RECORD_OPERANDS_H
#define TB_RECORD_OPERANDS_H

#include "record.h"

#include <stdint.h>

typedef enum record_role { RECORD_A, RECORD_B, RECORD_C, RECORD_ROLES } record_role;

/* The members of a batch. */
enum { RECORD_MEMBERS = 3 };

/* Rows and columns are those of the memory: a column is what lies together. Matrices of a batch lie one behind the other. */
typedef struct record_operand {
    char place;
    tb_element element;
    int rows, columns, ld;
    int members;
    size_t first, stride, bytes; /* of the block; the element that the call is given; between members */
    void *block;                 /* in its place */
    void *image;                 /* in ordinary memory; the block itself where it lies there */
} record_operand;

const tb_routine_row *record_row_of(const record_case *now);

/* C is read whatever beta is: it is the right-hand side. */
bool record_works_in_place(const record_case *now);

/* B of routines that have none is a single element. */
record_operand record_make_operand(const record_case *now, record_role role);
void record_free_operand(record_operand *operand);

/* Where the call finds it: of a batch, one of its matrices. */
void *record_member(const record_operand *operand, int number);

/* Elements in [-1, 1), or a value that is not to be read, which is also around them. */
void record_fill(record_operand *operand, uint64_t seed, bool readable);

/* The same of A; of a triangle that is solved with, one whose solutions stay of the size of right-hand sides. */
void record_fill_a(const record_case *now, record_operand *a, uint64_t seed);

/* The hash of every byte, those around it too. */
uint64_t record_hash_block(record_operand *operand);

uint64_t record_random(uint64_t *state);

#endif
