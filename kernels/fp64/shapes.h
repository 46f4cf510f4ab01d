/* The fields of shapes.def and shapes_complex.def by their names.
 *
 * TB_DGEMM_BY_NAMES(stamp, name(64x32), ...) is stamp(64x32, ...), with the values of all fields of a row of shapes.def, and
 * TB_ZGEMM_BY_NAMES the same of shapes_complex.def. The field stages(4) becomes TB_DGEMM_stages_IS_stages(4), which is 4; in
 * the place of slices it becomes TB_DGEMM_slices_IS_stages(4), which is not defined.
 */
#ifndef TB_DGEMM_SHAPES_H
#define TB_DGEMM_SHAPES_H

#define TB_DGEMM_BY_NAMES(stamp, name, alignment, tile_m, tile_n, tile_k, warps_m, warps_n, slices, copying, \
                          stages, blocks, through_l1, totals, first, efficiency)                             \
    TB_DGEMM_CALL(stamp, TB_DGEMM_name_IS_##name, TB_DGEMM_alignment_IS_##alignment,                         \
                  TB_DGEMM_tile_m_IS_##tile_m, TB_DGEMM_tile_n_IS_##tile_n, TB_DGEMM_tile_k_IS_##tile_k,     \
                  TB_DGEMM_warps_m_IS_##warps_m, TB_DGEMM_warps_n_IS_##warps_n, TB_DGEMM_slices_IS_##slices, \
                  TB_DGEMM_copying_IS_##copying, TB_DGEMM_stages_IS_##stages, TB_DGEMM_blocks_IS_##blocks,   \
                  TB_DGEMM_through_l1_IS_##through_l1, TB_DGEMM_totals_IS_##totals,                          \
                  TB_DGEMM_first_IS_##first, TB_DGEMM_efficiency_IS_##efficiency)

#define TB_ZGEMM_BY_NAMES(stamp, name, tile_m, tile_n, tile_k, warps_m, warps_n, slices, stages, blocks,     \
                          through_l1, totals, first, efficiency)                                             \
    TB_DGEMM_CALL(stamp, TB_DGEMM_name_IS_##name, TB_DGEMM_tile_m_IS_##tile_m, TB_DGEMM_tile_n_IS_##tile_n,  \
                  TB_DGEMM_tile_k_IS_##tile_k, TB_DGEMM_warps_m_IS_##warps_m, TB_DGEMM_warps_n_IS_##warps_n, \
                  TB_DGEMM_slices_IS_##slices, TB_DGEMM_stages_IS_##stages, TB_DGEMM_blocks_IS_##blocks,     \
                  TB_DGEMM_through_l1_IS_##through_l1, TB_DGEMM_totals_IS_##totals,                          \
                  TB_DGEMM_first_IS_##first, TB_DGEMM_efficiency_IS_##efficiency)

/* So that the values are values before the stamp pastes them. */
#define TB_DGEMM_CALL(stamp, ...) stamp(__VA_ARGS__)

#define TB_DGEMM_name_IS_name(value)             value
#define TB_DGEMM_alignment_IS_alignment(value)   value
#define TB_DGEMM_tile_m_IS_tile_m(value)         value
#define TB_DGEMM_tile_n_IS_tile_n(value)         value
#define TB_DGEMM_tile_k_IS_tile_k(value)         value
#define TB_DGEMM_warps_m_IS_warps_m(value)       value
#define TB_DGEMM_warps_n_IS_warps_n(value)       value
#define TB_DGEMM_slices_IS_slices(value)         value
#define TB_DGEMM_copying_IS_copying(value)       value
#define TB_DGEMM_stages_IS_stages(value)         value
#define TB_DGEMM_blocks_IS_blocks(value)         value
#define TB_DGEMM_through_l1_IS_through_l1(value) value
#define TB_DGEMM_totals_IS_totals(value)         value
#define TB_DGEMM_first_IS_first(value)           value
#define TB_DGEMM_efficiency_IS_efficiency(value) value

#endif
