/* What catalog.c stamps from the rows of shapes.def: for each shape its module, its entries, and its row of the catalog. For
 * catalog.c alone.
 */
#ifndef TB_SIMT_SHAPES_H
#define TB_SIMT_SHAPES_H

#include "kernels/built_code.h"
#include "kernels/simt/launch_simt.h"

/* Elements that an operand has at least where a row is chosen that is for long ones: with fewer, the start takes longer
 * than their bytes. */
#define TB_LONG_ELEMENTS (INT64_C(4) << 20)

/* ---- Fields by their names ------------------------------------------------------------------------------------- */

/* TB_SIMT_STAMP(stamp, name(128x64), ...) is stamp(128x64, ...), with the values of all fields. The field stages(4) becomes
 * TB_SIMT_stages_IS_stages(4), which is 4; in the place of slices it becomes TB_SIMT_slices_IS_stages(4), which is not
 * defined. */
#define TB_SIMT_STAMP(stamp, name, runs_on, least_elements, by_itself, tile_m, tile_n, tile_k, slices,       \
                      thread_m, thread_n, lanes_m, stages, launch_bound, words, words_at_a_time, blocks,     \
                      blocks_along_k, efficiency, a_along_k_share, b_along_k_share)                          \
    TB_SIMT_CALL(stamp, TB_SIMT_name_IS_##name, TB_SIMT_runs_on_IS_##runs_on,                                \
                 TB_SIMT_least_elements_IS_##least_elements, TB_SIMT_by_itself_IS_##by_itself,               \
                 TB_SIMT_tile_m_IS_##tile_m, TB_SIMT_tile_n_IS_##tile_n, TB_SIMT_tile_k_IS_##tile_k,         \
                 TB_SIMT_slices_IS_##slices, TB_SIMT_thread_m_IS_##thread_m, TB_SIMT_thread_n_IS_##thread_n, \
                 TB_SIMT_lanes_m_IS_##lanes_m, TB_SIMT_stages_IS_##stages,                                   \
                 TB_SIMT_launch_bound_IS_##launch_bound, TB_SIMT_words_IS_##words,                           \
                 TB_SIMT_words_at_a_time_IS_##words_at_a_time, TB_SIMT_blocks_IS_##blocks,                   \
                 TB_SIMT_blocks_along_k_IS_##blocks_along_k, TB_SIMT_efficiency_IS_##efficiency,             \
                 TB_SIMT_a_along_k_share_IS_##a_along_k_share, TB_SIMT_b_along_k_share_IS_##b_along_k_share)

/* So that the values are values before the stamp pastes them. */
#define TB_SIMT_CALL(stamp, ...) stamp(__VA_ARGS__)

#define TB_SIMT_name_IS_name(value)                       value
#define TB_SIMT_runs_on_IS_runs_on(value)                 value
#define TB_SIMT_least_elements_IS_least_elements(value)   value
#define TB_SIMT_by_itself_IS_by_itself(value)             value
#define TB_SIMT_tile_m_IS_tile_m(value)                   value
#define TB_SIMT_tile_n_IS_tile_n(value)                   value
#define TB_SIMT_tile_k_IS_tile_k(value)                   value
#define TB_SIMT_slices_IS_slices(value)                   value
#define TB_SIMT_thread_m_IS_thread_m(value)               value
#define TB_SIMT_thread_n_IS_thread_n(value)               value
#define TB_SIMT_lanes_m_IS_lanes_m(value)                 value
#define TB_SIMT_stages_IS_stages(value)                   value
#define TB_SIMT_launch_bound_IS_launch_bound(value)       value
#define TB_SIMT_words_IS_words(value)                     value
#define TB_SIMT_words_at_a_time_IS_words_at_a_time(value) value
#define TB_SIMT_blocks_IS_blocks(value)                   value
#define TB_SIMT_blocks_along_k_IS_blocks_along_k(value)   value
#define TB_SIMT_efficiency_IS_efficiency(value)           value
#define TB_SIMT_a_along_k_share_IS_a_along_k_share(value) value
#define TB_SIMT_b_along_k_share_IS_b_along_k_share(value) value

/* ---- Entries: unaligned and aligned, four transpositions each ---------------------------------------------------- */

#define TB_SIMT_FILE(name, runs_on, least_elements, by_itself, tile_m, tile_n, tile_k, slices, thread_m,     \
                     thread_n, lanes_m, stages, launch_bound, ...)                                           \
    TB_SIMT_ENTRIES(sgemm_simt_##name,                                                                       \
                    stages *TB_SIMT_STAGE_BYTES(tile_m, tile_n, tile_k, slices) +                            \
                        TB_SIMT_TOTALS_BYTES(tile_m, tile_n, slices,                                         \
                                             stages * TB_SIMT_STAGE_BYTES(tile_m, tile_n, tile_k, slices),   \
                                             launch_bound))

