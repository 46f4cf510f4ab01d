/* What a tiling takes: room on the device, traffic on the link, and the products that it makes the kernel multiply. */
#include "dispatch/tiling.h"

#include "lib/integers.h"

int64_t tb_pitched(int64_t rows)
{
    /* A line of 128 bytes; short columns would be mostly padding, and need 16 bytes for float4. */
    return rows < 128 ? tb_round_up(rows, 4) : tb_round_up(rows, 32);
}

int64_t tb_slab_floats(int64_t outer, int64_t k)
{
    return tb_round_up(tb_larger(tb_pitched(outer) * k, tb_pitched(k) * outer), 32);
}

static double slab_bytes(int64_t outer, int64_t k)
{
    return (double)sizeof(float) * (double)tb_slab_floats(outer, k);
}

int64_t tb_whole_a_floats(const tb_problem *problem, const tb_tiling *tiling, int64_t row)
{
    const int64_t k = tb_larger(problem->k, 1);
    return problem->transpose_a ? tb_pitched(k) * row
                                : tb_pieces(row, tiling->band_m) * tb_pitched(tiling->band_m) * k;
}

int64_t tb_whole_b_floats(const tb_problem *problem, const tb_tiling *tiling, int64_t column)
{
    if (column == 0)
        return 0;
    const int64_t slabs = tiling->b_by_slabs ? tiling->slabs : 1, k = tb_larger(problem->k, 1);
    return slabs * tb_slab_floats(tiling->block_n, slabs > 1 ? tiling->slab_k : k) +
           tb_pieces(column - tiling->block_n, tiling->next_n) * tb_slab_floats(tiling->next_n, k);
}

static double whole_bytes(const tb_problem *problem, const tb_tiling *tiling)
{
    return (double)sizeof(float) * ((double)tb_whole_a_floats(problem, tiling, problem->m) +
                                    (double)tb_whole_b_floats(problem, tiling, problem->n) +
                                    (double)tb_pieces(problem->m, tiling->band_m) *
                                        (double)tb_pitched(tiling->band_m) * (double)problem->n);
}

double tb_tiling_bytes(const tb_problem *problem, const tb_tiling *tiling)
{
    if (tiling->whole)
        return whole_bytes(problem, tiling);
    int64_t columns = tiling->ring_c * tiling->block_n;
    return (double)tiling->ring_a * slab_bytes(tiling->block_m, tiling->slab_k) +
           (double)tiling->ring_b * slab_bytes(tiling->block_n, tiling->slab_k) +
           (double)sizeof(float) * (double)tb_pitched(tiling->block_m) * (double)columns;
}

double tb_tiling_traffic(const tb_problem *problem, const tb_tiling *tiling)
{
    double a = (double)problem->m * (double)problem->k, b = (double)problem->k * (double)problem->n;
    double loads_a = tiling->ring_a < tiling->slabs ? (double)tb_pieces(problem->n, tiling->block_n) : 1;
    return (double)sizeof(float) * (a * loads_a + b * (double)tb_pieces(problem->m, tiling->block_m));
}

typedef struct size_list {
    tb_part_size *sizes;
    int count;
    float beta;
} size_list;

static void note_size(size_list *list, int64_t rows, int64_t columns, int64_t k, bool added)
{
    if (rows > 0 && columns > 0)
        list->sizes[list->count++] = (tb_part_size){rows, columns, k, added ? 1 : list->beta};
}

static void note_panels(size_list *list, int64_t rows, int64_t columns, int64_t panel, int64_t k, bool added)
{
    if (columns >= panel)
        note_size(list, rows, panel, k, added);
    note_size(list, rows, columns % panel, k, added);
}

/* A block whose product is summed up over k, the last slab panel by panel. */
static void note_block(size_list *list, const tb_problem *problem, const tb_tiling *tiling, int64_t rows,
                       int64_t columns)
{
    const int64_t last = problem->k - (tiling->slabs - 1) * tiling->slab_k;
    if (tiling->slabs > 1)
        note_size(list, rows, columns, tiling->slab_k, false);
    if (tiling->slabs > 2)
        note_size(list, rows, columns, tiling->slab_k, true);
    note_panels(list, rows, columns, tiling->panel_n, last, tiling->slabs > 1);
}

static void note_whole(size_list *list, const tb_problem *problem, const tb_tiling *tiling)
{
    const int64_t m = problem->m, k = problem->k, next = problem->n - tiling->block_n;
    if (tiling->band_m < m) {
        note_panels(list, tiling->band_m, problem->n, tiling->panel_n, k, false);
        note_panels(list, m % tiling->band_m, problem->n, tiling->panel_n, k, false);
    } else if (tiling->piece_m < m) {
        note_size(list, tiling->piece_m, tiling->block_n, k, false);
        note_size(list, m % tiling->piece_m, tiling->block_n, k, false);
    } else {
        note_block(list, problem, tiling, m, tiling->block_n);
    }
    if (next >= tiling->next_n)
        note_panels(list, m, tiling->next_n, tiling->next_panel_n, k, false);
    note_panels(list, m, next % tiling->next_n, tiling->next_panel_n, k, false);
}

int tb_tiling_sizes(const tb_problem *problem, const tb_tiling *tiling, tb_part_size sizes[TB_PART_SIZES])
{
    size_list list = {.sizes = sizes, .beta = problem->beta};
    if (tiling->whole) {
        note_whole(&list, problem, tiling);
        return list.count;
    }
    const int64_t columns = tb_smaller(tiling->block_n, problem->n);
    const int64_t rows[] = {tb_smaller(tiling->block_m, problem->m), problem->m % tiling->block_m};
    for (int i = 0; i < 2; i++) {
        note_block(&list, problem, tiling, rows[i], columns);
        note_block(&list, problem, tiling, rows[i], problem->n % columns);
    }
    return list.count;
}
