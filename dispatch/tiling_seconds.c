/* How long the steps of a streamed product take, gone through one by one: the link's two ways, the device and
 * the thread that keeps all of it going each do one thing after the other, and wait for each other.
 */
#include "dispatch/cost_model.h"
#include "dispatch/tiling.h"

#include "words/integers.h"

#include <math.h>

/* What follows was fitted to 342 ways of cutting squares of 1024 to 12288 and some others, on an H200 with 16
 * cores, in ordinary and in pinned memory: within a shape, forecasts are off by 2.8%. */

/* A column, or what of it is loaded or goes back, where the link or the host's threads do not go on with the next one. Triangles
 * that grow by rows, which alone go back so, were not among those ways; they were off by 10% (docs/lab/triangles.md).
 */
#define PIECE_SECONDS 13e-9
/* What the calling thread takes for a slot beside copying. */
#define SLOT_THREAD_SECONDS 29e-6
/* Between C's being computed and its being on its way. */
#define RETURN_SECONDS 54e-6

/* What takes more slots than that is gone through in larger steps. */
#define SLOTS_MANY 512

/* Columns of C on their way: when they can leave, later when they have left. The link takes all between the mask's first row and
 * its last, and the host's threads what the mask leaves. */
typedef struct parcel {
    double time, bytes, masked_bytes;
    double piece_seconds; /* what the link takes for their being short */
} parcel;
#define PARCELS 256

typedef struct simulation {
    const tb_product *product;
    const tb_budget *budget;
    double element_bytes;
    int64_t slot_elements;
    double thread, loading, computing, returning; /* until when each of them is at work */
    double loaded[TB_SLOTS];                      /* when the slots on the way in were last read */
    unsigned next_in;
    parcel parcels[PARCELS]; /* a ring: emptied, sent and computed so far, counted from the beginning */
    unsigned emptied, sent, computed;
    int64_t a_row, a_rows, a_k; /* what the latest product was of */
    tb_known_size *known;
} simulation;

static double bytes(const simulation *simulation, int64_t rows, int64_t columns)
{
    return simulation->element_bytes * (double)rows * (double)columns;
}

/* ---- C's way back ----------------------------------------------------------------------------------------- */

/* The thread looks after what is on its way back: empties what has come, sends what can leave. */
static void serve(simulation *simulation)
{
    const tb_budget *budget = simulation->budget;
    for (;;) {
        parcel *first = &simulation->parcels[simulation->emptied % PARCELS];
        parcel *next = &simulation->parcels[simulation->sent % PARCELS];
        if (simulation->emptied < simulation->sent && first->time <= simulation->thread) {
            if (budget->passages[TB_C] == TB_BY_SLOTS)
                simulation->thread += first->masked_bytes / budget->copy_rate + SLOT_THREAD_SECONDS;
            simulation->emptied++;
        } else if (simulation->sent < simulation->computed &&
                   simulation->sent < simulation->emptied + TB_SLOTS && next->time <= simulation->thread) {
            const double start = fmax(simulation->thread, simulation->returning);
            simulation->returning =
                start + next->piece_seconds +
                tb_link_seconds(next->bytes, budget->chip->link_out, start < simulation->loading);
            next->time = simulation->returning;
            simulation->sent++;
        } else {
            return;
        }
    }
}

/* Until there is no more. */
static void serve_all(simulation *simulation)
{
    serve(simulation);
    while (simulation->emptied < simulation->computed) {
        const unsigned next = simulation->emptied < simulation->sent ? simulation->emptied : simulation->sent;
        simulation->thread = fmax(simulation->thread, simulation->parcels[next % PARCELS].time);
        serve(simulation);
    }
}

/* The share of a rectangle of C that the mask leaves. */
static double share_of(const simulation *simulation, tb_range rows, tb_range columns)
{
    if (simulation->product->mask == TB_FULL)
        return 1;
    const tb_product part = tb_subproduct(simulation->product, rows, columns, (tb_range){0, 0});
    return tb_masked_elements(&part) / ((double)rows.count * (double)columns.count);
}

/* Columns that have been computed, as far as one slot takes them. */
static void give_back(simulation *simulation, tb_range rows, tb_range columns)
{
    const tb_budget *budget = simulation->budget;
    const tb_product *product = simulation->product;
    const double piece_seconds = rows.count < product->m ? PIECE_SECONDS : 0;
    const int64_t in_slot = simulation->slot_elements / tb_larger(rows.count, 1);
    const int64_t most = budget->passages[TB_C] == TB_BY_SLOTS ? tb_larger(in_slot, 1) : columns.count;
    for (int64_t column = 0; column < columns.count && budget->passages[TB_C] != TB_NO_PASSAGE;
         column += most) {
        const tb_range sent = {columns.first + column, tb_smaller(most, columns.count - column)};
        const int64_t width = tb_masked_width(product, rows, sent);
        if (simulation->computed == simulation->emptied + PARCELS)
            serve_all(simulation);
        simulation->parcels[simulation->computed++ % PARCELS] = (parcel){
            .time = simulation->computing + RETURN_SECONDS,
            .bytes = bytes(simulation, tb_masked_box(product, rows, sent).count, width),
            .masked_bytes = share_of(simulation, rows, sent) * bytes(simulation, rows.count, sent.count),
            .piece_seconds = (double)width * piece_seconds};
    }
}

/* ---- The way in ------------------------------------------------------------------------------------------- */