#define TB_SIMT_ENTRIES(stem, shared)                                                                        \
    static tb_module module_##stem = {.name = #stem};                                                        \
    static tb_entry entries_##stem[] = {TB_SIMT_ENTRIES_OF(stem, "", shared)                                 \
                                            TB_SIMT_ENTRIES_OF(stem, "_vector", shared)};

#define TB_SIMT_ENTRIES_OF(stem, suffix, shared)                                                             \
    {&module_##stem, #stem "_nn" suffix, shared, NULL, 0, TB_EARLY},                                         \
        {&module_##stem, #stem "_nt" suffix, shared, NULL, 0, TB_EARLY},                                     \
        {&module_##stem, #stem "_tn" suffix, shared, NULL, 0, TB_EARLY},                                     \
        {&module_##stem, #stem "_tt" suffix, shared, NULL, 0, TB_EARLY},

/* ---- Rows of the catalog ----------------------------------------------------------------------------------------- */

/* Whether the build has code for them: without, the row is there and runs on none. And whether only chips x.0 run it, whose
 * shared memory is the largest. */
#define TB_SIMT_BUILT_all               1
#define TB_SIMT_BUILT_sm_80_to_11x      TB_CODE_FROM_80
#define TB_SIMT_BUILT_sm_90             TB_CODE_FOR_90
#define TB_SIMT_MAJOR_ONLY_all          false
#define TB_SIMT_MAJOR_ONLY_sm_80_to_11x false
#define TB_SIMT_MAJOR_ONLY_sm_90        true

#define TB_SIMT_ROW(name_, runs_on, least_elements_, by_itself_, m, n, k, slices, thread_m, thread_n,        \
                    lanes_m, stages, launch_bound, words, words_at_a_time, blocks_, blocks_along_k_,         \
                    efficiency_, a_along_k_share_, b_along_k_share_)                                         \
    {                                                                                                        \
        .name = "sgemm_simt_" #name_,                                                                        \
        .summary = "FP32 FMA, " #name_ " tiles, k in stages of " #k ", " #stages " stages",                  \
        .architecture = TB_SIMT_BUILT_##runs_on ? TB_SIMT_FIRST_##runs_on : TB_SIMT_END_##runs_on,           \
        .architecture_end = TB_SIMT_END_##runs_on,                                                           \
        .major_only = TB_SIMT_MAJOR_ONLY_##runs_on,                                                          \
        .tile_m = m,                                                                                         \
        .tile_n = n,                                                                                         \
        .tile_k = k,                                                                                         \
        .threads = TB_SIMT_THREADS(m, n, thread_m, thread_n, slices),                                        \
        .shared_bytes = stages * TB_SIMT_STAGE_BYTES(m, n, k, slices),                                       \
        .efficiency = efficiency_,                                                                           \
        .a_along_k_share = a_along_k_share_,                                                                 \
        .b_along_k_share = b_along_k_share_,                                                                 \
        .segment_k = k / slices,                                                                             \
        .least_elements = least_elements_,                                                                   \
        .by_itself = by_itself_,                                                                             \
        .blocks = blocks_,                                                                                   \
        .blocks_along_k = blocks_along_k_,                                                                   \
        .alignment = 1,                                                                                      \
        .masks = true,                                                                                       \
        .batches = true,                                                                                     \
        .entries = entries_sgemm_simt_##name_,                                                               \
        .prepare = tb_simt_prepare,                                                                          \
        .launch = tb_launch_simt,                                                                            \
    },

#endif
