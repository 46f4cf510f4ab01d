/* What catalog.c stamps for triangular products and solves: entries of the small triangles and of what plain products leave to be
 * mended, and rows. For catalog.c alone.
 */
#ifndef TB_TRIANGULAR_ROWS_H
#define TB_TRIANGULAR_ROWS_H

#include "kernels/built_code.h"
#include "kernels/launch.h"
#include "kernels/triangular/mend.h"
#include "kernels/triangular/triangular.h"

#define TB_TRIANGULAR_ENTRY(module, stem, bytes)                                                             \
    static tb_entry entries_##stem[] = {                                                                     \
        {&module, #stem "_block", TB_TRIANGULAR_SHARED_BYTES(bytes), NULL, 0, TB_EARLY}};
#define TB_SOLVE_ENTRY(module, stem, bytes)                                                                  \
    static tb_entry entries_##stem[] = {                                                                     \
        {&module, #stem "_block", TB_SOLVE_SHARED_BYTES(bytes), NULL, 0, TB_EARLY}};

#define TB_TRIANGULAR_ROW(name_, stem, element_, bytes, in_place_, accuracy_, panels, words, ...)            \
    {                                                                                                        \
        .name = name_, .summary = words, .element = element_, .architecture = 75,                            \
        .tile_m = (panels)*TB_TRIANGULAR_ROWS(bytes), .tile_n = TB_TRIANGULAR_COLUMNS * TB_TRIANGULAR_WARPS, \
        .tile_k = 1, .threads = (in_place_) == TB_SOLVES ? TB_SOLVE_THREADS : TB_TRIANGULAR_THREADS,         \
        .shared_bytes =                                                                                      \
            (in_place_) == TB_SOLVES ? TB_SOLVE_SHARED_BYTES(bytes) : TB_TRIANGULAR_SHARED_BYTES(bytes),     \
        .efficiency = 0.5, .blocks = (in_place_) == TB_SOLVES ? TB_SOLVE_BLOCKS : TB_TRIANGULAR_BLOCKS,      \
        .alignment = 1, .reads = TB_READS_STRUCTURED, .in_place = in_place_, .accuracy = accuracy_,          \
        .entries = entries_##stem, __VA_ARGS__,                                                              \
    }
#define TB_BLOCKED_ROW(letter, element, bytes, accuracy, suffix, words)                                      \
    TB_TRIANGULAR_ROW(#letter "trsm_blocked" suffix, letter##trsm, element, bytes, TB_SOLVES, accuracy,      \
                      TB_TRIANGULAR_PANELS_SOLVED, "substitution in a triangle, by halves" words,            \
                      .sequence = TB_SOLVE)
#define TB_TRIANGLE_ROW(letter, kind, element, bytes, in_place, words)                                       \
    TB_TRIANGULAR_ROW(#letter #kind "_block", letter##kind, element, bytes, in_place, TB_ACCURACY_IEEE, 1,   \
                      words, .prepare = tb_triangle_prepare, .launch = tb_launch_triangle)

/* All rows of an element; and those whose products are tensor cores'. */
#define TB_TRIANGULAR_ROWS_OF(letter, element, bytes)                                                        \
    TB_TRIANGLE_ROW(letter, trmm, element, bytes, TB_MULTIPLIES, "a triangle times C, in one launch"),       \
        TB_TRIANGLE_ROW(letter, trsm, element, bytes, TB_SOLVES,                                             \
                        "substitution in a triangle, in one launch"),                                        \
        TB_EXPANDED_ROW(letter, element, TB_ACCURACY_IEEE, "", ""),                                          \
        TB_BLOCKED_ROW(letter, element, bytes, TB_ACCURACY_IEEE, "", "")
#define TB_TENSOR_TRIANGULAR_ROWS_OF(letter, element, bytes)                                                 \
    TB_EXPANDED_ROW(letter, element, TB_ACCURACY_FP32, "_tensor", ", on tensor cores"),                      \
        TB_BLOCKED_ROW(letter, element, bytes, TB_ACCURACY_FP32, "_tensor", ", products on tensor cores")

/* Triangular products as plain ones. */
#define TB_MEND_ENTRY(letter)                                                                                \
    static tb_entry entries_##letter##trmm_mend[] = {                                                        \
        {&module_trmm_mend, #letter "trmm_mend", 0, NULL, 0, TB_EARLY}};

#define TB_EXPANDED_ROW(letter, element_, accuracy_, suffix, words)                                          \
    {                                                                                                        \
        .name = #letter "trmm_expanded" suffix,                                                              \
        .summary = "a triangle times C, written out as one product" words, .element = element_,              \
        .architecture = 75, .tile_m = 128, .tile_n = 128, .tile_k = 1, .threads = TB_MEND_THREADS,           \
        .efficiency = 0.5, .blocks = 4, .alignment = 1, .reads = TB_READS_STRUCTURED,                        \
        .in_place = TB_MULTIPLIES, .accuracy = accuracy_, .entries = entries_##letter##trmm_mend,            \
        .sequence = TB_TRIANGLE_TIMES,                                                                       \
    }

#endif
