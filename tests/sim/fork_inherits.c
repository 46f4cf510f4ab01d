/* What a forked child inherits of its parent's device: nothing if the parent has brought one up, or begun to;
 * where it has not, the child may bring up its own, as the parent may afterwards, and what the parent's calls have taken
 * counts for both.
 */
#include "include/tileblas.h"
#include "tests/check.h"
#include "tests/sim/children.h"
#include "tests/sim/known_product.h"

#include <string.h>

enum { M = 300, N = 200, K = 30, GAINING = 512 };
#define CHILD_SECONDS 60.0

static void expect_plan(const char *who, const char *plan)
{
    char found[256];
    CHECK(known_multiply_once(M, N, K, 0, 2, TB_MEMORY_HOST) == 0, "%s: wrong", who);
    tileblas_last_plan(found, sizeof found);
    CHECK(strncmp(found, plan, strlen(plan)) == 0, "%s: \"%s\" instead of %s", who, found, plan);
}

static void has_a_device(void *who)
{
    expect_plan(who, "streamed");
}

static void has_none(void *who)
{
    char device[256];
    expect_plan(who, "host: the device is lost");
    tileblas_device(device, sizeof device);
    CHECK(strstr(device, "forked") != NULL, "%s: its device is \"%s\"", (const char *)who, device);
}

/* There was none in the parent, either. */
static void finds_none(void *who)
{
    char device[256];
    expect_plan(who, "host: no usable device");
    tileblas_device(device, sizeof device);
    CHECK(strncmp(device, "none", 4) == 0, "%s: its device is \"%s\"", (const char *)who, device);
}

static void fork_to(void (*run)(void *), const char *who)
{
    const child_end end = child_run(run, (void *)who, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "%s was %s", who, child_end_text(end));
}

static void is_child_of_one_without(void *who)
{
    has_a_device(who);
    fork_to(has_none, "the child of a child that has a device");
}

static void parent_has_not_begun(void *unused)
{
    (void)unused;
    fork_to(is_child_of_one_without, "the child of a process that has not begun");
    expect_plan("the parent, afterwards", "streamed");
    fork_to(has_none, "the child of a process that has a device");
}

static void parent_found_none(void *unused)
{
    (void)unused;
    sim_set("FAIL", "open:1=unsupported");
    expect_plan("the parent", "host: no usable device");
    sim_set("FAIL", "");
    fork_to(finds_none, "the child of a process that found no device");
}

static void has_taken_as_long(void *parents)
{
    char device[256];
    tileblas_device(device, sizeof device);
    CHECK(strcmp(device, parents) == 0, "the child says \"%s\", and its parent \"%s\"", device,
          (const char *)parents);
}

static void parents_calls_count(void *unused)
{
    (void)unused;
    char device[256];
    tileblas_set_option("ROUTE", "auto");
    tileblas_set_option("START", "never");
    CHECK(known_multiply_once(GAINING, GAINING, GAINING, 0, 2, TB_MEMORY_HOST) == 0, "wrong on the host");
    tileblas_set_option("START", "background");
    tileblas_device(device, sizeof device);
    CHECK(strncmp(device, "not started yet: ", 17) == 0 && !strstr(device, " 0 s"), "\"%s\"", device);
    const child_end end = child_run(has_taken_as_long, device, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "the child was %s", child_end_text(end));
}

int main(void)
{
    tileblas_set_option("START", "wait");
    tileblas_set_option("ROUTE", "streamed");
    fork_to(parent_has_not_begun, "a process that has not begun");
    fork_to(parent_found_none, "a process that found no device");
    fork_to(parents_calls_count, "a process that has waited");
    return check_result();
}
