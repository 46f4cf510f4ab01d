/* A result is never lost, as in failures.c, of two devices that bring an operand for each other: whose operation it is that fails,
 * each hands over only what came of numbers that have arrived.
 *
 * The argument says how operations fail: memory, unsupported, lost or fault (device_sim.h).
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

    begin_failing();
    sides_wait = true;
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        scenario scenario = scenarios[i];
        scenario.threads = 1;
        scenario.devices = "2";
        scenario.exchanged = true;
        fail_everywhere(&scenario, "any", failure);
    }
    return check_result();
}
