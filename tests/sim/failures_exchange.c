/* A result is never lost, as in failures.c, of two devices that bring an operand for each other: whose
 * operation it is that fails, each hands over only what came of numbers that have arrived.
 *
 * The argument says how operations fail: memory, unsupported, lost or fault (device_sim.h). With cuts, linked
 * with cuts.c, the common operand is B, of which panels come when the columns of C before them are on their way back.
 */
#include "tests/sim/failing.h"
#include "tests/sim/side_by_side.h"

int main(int count, char **arguments)
{
    const char *failure = count > 1 ? arguments[1] : "lost";
    static const scenario scenarios[] = {
        {.m = 60, .n = 130, .k = 40, .beta = -2},
        {.m = 60, .n = 130, .k = 40, .beta = 0, .transposed = true},
        {.m = 130, .n = 60, .k = 40, .beta = -2, .pinned_memory = "1"},
        {.m = 130, .n = 60, .k = 90, .beta = 0, .element = TB_FP64, .pinned_memory = "1"},
        {.m = 600, .n = 610, .k = 40, .beta = -2, .pinned_memory = "1"},
        {.m = 60, .n = 130, .k = 40, .beta = 0, .pinned_c = true},
        {.m = 130, .n = 60, .k = 40, .beta = -2, .pinned_c = true},
    };

    /* The product is cut in two regions of as many rows, which are cut alike. */
    static const scenario cut[] = {
        {.m = 260, .n = 112, .k = 24, .beta = 1, .pinned_memory = "1"},
    };
    const bool is_cut = count > 2 && strcmp(arguments[2], "cuts") == 0;
    const size_t all = is_cut ? sizeof cut / sizeof *cut : sizeof scenarios / sizeof *scenarios;

    begin_failing();
    sides_wait = true;
    for (size_t i = 0; i < all; i++) {
        scenario scenario = is_cut ? cut[i] : scenarios[i];
        scenario.threads = 1;
        scenario.devices = "2";
        scenario.exchanged = true;
        fail_everywhere(&scenario, "any", failure);
    }
    return check_result();
}
