/* The cases. On the simulated device all kernels are one loop over the elements, so products are small and slots and memory are
 * too, for cuts to be many; on a real one they are larger. A group's forced routes and kernels leave nothing to the clock.
 */
#include "record.h"

#include "kernels/catalog.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Rows of the catalog that multiply the group's element as it lies, also those that are only ever forced, and one that there is
 * not; NULL behind the last. */
static const char *kernel_numbered(size_t number)
{
    size_t of_element = 0;
    for (size_t row = 0; row < tb_catalog_size; row++)
        if (tb_catalog[row].element == record_element && of_element++ == number)
            return tb_catalog[row].name;
    return number == of_element ? "no_such_kernel" : NULL;
}

static const char *const transposes[] = {"NN", "NT", "TN", "TT"};

/* Extents of products on the simulated device, and what they are multiplied with on a real one. Odd extents stay odd. */
typedef struct extents {
    int m, n, k;
    int more_m, more_n, more_k;
} extents;

static int more(int extent, int times)
{
    return times * extent + (extent % 2 != 0 && times % 2 == 0);
}

static void run_extents(record_case now, const extents *extents, bool simulated)
{
    now.routine = tb_gemm_routine(record_element);
    now.m = simulated ? extents->m : more(extents->m, extents->more_m);
    now.n = simulated ? extents->n : more(extents->n, extents->more_n);
    now.k = simulated ? extents->k : more(extents->k, extents->more_k);
    record_run(&now);
}

/* Scalars, spelling and padding of the case, which are the same wherever it stands in a list. */
static record_case with_scalars(record_case now, int index)
{
    static const double alphas[] = {1, -1.25, 0.75, -1, 2}, betas[] = {0, 1, -0.5, 0, 1.5, -1, 0};
    const double factor = record_element == TB_FP64 && index % 5 == 2 ? 0.1 : 1; /* no float */
    now.alpha = factor * alphas[(size_t)index % COUNT(alphas)];
    now.beta = factor * betas[(size_t)index % COUNT(betas)];
    now.spelling = "cfr"[index % 3];
    return now;
}

/* ---- Every kernel ------------------------------------------------------------------------------------------ */

static void kernels_resident(bool simulated)
{
    static const extents aligned = {64, 96, 80, 8, 8, 8}, odd = {61, 33, 75, 8, 8, 8};
    static const extents others[] = {
        {16, 200, 64, 1, 8, 16}, {300, 8, 128, 8, 1, 16}, {32, 48, 1500, 4, 4, 8}, {128, 128, 64, 8, 8, 8}};
    for (size_t i = 0; kernel_numbered(i); i++) {
        record_case now = {.route = "resident", .kernel = kernel_numbered(i), .places = "DDD"};
        for (int t = 0; t < 4; t++) {
            now.transposes = transposes[t];
            now.pad = now.skew = 0;
            run_extents(with_scalars(now, t), &aligned, simulated);
            now.pad = 3 - t;
            now.skew = t % 2;
            run_extents(with_scalars(now, t + 2), &odd, simulated);
        }
        now.pad = now.skew = 0;
        for (size_t j = 0; j < COUNT(others); j++) {
            now.transposes = transposes[(i + j) % 4];
            run_extents(with_scalars(now, (int)(i + j)), &others[j], simulated);
        }
    }
}

/* A kernel's tile has a say in how a product is cut. What a kernel refuses here is left to the host's loop, on a real device
 * too. */
static void kernels_streamed(bool simulated)
{
    static const extents cut[] = {{192, 224, 600, 4, 4, 1}, {500, 40, 90, 4, 4, 4}};
    for (size_t i = 0; kernel_numbered(i); i++)
        for (size_t j = 0; j < COUNT(cut); j++) {
            const record_case now = {.route = "streamed",
                                     .kernel = kernel_numbered(i),
                                     .transposes = transposes[(i + j) % 4],
                                     .places = "HHH"};
            run_extents(with_scalars(now, (int)(i + j)), &cut[j], simulated);
        }
}

/* ---- Kernels that are chosen --------------------------------------------------------------------------------- */

