/* Claims of devices: one for each claimant while there are as many, and then evenly; of devices like the first alone. All
 * claimants are of this process, whose sockets are in each other's way as those of several are.
 */
#include "lib/machine/claim.h"
#include "tests/check.h"

#include <string.h>
#include <unistd.h>

enum { DEVICES = 4, MANY = 70 };

/* Of this process alone: others may run this test. */
static tb_device_description describe(int number, const char *name)
{
    const int process = (int)getpid();
    tb_device_description device = {.uuid = {(unsigned char)(number + 1)}};
    snprintf(device.name, sizeof device.name, "%s", name);
    memcpy(device.uuid + 4, &process, sizeof process);
    return device;
}

static void check_home(const tb_device_description *devices, int count, int expected, const char *when)
{
    const int home = tb_claim_home(devices, count);
    CHECK(home == expected, "%s: %d instead of %d", when, home, expected);
}

int main(void)
{
    const tb_device_description devices[DEVICES] = {describe(0, "large"), describe(1, "small"),
                                                    describe(2, "large"), describe(3, "large, too")};
    check_home(devices, DEVICES, 0, "the first");
    check_home(devices, DEVICES, 2, "the second, past one of another kind");
    check_home(devices, DEVICES, 0, "the third");
    CHECK(!tb_claim_device(&devices[0]) && !tb_claim_device(&devices[2]), "what is claimed was claimed");
    CHECK(tb_claim_device(&devices[1]) && !tb_claim_device(&devices[1]), "what is free was not, or twice");

    const tb_device_description alike[] = {describe(4, "large"), describe(5, "large")};
    for (int i = 0; i < MANY; i++)
        check_home(alike, 2, i % 2, "one of many");
    check_home(alike, 1, 0, "a single one");
    CHECK(!tb_claim_device(&alike[1]), "what many have claimed was claimed");

    const tb_device_description unknown[DEVICES] = {{.name = "large"}, {.name = "large"}};
    check_home(unknown, 2, 0, "unknown ones");
    check_home(unknown, 2, 0, "unknown ones again");
    CHECK(tb_claim_device(&unknown[1]) && tb_claim_device(&unknown[1]),
          "unknown ones are claimed by somebody");
    return check_result();
}
