/* dgemm_crt: products of double precision from INT8 tensor cores, by the Chinese remainder theorem (docs/precision.md). What the
 * launch function passes to its kernels. Shared by C and CUDA.
 *
 * Words: an outer index is a row of op(A) or a column of op(B). Its quantum is the power of two of which its numbers are taken as
 * multiples: what lies between two multiples is rounded. A residue is what is left of an integer by one of the moduli, as a byte;
 * a plane holds all residues of an operand by one modulus. A panel is as many outer indices as a tile of C has columns,
 * or as tiles that are taken together have rows.
 */
#ifndef TB_CRT_H
#define TB_CRT_H

#include "kernels/dgemm.h"
#include "kernels/mask.h"

/* Moduli there are: the product of all has 132 bits; that of the norms of a row and a column of integers is below 2^126. */
#define TB_CRT_MODULI 17

/* Sums of so many products of residues, each of at most 2^14, stay below 2^30. */
#define TB_CRT_K_MOST 65536

/* Steps of k that residues lie together for. */
#define TB_CRT_STAGE_K 128

/* Tiles of C, and the ring of stages in shared memory. Threads hold a tile's elements 16 x 8 at a time, four each, as
 * mma.sync.m16n8 and wgmma give them; they store the residues of four such pieces, a vector, at a time. */
#define TB_CRT_TILE_M          128
#define TB_CRT_CONSUMERS       256
#define TB_CRT_VECTORS(tile_n) (TB_CRT_TILE_M * (tile_n) / TB_CRT_CONSUMERS / 16)

/* dgemm_crt_sm90 has clusters of two blocks, one tile above the other. */
#define TB_CRT_SM90_TILE_N      256
#define TB_CRT_SM90_CLUSTER     2
#define TB_CRT_SM90_THREADS     384
#define TB_CRT_SM90_STAGES      4
#define TB_CRT_SM90_STAGE_BYTES ((TB_CRT_TILE_M + TB_CRT_SM90_TILE_N) * TB_CRT_STAGE_K)
#define TB_CRT_SM90_RING_BYTES  (TB_CRT_SM90_STAGES * (TB_CRT_SM90_STAGE_BYTES + 2 * 8))

/* dgemm_crt_sm80 and dgemm_crt_sm75 copy half of the steps at a time. A multiprocessor has room for two blocks, one of 7.5 in 64
 * KiB. */
#define TB_CRT_MMA_TILE_N      128
#define TB_CRT_MMA_BLOCKS      2
#define TB_CRT_MMA_COPY_K      64
#define TB_CRT_MMA_STAGE_BYTES ((TB_CRT_TILE_M + TB_CRT_MMA_TILE_N) * TB_CRT_MMA_COPY_K)
#define TB_CRT_SM80_STAGES     3
#define TB_CRT_SM80_RING_BYTES (TB_CRT_SM80_STAGES * TB_CRT_MMA_STAGE_BYTES)
#define TB_CRT_SM75_STAGES     2
#define TB_CRT_SM75_RING_BYTES (TB_CRT_SM75_STAGES * TB_CRT_MMA_STAGE_BYTES)

/* Panels of A, or pairs of them, whose tiles are in flight together. */
#define TB_CRT_GROUP 8

/* What a block of the survey takes: outer indices, and steps of k between these. */
#define TB_CRT_BLOCK_ROWS     64
#define TB_CRT_PASS_THREADS   256
#define TB_CRT_SCOUTS         1 /* blocks of it that come first, see scout.cuh */
#define TB_CRT_PASS_BLOCKS    3 /* at least, on a multiprocessor; so of the following */
#define TB_CRT_SURVEY_K_LEAST 128
#define TB_CRT_SURVEY_K_SHORT 256
#define TB_CRT_SURVEY_K_MOST  1024
#define TB_CRT_DECIDE_THREADS 1024

/* Pieces of an operand, of which residues are made. */
#define TB_CRT_PIECE_ROWS    32
#define TB_CRT_PIECE_K       64
#define TB_CRT_PIECE_THREADS 128
#define TB_CRT_PIECE_BLOCKS  6
#define TB_CRT_PAIRS_BLOCKS  3  /* where numbers are complex */
#define TB_CRT_PIECE_TURNS   12 /* blocks a multiprocessor that are launched */

#define TB_CRT_JOIN_BLOCKS 2

