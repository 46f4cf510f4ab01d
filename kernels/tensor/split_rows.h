/* What catalog.c stamps for the tensor-core families of 9.0: entries and rows. For catalog.c alone. */
#ifndef TB_SPLIT_ROWS_H
#define TB_SPLIT_ROWS_H

#include "kernels/tensor/launch_tensor.h"

#define TB_SPLIT_ENTRIES(module, name, row_bytes)                                                            \
    [TB_SPLIT_BEGIN] = {&module, name "_begin", 0, NULL, 0, true},                                           \
    [TB_SPLIT_SPLIT] = {&module, name "_split", 0, NULL, 0, true},                                           \
    [TB_SPLIT_MULTIPLY_WIDE] =                                                                               \
        {&module, name "_128x192", TB_SPLIT_RING_BYTES(row_bytes, TB_SPLIT_WIDE), NULL, 0, true},            \
    [TB_SPLIT_MULTIPLY_NARROW] =                                                                             \
        {&module, name "_128x128", TB_SPLIT_RING_BYTES(row_bytes, TB_SPLIT_NARROW), NULL, 0, true},          \
    [TB_SPLIT_ADD_WIDE] = {&module, name "_add_128x192", 0, NULL, 0, true},                                  \
    [TB_SPLIT_ADD_NARROW] = {&module, name "_add_128x128", 0, NULL, 0, true}

#define TB_SPLIT_ROW(family, words, entries_, row_bytes, accuracy_, efficiency_, forced_only_)               \
    {                                                                                                        \
        .name = "sgemm_" #family "_sm90", .summary = words, .architecture = 90, .architecture_end = 100,     \
        .tile_m = TB_SPLIT_TILE_M, .tile_n = TB_SPLIT_WIDE, .tile_k = TB_SPLIT_STAGE_K,                      \
        .threads = TB_SPLIT_THREADS, .shared_bytes = TB_SPLIT_RING_BYTES(row_bytes, TB_SPLIT_WIDE),          \
        .efficiency = efficiency_, .blocks = 1, .alignment = 1, .masks = true, .accuracy = accuracy_,        \
        .least_extent = 128, .forced_only = forced_only_, .entries = entries_,                               \
        .prepare = tb_##family##_prepare, .launch = tb_launch_##family,                                      \
    }

#endif
