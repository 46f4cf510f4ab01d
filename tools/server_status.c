/* The server that runs: what it has to do, what programs do with it, and its end. */
#include "lib/serving/greeting.h"
#include "lib/user/options.h"
#include "tools/server.h"
#include "tools/tool.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ANSWER_MILLISECONDS = 2000, STOP_MILLISECONDS = 10000 };

#define MIB ((double)(1 << 20))

static int no_server(void)
{
    tool_complain("serve", "there is no server of this build: %s", tb_why_no_server());
    return TOOL_FAILED;
}

/* ---- Status ------------------------------------------------------------------------------------------------- */

static int print_table(const tb_welcome *status, const char *socket)
{
    tool_say("process %d, up for %.0f s, %d clients, socket %s\n", status->process, status->seconds,
             status->clients, socket);
    tool_say("device  held by clients  copies for all  at work  name\n");
    for (int i = 0; i < status->device_count; i++)
        tool_say("%6d  %11.1f MiB  %10.1f MiB  %6.0f%%  %s\n", status->chips[i].device,
                 (double)status->held_bytes[i] / MIB, (double)status->kept_bytes[i] / MIB,
                 100 * status->loads[i], status->descriptions[i].name);
    return tool_print("");
}

static void write_status(tb_json *json, const tb_welcome *status)
{
    tb_json_integer(json, "process", status->process);
    tb_json_number(json, "seconds", status->seconds);
    tb_json_integer(json, "clients", status->clients);
    tb_json_number(json, "found_mib", (double)status->found_bytes / MIB);
    tb_json_open(json, "devices", '[');
    for (int i = 0; i < status->device_count; i++) {
        tb_json_open(json, NULL, '{');
        tb_json_integer(json, "device", status->chips[i].device);
        tb_json_text(json, "name", status->descriptions[i].name);
        tb_json_number(json, "held_mib", (double)status->held_bytes[i] / MIB);
        tb_json_number(json, "copies_mib", (double)status->kept_bytes[i] / MIB);
        tb_json_number(json, "load", (double)status->loads[i]);
        tb_json_close(json, '}');
    }
    tb_json_close(json, ']');
}

int server_print_status(bool as_json)
{
    tb_welcome status;
    char socket[PATH_MAX];
    tb_print_server_place(socket, sizeof socket);
    if (!tb_ask_status(&status, ANSWER_MILLISECONDS))
        return no_server();
    if (!as_json)
        return print_table(&status, socket);
    tb_json json = {0};
    tb_json_open(&json, NULL, '{');
    tb_json_text(&json, "socket", socket);
    write_status(&json, &status);
    tb_json_close(&json, '}');
    return tool_print_json(&json);
}

/* ---- For info and explain ----------------------------------------------------------------------------------- */

static tb_welcome answer;

bool server_answers(void)
{
    static bool is_asked, answers;
    if (!is_asked)
        answers = tb_ask_status(&answer, ANSWER_MILLISECONDS);
    is_asked = true;
    return answers;
}

static bool is_used(void)
{
    return server_answers() && tb_option_value(TB_OPTION_SERVER) != TB_SERVER_NEVER;
}

void server_say_state(void)
{
    char socket[PATH_MAX];
    tb_print_server_place(socket, sizeof socket);
    if (server_answers())
        tool_say("server       process %d answers at %s, and has %d clients: %s\n", answer.process, socket,
                 answer.clients,
                 is_used() ? "it computes products that gain, from the first one on"
                           : "products do not go there, as TILEBLAS_SERVER is never");
    else
        tool_say("server       none: %s\n", tb_why_no_server());
}

void server_write_state(tb_json *json)
{
    char socket[PATH_MAX];
    tb_print_server_place(socket, sizeof socket);
    tb_json_open(json, "server", '{');
    tb_json_text(json, "socket", socket);
    tb_json_boolean(json, "answers", server_answers());
    tb_json_boolean(json, "is_used", is_used());
    if (server_answers())
        write_status(json, &answer);
    else
        tb_json_text(json, "no_answer", tb_why_no_server());
    tb_json_close(json, '}');
}

/* ---- Its end ------------------------------------------------------------------------------------------------ */

int server_stop(void)
{
    tb_welcome status;
    if (!tb_ask_status(&status, ANSWER_MILLISECONDS))
        return no_server();
    const int process = status.process > 0 ? (int)syscall(SYS_pidfd_open, status.process, 0) : -1;
    if (process < 0) {
        tool_complain("serve", "the server's process cannot be seen from here");
        return TOOL_FAILED;
    }
    struct pollfd ended = {.fd = process, .events = POLLIN};
    syscall(SYS_pidfd_send_signal, process, SIGTERM, NULL, 0);
    const bool has_ended = poll(&ended, 1, STOP_MILLISECONDS) == 1;
    close(process);
    if (!has_ended)
        tool_complain("serve", "process %d was told to end, and has not yet", status.process);
    return has_ended ? TOOL_OK : TOOL_FAILED;
}
