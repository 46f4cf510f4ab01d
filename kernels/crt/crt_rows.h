/* What catalog.c stamps for FP64 from INT8: entries and rows. For catalog.c alone. */
#ifndef TB_CRT_ROWS_H
#define TB_CRT_ROWS_H

#include "kernels/crt/crt.h"
#include "kernels/launch.h"

#define TB_CRT_FILE(stem, ring_bytes, early)                                                                 \
    static tb_module module_##stem = {.name = #stem};                                                        \
    static tb_entry entries_##stem[] = {                                                                     \
        [TB_CRT_SURVEY] = {&module_##stem, #stem "_survey", 0, NULL, 0, early},                              \
        [TB_CRT_GATHER] = {&module_##stem, #stem "_gather", 0, NULL, 0, early},                              \
        [TB_CRT_DECIDE] = {&module_##stem, #stem "_decide", 0, NULL, 0, early},                              \
        [TB_CRT_RESIDUES] = {&module_##stem, #stem "_residues", 0, NULL, 0, early},                          \
        [TB_CRT_MULTIPLY] = {&module_##stem, #stem "_multiply", ring_bytes, NULL, 0, early},                 \
        [TB_CRT_JOIN] = {&module_##stem, #stem "_join", 0, NULL, 0, early},                                  \
        [TB_CRT_RESIDUES_OF_PAIRS] = {&module_##stem, #stem "_residues_of_pairs", 0, NULL, 0, early},        \
        [TB_CRT_MULTIPLY_PAIRS] = {&module_##stem, #stem "_multiply_pairs", ring_bytes, NULL, 0, early},     \
    };

#define TB_CRT_ROW(row, words, first, end, chosen_end_, tile_n_, threads_, ring_bytes, efficiency_, blocks_) \
    {                                                                                                        \
        .name = "dgemm_crt_" #row,                                                                           \
        .summary = words " by the Chinese remainder theorem, FP64 where numbers differ too much",            \
        .architecture = first, .architecture_end = end, .chosen_end = chosen_end_, .tile_m = TB_CRT_TILE_M,  \
        .tile_n = tile_n_, .tile_k = TB_CRT_STAGE_K, .threads = threads_, .shared_bytes = ring_bytes,        \
        .element = TB_FP64, .efficiency = efficiency_, .blocks = blocks_, .alignment = 1, .masks = true,     \
        .k_limit = TB_CRT_K_MOST, .accuracy = TB_ACCURACY_FP32, .least_extent = 1024,                        \
        .entries = entries_dgemm_crt_##row, .prepare = tb_crt_##row##_prepare,                               \
        .launch = tb_launch_crt_##row, .others = tb_catalog,                                                 \
    }

#endif
