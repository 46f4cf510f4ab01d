/* Clients of a server begin with the user's profile, as programs do whose device is their own: with that of the server's device, and
 * with no other.
 *
 *   learned COMMAND
 *
 * COMMAND is the command `tileblas` on the simulated device.
 */
#include "lib/learning/learning.h"
#include "lib/learning/profile.h"
#include "tests/server/running_server.h"
#include "tests/server/served_client.h"

enum { CHILD_SECONDS = 120 };

/* Of a class that no product here is of, and its ratio. */
enum { CLASS = 46 };
#define RATIO 1.75f

static char path[PATH_MAX];

static void keep_profile(void *device)
{
    tb_suggest_learned(TB_FP64, TB_LEARNED_HOST, CLASS, RATIO);
    CHECK(tb_save_profile(path, device), "no profile can be kept");
}

/* One product, so that a ratio is known before anything can have been learned. */
static float ratio_of_client(void)
{
    check_random random = {check_seed()};
    prefer_device();
    CHECK(multiply(&random, 100, "of a client with a profile"), "the product is not served");
    return tb_get_learned(TB_FP64, TB_LEARNED_HOST, CLASS);
}

static void begin_with_it(void *unused)
{
    (void)unused;
    const float ratio = ratio_of_client();
    CHECK(ratio > 0.99f * RATIO && ratio < 1.01f * RATIO, "the client has learned %g", (double)ratio);
}

static void begin_without(void *unused)
{
    (void)unused;
    const float ratio = ratio_of_client();
    CHECK(ratio == 0, "the client has learned %g of another device", (double)ratio);
}

static void check_client(char *device, void (*client)(void *))
{
    child_end end = child_run(keep_profile, device, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "a profile of %s: %s", device, child_end_text(end));
    end = child_run(client, NULL, CHILD_SECONDS);
    CHECK(end == CHILD_RIGHT, "a client with a profile of %s: %s", device, child_end_text(end));
}

int main(int argument_count, char **arguments)
{
    char other[] = "another device";
    tb_welcome status;
    if (argument_count != 2)
        return EXIT_FAILURE;
    server_command = arguments[1];
    const runtime_folder folder = make_runtime_folder();
    setenv("XDG_CACHE_HOME", folder.path, 1);
    const pid_t server = server_start();
    if (CHECK(tb_profile_path(path, sizeof path) && tb_ask_status(&status, 20000),
              "no server, or no place")) {
        check_client(status.descriptions[0].name, begin_with_it);
        check_client(other, begin_without);
    }
    server_end(server, SIGTERM);
    remove_runtime_folder(&folder);
    return check_result();
}