/* Exponents of the numbers that the method takes: sums of their squares neither overflow nor vanish. */
#define TB_CRT_EXPONENT_MOST 480

/* What the survey finds in some steps of an outer index. */
typedef struct tb_crt_census {
    double squares;      /* their sum */
    uint32_t logarithms; /* sum of those of nonzero magnitudes, see survey.cuh */
    uint32_t largest;    /* the largest magnitude's upper word */
    int32_t lowest;      /* exponent of the last bit that is not 0 of any */
    int32_t count; /* nonzero numbers; negative: there are infinities, NaN, or exponents beyond the limits */
} tb_crt_census;

/* What is known of an outer index when all of it has been surveyed. Logarithms are to base 2, and beside the largest magnitude's
 * exponent, so that they do not depend on powers of two that all numbers have in common. */
typedef struct tb_crt_record {
    float norm;    /* logarithm of the root of the sum of squares; below TB_CRT_NOTHING where all are zero */
    float largest; /* of the largest magnitude, from 0 to 1 */
    float deficit; /* how far those of nonzero magnitudes are below the largest one's, added up */
    float zeros;   /* how many there are; negative: see count above */
    int32_t exponent;
    int32_t lowest; /* exponent of the last bit that is not 0, beside that one */
} tb_crt_record;
#define TB_CRT_NOTHING (-1e30f)

/* Positions in a row's entries. */
enum {
    TB_CRT_SURVEY,
    TB_CRT_GATHER,
    TB_CRT_DECIDE,
    TB_CRT_RESIDUES,
    TB_CRT_MULTIPLY,
    TB_CRT_JOIN,
    TB_CRT_RESIDUES_OF_PAIRS,
    TB_CRT_MULTIPLY_PAIRS,
    TB_CRT_ENTRIES
};

/* Planes of a modulus, where numbers are complex: of real parts, of imaginary parts, and of the sums of both. */
#define TB_CRT_SETS 3

/* What is decided, in device memory. What concerns A stays for the next launch, if that has the same A. */
typedef struct tb_crt_decision {
    int32_t moduli;      /* 0: the operands are multiplied as they are */
    int32_t makes_a;     /* whether A's residues are not there already */
    int32_t knows_a;     /* A's records are there */
    int32_t moduli_of_a; /* planes of A that are there */
    /* A's quanta are fine enough for a B that has no more of either; and the bits that A has with them. */
    float zeros_of_b, spread_of_b;
    float bits_of_a;  /* negative: A has no quanta */
    int64_t given_up; /* the launch's ticket where its scout has given up (scout.cuh) */
} tb_crt_decision;

typedef struct tb_crt_operand {
    const double *elements;
    int64_t rows, k, leading_dimension; /* rows: outer indices; k: steps, of one number or of a complex one */
    int32_t k_contiguous;
    int32_t panel, panels;
    uint8_t *residues;      /* [modulus][set][panel][stage][k / 16][row][k % 16] */
    int64_t plane;          /* bytes of a set */
    tb_crt_census *census;  /* [block of k][row] */
    tb_crt_record *records; /* of each outer index */
    int32_t *quantum;       /* likewise, its exponent */
} tb_crt_operand;

typedef struct tb_crt_arguments {
    tb_dgemm problem;
    tb_crt_operand a, b;
    tb_crt_decision *decision;
    int64_t ticket;      /* no other launch has it */
    uint8_t *residues_c; /* [modulus][tile][part][vector][thread] of 16 bytes */
    int32_t
        parts; /* of a number: 1, or 2 of complex ones, which are one below the other in the problem's A, B and C */
    int32_t stages;             /* of k */
    int32_t cluster;            /* tiles one above the other that are taken together */
    int32_t tiles;              /* such pairs, or single tiles, that touch the mask */
    int32_t tiles_m, tiles_n;   /* all of them, where C has no mask */
    int32_t survey_k;           /* of a block of the survey */
    int32_t moduli_most;        /* with more the operands are multiplied as they are */
    int32_t leaves_a;           /* all of A's residues will be there for the next launch */
    int32_t keeps_a;            /* A is that of the launch before */
    int32_t same;               /* op(B) is op(A) transposed, and shares all that is made of A */
    int32_t pieces_a, pieces_b; /* of the operands, to make residues of */
    tb_masked_tiles masked;     /* these, where C has a mask */
} tb_crt_arguments;

#endif
