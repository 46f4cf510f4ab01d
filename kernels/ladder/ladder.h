/* The ladder's rows of the catalog, in the order of the climb (docs/ladder.md). A rung is a file ladder_<name>.cu and the row
 * ladder/<name>; it is never chosen, only forced. Shipped libraries do without: these rows are in the catalog of bench/ladder and
 * of tests, for catalog.c alone.
 *
 * share: of the FMA peak, by bench/ladder on an H200 at n = 4096, NN; shared_full_k at its largest k.
 */
#ifndef TB_LADDER_H
#define TB_LADDER_H

/* clang-format off */
/*     name                  m    n   k  threads blocks align k_limit share   idea */
#define TB_LADDER(RUNG)                                                                                       \
  RUNG(naive,              256,   1,  1,  256,     8,     1,      0, 0.05, "one thread per element of C")     \
  RUNG(naive_uncoalesced,    1, 256,  1,  256,     8,     1,      0, 0.01, "the same across C's columns")     \
  RUNG(block_global,        32,  32,  1, 1024,     2,     1,      0, 0.05, "a block covers a square of C")    \
  RUNG(shared_full_k,       32,  32, 32, 1024,     1,     1,    192, 0.05, "whole panels in shared memory")   \
  RUNG(shared_window,       32,  32, 32, 1024,     1,     1,      0, 0.10, "a window slides along k")         \
  RUNG(tile_1d,             64,  64,  8,  512,     2,     1,      0, 0.20, "8 elements a thread")             \
  RUNG(tile_2d,             64,  64,  8,  256,     3,     1,      0, 0.30, "4 x 4 elements a thread")         \
  RUNG(tile_2d_registers,  128, 128,  8,  256,     2,     1,      0, 0.40, "8 x 8, operands in registers")    \
  RUNG(index_remap,        128, 128,  8,  256,     2,     1,      0, 0.45, "loads in the order of memory")    \
  RUNG(float4,             128, 128,  8,  256,     2,     4,      0, 0.50, "16 bytes an instruction")         \
  RUNG(a_transposed,       128, 128,  8,  256,     2,     4,      0, 0.55, "float4 for either fragment")      \
  RUNG(conflict_free,      128, 128,  8,  256,     2,     4,      0, 0.60, "quadrants and padded rows")       \
  RUNG(z_order,            128, 128,  8,  256,     2,     4,      0, 0.60, "warps nearly square")             \
  RUNG(double_buffer,      128, 128,  8,  256,     2,     4,      0, 0.65, "next window while multiplying")   \
  RUNG(bounded_scalar,     128, 128,  8,  256,     2,     1,      0, 0.50, "double_buffer, any alignment")
/* clang-format on */

#define TB_LADDER_FILE(name, ...) TB_KERNEL_FILE(ladder_##name, 0)
#define TB_LADDER_FILES           TB_LADDER(TB_LADDER_FILE)

#define TB_LADDER_ROW_OF(name_, file, pads_, m, n, k, threads_, blocks_, align, limit, share, idea)          \
    {                                                                                                        \
        .name = "ladder/" #name_, .summary = idea, .architecture = 75, .tile_m = m, .tile_n = n,             \
        .tile_k = k, .threads = threads_, .efficiency = share, .blocks = blocks_, .alignment = align,        \
        .pads = pads_, .k_limit = limit, .forced_only = true, .entries = entries_ladder_##file,              \
        .launch = tb_launch_tiles,                                                                           \
    }

#define TB_LADDER_ROW(name, ...) TB_LADDER_ROW_OF(name, name, false, __VA_ARGS__),

/* pitched has no device code of its own. */
#define TB_LADDER_ROWS                                                                                       \
    TB_LADDER(TB_LADDER_ROW)                                                                                 \
    TB_LADDER_ROW_OF(pitched, double_buffer, true, 128, 128, 8, 256, 2, 4, 0, 0.65,                          \
                     "operands copied into pitched memory, then double_buffer")

#endif
