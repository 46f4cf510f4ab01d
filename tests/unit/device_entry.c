/* Who forks while a helper brings the device up has a child without that helper, whose exit is not to wait for it. */
#include "lib/device/device_entry.h"
#include "tests/check.h"
#include "tests/sim/children.h"

#define CHILD_SECONDS 60.0

int main(void)
{
    tb_begin_bringing_up();
    CHECK(tb_is_bringing_up(), "nobody brings the device up");
    const pid_t child = fork();
    if (child == 0) {
        CHECK(!tb_is_bringing_up(), "the child waits for a thread that it does not have");
        _exit(check_result());
    }
    const child_end end = child_wait(child, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "the child was %s", child_end_text(end));
    tb_end_bringing_up();
    CHECK(!tb_is_bringing_up(), "still bringing up");
    return check_result();
}