static void choices(bool simulated)
{
    static const int sides[] = {1, 15, 64, 130, 384}, depths[] = {1, 24, 200, 1000};
    int index = 0;
    for (size_t i = 0; i < COUNT(sides); i++)
        for (size_t j = 0; j < COUNT(sides); j++)
            for (size_t l = 0; l < COUNT(depths); l++, index++) {
                if (i + j + l > 7 || (i * j * l) % 2 != 0)
                    continue;
                const extents extents = {sides[i],
                                         sides[j],
                                         depths[l],
                                         sides[i] > 20 ? 8 : 1,
                                         sides[j] > 20 ? 8 : 1,
                                         depths[l] > 100 ? 4 : 1};
                const record_case now = {.transposes = transposes[index % 4],
                                         .places = "DDD",
                                         .pad = index % 5 == 0 ? 1 : 0,
                                         .skew = index % 7 == 0 ? 1 : 0};
                run_extents(with_scalars(now, index), &extents, simulated);
            }
}

static void precisions(bool simulated)
{
    static const char *const names[] = {NULL, "fp32", "ieee", "fast"};
    static const extents products[] = {
        {128, 160, 96, 8, 8, 8}, {63, 260, 130, 16, 8, 8}, {256, 256, 256, 6, 6, 6}};
    for (size_t i = 0; i < COUNT(names); i++)
        for (size_t j = 0; j < COUNT(products); j++)
            for (int t = 0; t < 4; t++) {
                record_case now = {
                    .precision = names[i], .route = "resident", .transposes = transposes[t], .places = "DDD"};
                run_extents(with_scalars(now, t), &products[j], simulated);
                now.route = "streamed";
                now.places = "HHH";
                if (t == (int)j)
                    run_extents(with_scalars(now, t), &products[j], simulated);
            }
}

/* ---- Routes and places --------------------------------------------------------------------------------------- */

static void places(bool simulated)
{
    static const char *const all[] = {"HHH", "PPP", "MMM", "DDD", "DHH", "HDH", "HHD", "DDH",
                                      "DHD", "HDD", "PHH", "HPH", "HHP", "MHH", "HMH", "HHM",
                                      "PDM", "MPD", "DMP", "WWH", "WPP", "DWP", "MMD"};
    static const char *const routes[] = {"streamed", "resident", "host", NULL};
    static const extents products[] = {{150, 170, 400, 8, 8, 4}, {401, 67, 90, 8, 8, 8}};
    int index = 0;
    for (size_t i = 0; i < COUNT(all); i++)
        for (size_t j = 0; j < COUNT(routes); j++) {
            bool on_device = false, write_combined = false;
            for (const char *place = all[i]; *place; place++) {
                on_device = on_device || *place == 'D';
                write_combined = write_combined || *place == 'W';
            }
            const bool streams = j == 0 || (!routes[j] && on_device);
            /* Where nothing is forced the device is the answer only if an operand lies there; the host reads no
             * write-combined memory, and answers what the resident route cannot. */
            if ((!routes[j] && !on_device) || (write_combined && !streams))
                continue;
            for (size_t l = 0; l < COUNT(products); l++, index++) {
                record_case now = {.route = routes[j],
                                   .transposes = transposes[index % 4],
                                   .places = all[i],
                                   .pad = index % 3,
                                   .skew = index % 4 == 3 ? 1 : 0};
                if (streams)
                    run_extents(with_scalars(now, index), &products[l], simulated);
                else
                    run_extents(with_scalars(now, index), &products[l], true);
            }
        }
}

static void host(bool simulated)
{
    (void)simulated;
    static const extents products[] = {{5, 7, 3, 1, 1, 1}, {100, 90, 110, 1, 1, 1}, {257, 3, 129, 1, 1, 1}};
    for (size_t i = 0; i < COUNT(products); i++)
        for (int t = 0; t < 12; t++) {
            record_case now = {
                .route = "host", .transposes = transposes[t % 4], .places = "HHH", .pad = t % 3};
            now = with_scalars(now, t);
            now.spelling = "cfr"[t / 4];
            run_extents(now, &products[i], true);
        }
}

/* Too small to gain: they leave by the short way. */
static void small(bool simulated)
{
    (void)simulated;
    static const extents products[] = {{1, 1, 1, 1, 1, 1}, {17, 9, 31, 1, 1, 1}, {80, 80, 80, 1, 1, 1}};
    for (size_t i = 0; i < COUNT(products); i++)
        for (int t = 0; t < 4; t++) {
            record_case now = {.transposes = transposes[t], .places = t % 2 == 0 ? "HHH" : "PHP", .pad = t};
            run_extents(with_scalars(now, t), &products[i], true);
        }
}