static void load_by_slots(simulation *simulation, int64_t rows, int64_t columns, double piece_seconds)
{
    const tb_budget *budget = simulation->budget;
    const int64_t most =
        tb_larger(simulation->slot_elements / tb_pitched(rows, tb_element_of(simulation->product)), 1);
    for (int64_t column = 0; column < columns; column += most) {
        double *slot = &simulation->loaded[simulation->next_in++ % TB_SLOTS];
        const int64_t in_slot = tb_smaller(most, columns - column);
        const double amount = bytes(simulation, rows, in_slot);
        serve(simulation);
        simulation->thread = fmax(simulation->thread, *slot) + amount / budget->copy_rate +
                             SLOT_THREAD_SECONDS + (double)in_slot * piece_seconds;
        simulation->loading = fmax(simulation->loading, simulation->thread);
        simulation->loading +=
            tb_link_seconds(amount, budget->chip->link_in, simulation->loading < simulation->returning);
        *slot = simulation->loading;
    }
}

/* Loads rows x columns of the program's memory, where columns have stored_rows that lie together. */
static void load(simulation *simulation, tb_passage passage, int64_t rows, int64_t columns,
                 int64_t stored_rows)
{
    const double piece_seconds = rows < stored_rows ? PIECE_SECONDS : 0;
    if (passage == TB_BY_SLOTS && rows > 0)
        load_by_slots(simulation, rows, columns, piece_seconds);
    if (passage == TB_STRAIGHT)
        simulation->loading +=
            tb_link_seconds(bytes(simulation, rows, columns), simulation->budget->chip->link_in,
                            simulation->loading < simulation->returning) +
            (double)columns * piece_seconds;
}

static void bring(simulation *simulation, const tb_step *step)
{
    for (int i = 0; i < TB_ROLES; i++) {
        const tb_role role = tb_bringing_order[i];
        tb_range k, rows, columns;
        tb_range of_rows, of_columns;
        if (!tb_step_brings(step, simulation->product, role, &of_rows, &of_columns, &k))
            continue;
        tb_stored_ranges(simulation->product, role, of_rows, of_columns, k, &rows, &columns);
        const double from = simulation->product->expanded[role].from;
        if (from > 0)
            columns.count = (int64_t)ceil(from * (double)columns.count);
        load(simulation, simulation->budget->passages[role], rows.count, columns.count,
             simulation->product->operands[role].rows);
    }
}

/* ---- The device ------------------------------------------------------------------------------------------- */

static const tb_known_size *size_of(const simulation *simulation, int64_t m, int64_t n, int64_t k)
{
    tb_known_size *size = &simulation->known[(uint64_t)(m + 3 * n + 7 * k) / 16 % TB_SIZES_KNOWN];
    if (size->m == m && size->n == n && size->k == k)
        return size;
    const tb_budget *budget = simulation->budget;
    const tb_chip *chip = budget->chip;
    const tb_product part = tb_nominal_subproduct(simulation->product, m, n, k);
    const tb_kernel_times times = tb_time_kernel(budget->kernel, &part, chip);
    *size = (tb_known_size){m, n, k, times.all, times.of_a};
    return size;
}

static void multiply(simulation *simulation, const tb_step *step, int64_t columns, double share)
{
    const int64_t m = step->rows.count, k = step->k.count;
    if (share <= 0)
        return;
    const tb_known_size *size = size_of(simulation, m, columns, k);
    const bool again = simulation->a_row == step->rows.first && simulation->a_rows == m &&
                       simulation->a_k == k && !step->brings_a;
    double seconds = TB_GAP_SECONDS + share * (size->seconds - (again ? size->seconds_of_a : 0));
    /* What something is added to is read while nothing else goes on. */
    if (step->k.first > 0 || !tb_is_zero(simulation->product->beta))
        seconds += share * bytes(simulation, m, columns) / simulation->budget->chip->memory_rate;
    simulation->thread += TB_LAUNCH_THREAD_SECONDS;
    simulation->computing =
        fmax(simulation->computing, fmax(simulation->loading, simulation->thread)) + seconds;
    simulation->a_row = step->rows.first;
    simulation->a_rows = m;
    simulation->a_k = k;
}

double tb_steps_seconds(const tb_product *product, const tb_tiling *tiling, const tb_budget *budget,
                        tb_known_size known[TB_SIZES_KNOWN])
{
    const int64_t count = tb_step_count(product, tiling), m = product->m, n = product->n, k = product->k;
    simulation simulation = {.product = product,
                             .budget = budget,
                             .element_bytes = (double)tb_bytes_of(tb_element_of(product)),
                             .slot_elements =
                                 tb_larger(tb_in_slot(budget, product), (m * k + k * n + m * n) / SLOTS_MANY),
                             .a_rows = -1,
                             .known = known};
    for (int64_t i = 0; i < count; i++) {
        tb_step step = tb_step_at(product, tiling, i);
        /* The last of a band's pieces completes all of its rows. */
        const tb_range rows = step.rows.first < tiling->band_m ? (tb_range){0, tiling->band_m} : step.rows;
        bring(&simulation, &step);
        for (int64_t column = 0; column < step.columns.count; column += step.swath_n) {
            const tb_range columns = {step.columns.first + column,
                                      tb_smaller(step.swath_n, step.columns.count - column)};
            multiply(&simulation, &step, columns.count, share_of(&simulation, step.rows, columns));
            if (step.completes)
                give_back(&simulation, rows, columns);
            step.brings_a = false;
        }
        serve(&simulation);
    }
    serve_all(&simulation);
    return fmax(fmax(simulation.thread, simulation.returning), simulation.computing);
}