/* Nothing of A and B is read, or there is nothing to do. */
static void trivial(bool simulated)
{
    (void)simulated;
    static const char *const routes[] = {"host", "streamed", "resident"};
    static const char *const where[] = {"HHH", "HHH", "DDD"};
    static const int extents[][3] = {{90, 100, 110}, {90, 100, 0}, {0, 100, 110}, {90, 0, 110}};
    static const double betas[] = {0, 1, -2};
    for (size_t i = 0; i < COUNT(routes); i++)
        for (size_t j = 0; j < COUNT(extents); j++)
            for (size_t l = 0; l < COUNT(betas); l++)
                record_run(&(record_case){.routine = tb_gemm_routine(record_element),
                                          .route = routes[i],
                                          .spelling = "cfr"[l],
                                          .transposes = "NT",
                                          .m = extents[j][0],
                                          .n = extents[j][1],
                                          .k = extents[j][2],
                                          .pad = 1,
                                          .alpha = j == 0 ? 0 : 2,
                                          .beta = betas[l],
                                          .places = where[i]});
}

/* ---- How products are cut -------------------------------------------------------------------------------------- */

/* Square, tall, wide, with a long k, and odd; each in all transposes and with C read or only written. */
static void run_cut(const char *where, bool simulated)
{
    static const extents products[] = {
        {256, 256, 512, 8, 8, 4}, {2500, 40, 72, 8, 8, 8},  {36, 3000, 64, 8, 8, 8}, {64, 64, 4500, 8, 8, 2},
        {257, 131, 509, 8, 8, 4}, {120, 40, 9000, 8, 8, 1}, {300, 700, 150, 4, 2, 8}};
    for (size_t i = 0; i < COUNT(products); i++)
        for (int t = 0; t < 4; t++) {
            const record_case now = {.route = "streamed",
                                     .transposes = transposes[t],
                                     .places = where,
                                     .pad = t == 1 ? 5 : 0,
                                     .skew = t == 2 ? 1 : 0};
            run_extents(with_scalars(now, (int)i + 2 * t), &products[i], simulated);
        }
}

static void cuts(bool simulated)
{
    run_cut("HHH", simulated);
}

static void cuts_elsewhere(bool simulated)
{
    static const char *const all[] = {"PPP", "HHD", "DHH", "HDP", "PHM"};
    static const extents products[] = {
        {256, 256, 512, 8, 8, 4}, {2500, 40, 72, 8, 8, 8}, {257, 131, 509, 8, 8, 4}};
    run_cut("PPP", simulated);
    for (size_t i = 1; i < COUNT(all); i++)
        for (size_t j = 0; j < COUNT(products); j++) {
            const record_case now = {
                .route = "streamed", .transposes = transposes[(i + j) % 4], .places = all[i], .pad = (int)j};
            run_extents(with_scalars(now, (int)(i + j)), &products[j], simulated);
        }
}

/* Operands that take so long to bring that slabs of k are multiplied for all of C first, and B comes slab by slab. */
static void long_cuts(bool simulated)
{
    static const extents products[] = {{16, 400, 9000, 16, 8, 1},
                                       {24, 512, 12000, 16, 8, 1},
                                       {16, 512, 20000, 16, 4, 1},
                                       {200, 600, 2000, 16, 6, 2},
                                       {400, 1500, 192, 10, 2, 16}};
    for (size_t i = 0; i < COUNT(products); i++)
        for (int t = 0; t < 3; t++) {
            record_case now = {
                .route = "streamed", .transposes = transposes[t], .places = t == 1 ? "PPP" : "HHH"};
            now = with_scalars(now, (int)i + t);
            now.beta = t == 0 ? 0 : 0.5;
            run_extents(now, &products[i], simulated);
        }
}

/* ---- Operands that come again ------------------------------------------------------------------------------------ */

static void again(bool simulated)
{
    static const extents products[] = {
        {200, 150, 240, 8, 8, 8}, {256, 256, 512, 8, 8, 4}, {1500, 40, 100, 8, 8, 8}};
    for (size_t i = 0; i < COUNT(products); i++)
        for (int t = 0; t < 4; t++) {
            const record_case now = {.route = "streamed",
                                     .transposes = transposes[t],
                                     .places = t == 3 ? "PPP" : "HHH",
                                     .pad = t,
                                     .calls = 5};
            run_extents(with_scalars(now, (int)i + t), &products[i], simulated);
        }
}

/* ---- Groups -------------------------------------------------------------------------------------------------------- */

#define ONE "SIM_DEVICES=1"
#define TWO "SIM_DEVICES=2", "DEVICES=2"
/* Small products fill it, so that kernels of large tiles are chosen. */
#define SMALL_CHIP ONE, "SIM_MULTIPROCESSORS=4"

const record_group record_groups[] = {
    {"routines", "*", {ONE, "PINNED_MEMORY=1"}, {"PINNED_MEMORY=2"}, record_routines},
    {"rows", "*", {ONE}, {NULL}, record_rows},
    {"kernels", "sd", {ONE}, {NULL}, kernels_resident},
    {"kernels-streamed", "sd", {ONE, "PINNED_MEMORY=1"}, {"PINNED_MEMORY=2"}, kernels_streamed},
    {"choices", "sd", {ONE}, {NULL}, choices},
    {"choices-small-chip", "sd", {SMALL_CHIP}, {"PRECISION=fast"}, choices},
    {"precision", "s", {SMALL_CHIP}, {NULL}, precisions},
    {"precision-ieee", "s", {SMALL_CHIP, "PRECISION=ieee"}, {NULL}, precisions},
    {"precision-fast", "s", {SMALL_CHIP, "PRECISION=fast"}, {NULL}, precisions},
    {"places", "sd", {ONE, "PINNED_MEMORY=1"}, {"PINNED_MEMORY=16"}, places},
    {"host", "sd", {ONE}, {NULL}, host},
    {"host-blas", "sd", {ONE, "HOST_BLAS="}, {NULL}, host},
    {"small", "s", {ONE}, {NULL}, small},
    {"small-blas", "sd", {ONE, "HOST_BLAS="}, {NULL}, small},
    {"trivial", "sd", {ONE}, {NULL}, trivial},
    {"defaults", "s", {ONE, "COPY_THREADS=0"}, {"COPY_THREADS=0"}, cuts},
    {"slots", "sd", {ONE, "PINNED_MEMORY=1"}, {"PINNED_MEMORY=8"}, cuts},
    {"slots-places", "sd", {ONE, "PINNED_MEMORY=1"}, {"PINNED_MEMORY=8"}, cuts_elsewhere},
    {"slots-one-thread",
     "s",
     {ONE, "PINNED_MEMORY=1", "COPY_THREADS=1"},
     {"PINNED_MEMORY=8", "COPY_THREADS=1"},
     cuts},
    {"slots-long", "sd", {ONE, "PINNED_MEMORY=1"}, {"PINNED_MEMORY=8"}, long_cuts},
    {"memory", "s", {ONE, "DEVICE_MEMORY=1"}, {"DEVICE_MEMORY=32"}, cuts},
    {"memory-slots",
     "sd",
     {ONE, "DEVICE_MEMORY=1", "PINNED_MEMORY=1"},
     {"DEVICE_MEMORY=64", "PINNED_MEMORY=16"},
     cuts},
    {"memory-places", "s", {ONE, "DEVICE_MEMORY=1"}, {"DEVICE_MEMORY=32"}, cuts_elsewhere},
    {"devices", "s", {TWO, "PINNED_MEMORY=1"}, {"DEVICES=2", "PINNED_MEMORY=8"}, cuts},
    {"devices-memory", "sd", {TWO, "DEVICE_MEMORY=1"}, {"DEVICES=2", "DEVICE_MEMORY=32"}, cuts},
    {"again",
     "sd",
     {ONE, "OPERAND_CACHE=1", "PINNED_MEMORY=1"},
     {"OPERAND_CACHE=1", "PINNED_MEMORY=8"},
     again},
    {"again-devices",
     "s",
     {TWO, "OPERAND_CACHE=1", "PINNED_MEMORY=1"},
     {"DEVICES=2", "OPERAND_CACHE=1"},
     again},
};
const size_t record_group_count = COUNT(record_groups);
