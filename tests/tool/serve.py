"""`tileblas serve`: a server in the background, what it says of itself, and where its socket is."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

from tool import PATHS, call, contains, equal, main


@contextlib.contextmanager
def _user(**variables):
    """An environment with a folder of its own for what the user's processes share; no server stays."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {"XDG_RUNTIME_DIR": folder, "TILEBLAS_CALIBRATE": "0", **variables}
        try:
            yield environment
        finally:
            call("TOOL_SIM", "serve", "--stop", environment=environment)


def _serve(environment, *options, **settings):
    return call("TOOL_SIM", "serve", *options, environment=environment, **settings)


def _status(environment, *options):
    return json.loads(_serve(environment, "--json", *options).stdout)


def _wait_for(what, condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError(what)


def _is_gone(process):
    """Or dead, and nobody has looked yet."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def one_is_started_told_of_and_ended():
    with _user() as user:
        started = _serve(user, "--start")  # and does not keep this pipe open
        equal((started.returncode, started.stdout, started.stderr), (0, "", ""))
        status = _status(user)
        equal((status["clients"], len(status["devices"])), (0, 1))
        equal(status["devices"][0], {"device": 0, "name": "simulated", "held_mib": 0, "copies_mib": 0, "load": 0})
        equal(status["found_mib"], 0)
        contains(status["socket"], user["XDG_RUNTIME_DIR"] + "/tileblas/serve-")
        table = _serve(user, "--status").stdout.splitlines()
        contains(table[0], f"process {status['process']}, up for ", "0 clients, socket " + status["socket"])
        contains(table[1], "device", "held by clients", "copies for all", "at work", "name")
        equal(table[2].split(), ["0", "0.0", "MiB", "0.0", "MiB", "0%", "simulated"])
        equal(_serve(user, "--start").returncode, 0)
        equal(_status(user)["process"], status["process"], "another server:")
        equal(_serve(user, "--stop").returncode, 0)
        assert _is_gone(status["process"])
        for question in ("--stop", "--status", "--json"):
            done = _serve(user, question)
            equal((done.returncode, done.stdout), (1, ""))
            contains(done.stderr, "there is no server of this build: none runs")


def it_is_a_process_by_itself():
    with _user() as user:
        reader, writer = os.pipe()
        _serve(user, "--start")
        own = _status(user)["process"]
        _serve(user, "--stop")
        with open("/dev/null", encoding="utf-8") as held:
            subprocess.run([PATHS["TOOL_SIM"], "serve", "--start"], check=True, env={**os.environ, **user},
                           pass_fds=(writer, held.fileno()))
        os.close(writer)
        equal(os.read(reader, 1), b"", "the server has a pipe of ours:")  # ends only when nobody else has it
        os.close(reader)
        process = _status(user)["process"]
        assert process != own
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            parent, _, session = file.read().rpartition(")")[2].split()[1:4]
        assert int(session) not in (os.getsid(0), 0) and int(parent) != os.getpid()
        files = {number: os.readlink(f"/proc/{process}/fd/{number}") for number in "012"}
        equal(files, dict.fromkeys("012", "/dev/null"))
        equal(os.readlink(f"/proc/{process}/cwd"), "/")


def why_none_was_started_is_said():
    with _user() as user:
        done = _serve({**user, "TILEBLAS_SIM_DEVICES": "0"}, "--start")
        equal((done.returncode, done.stdout), (1, ""))
        contains(done.stderr, "tileblas serve: no server was started: the driver offers no GPU")
        done = _serve(user, "--start", "--devices", "5")
        equal(done.returncode, 1)
        contains(done.stderr, "none of those GPUs can be had")
        equal(_serve(user, "--status").returncode, 1)


def two_at_once_are_one():
    with _user() as user:
        starts = [subprocess.Popen([PATHS["TOOL_SIM"], "serve", "--start"], env={**os.environ, **user}) for _ in range(4)]
        equal([start.wait(timeout=60) for start in starts], [0] * 4)
        equal(_status(user)["clients"], 0)


def it_ends_when_it_is_idle():
    with _user() as user:
        equal(_serve(user, "--start", "--idle", "0.3").returncode, 0)
        _wait_for("it does not end", lambda: _serve(user, "--status").returncode == 1)


def devices_are_chosen():
    with _user(TILEBLAS_SIM_DEVICES="4") as user:
        for option, devices in ((("--devices", "2,1"), {1, 2}), (("--devices", "3"), {3}), ((), {0, 1, 2, 3})):
            equal(_serve(user, "--start", *option).returncode, 0)
            equal({device["device"] for device in _status(user)["devices"]}, devices)
            _serve(user, "--stop")


def memory_and_load_are_those_of_clients():
    with _user(TILEBLAS_SIM_DEVICES="2") as user:
        _serve(user, "--start")
        variables = {**os.environ, **user, "LD_PRELOAD": PATHS["PRELOAD_SIM"], "TILEBLAS_SERVER": "auto",
                     "TILEBLAS_ROUTE": "streamed", "TILEBLAS_START": "wait"}
        with subprocess.Popen([PATHS["CLIENT"], "calls", "1000000"], env=variables) as client:
            try:
                _wait_for("no client, or no load", lambda: _status(user)["clients"] == 1
                          and max(device["load"] for device in _status(user)["devices"]) > 0)
                status = _status(user)
                assert max(device["held_mib"] for device in status["devices"]) > 0, status
                assert all(0 <= device["load"] <= 1 for device in status["devices"]), status
            finally:
                client.kill()
        _wait_for("the client stays", lambda: _status(user)["clients"] == 0
                  and all(device["load"] == device["held_mib"] == 0 for device in _status(user)["devices"]))


def what_was_served_is_told():
    with _user() as user, tempfile.TemporaryDirectory() as folder:
        _serve(user, "--start")
        forced = {**user, "TILEBLAS_ROUTE": "streamed", "TILEBLAS_START": "wait"}
        served = forced  # a server is used where one runs
        run = ("TOOL", "run", "--preload", "PRELOAD_SIM", "--report", f"{folder}/page")
        words = call(*run, "CLIENT", "calls", "3", "children", "2", environment=served)
        contains(words.stderr, "tileblas: streamed 9 calls", "tileblas:   served 9 calls, ", "MB over the link")
        with open(f"{folder}/page", encoding="utf-8") as file:
            contains(file.read(), "by tileblas serve")
        summary = json.loads(call(*run, "--json", "CLIENT", "calls", "3", environment=served).stderr)
        equal(summary["served"], {member: value for member, value in summary["routes"]["streamed"].items() if member != "shapes"})
        alone = call(*run, "CLIENT", "calls", "3", environment={**forced, "TILEBLAS_SERVER": "never"})
        contains(alone.stderr, "tileblas: streamed 3 calls")
        assert "served" not in alone.stderr, alone.stderr


def none_leaves_no_trace():
    with _user(TILEBLAS_SIM_DEVICES="0") as user:
        alone = call("TOOL", "run", "--preload", "PRELOAD_SIM", "CLIENT", "calls", "3", environment={
            **user, "TILEBLAS_START": "wait", "TILEBLAS_ROUTE": "streamed"})
        contains(alone.stderr, "tileblas: host 3 calls")
        equal(os.listdir(user["XDG_RUNTIME_DIR"]), [])


def run_starts_one_that_stays():
    with _user() as user:
        run = ("TOOL_SIM", "run", "--serve", "--preload", "PRELOAD_SIM", "CLIENT", "calls", "2", "exit", "3")
        forced = {**user, "TILEBLAS_ROUTE": "streamed", "TILEBLAS_START": "wait"}
        first = call(*run, environment=forced)
        contains(first.stderr, "tileblas:   served 2 calls")
        process = _status(user)["process"]
        second = call(*run, environment=forced)
        contains(second.stderr, "tileblas:   served 2 calls")
        equal((first.returncode, second.returncode, _status(user)["process"]), (3, 3, process))
        _serve(user, "--stop")
        with tempfile.TemporaryDirectory() as folder:  # a server that TILEBLAS_SERVER names is that one
            named = {**forced, "TILEBLAS_SERVER": f"{folder}/socket"}
            contains(call(*run, environment=named).stderr, "tileblas:   served 2 calls")
            equal(_serve(user, "--status").returncode, 1)
            equal(_serve(named, "--stop").returncode, 0)
    with _user(TILEBLAS_SIM_DEVICES="0") as user:
        alone = call(*run, environment=user)
        equal(alone.returncode, 3)
        contains(alone.stderr, "tileblas run: no server was started: ", "tileblas: host 2 calls")


def info_and_explain_say_whether_one_answers():
    with _user() as user:
        used = {**user, "TILEBLAS_START": "background"}
        user = {**user, "TILEBLAS_SERVER": "never"}
        contains(call("TOOL_SIM", "info", environment=user).stdout, "server       none: none runs")
        none = json.loads(call("TOOL_SIM", "info", "--json", environment=user).stdout)["server"]
        equal((none["answers"], none["is_used"], none["no_answer"]), (False, False, "none runs"))
        _serve(user, "--start")
        process = _status(user)["process"]
        left = call("TOOL_SIM", "info", environment=user).stdout
        contains(left, f"server       process {process} answers at {user['XDG_RUNTIME_DIR']}", "as TILEBLAS_SERVER is never")
        contains(call("TOOL_SIM", "info", environment=used).stdout, "it computes products that gain")
        question = ("TOOL_SIM", "explain", "4000", "4000", "4000")
        served = call(*question, environment={**used, "TILEBLAS_SIM_DEVICES": "0"}).stdout
        contains(served, "multiprocessors, the server's\n", f"server       process {process} answers", "has 0 clients")
        answer = json.loads(call(*question, "--json", environment=used).stdout)
        equal((answer["server"]["is_used"], answer["machine"]["device"]), (True, True))
        for own in (call(*question, environment={**user, "TILEBLAS_START": "background"}).stdout,
                    call(*question, "--pointers", "device", environment=used).stdout):
            assert "the server's" not in own, own
        assert "server" not in call(*question, "--assume", "h200", environment=used).stdout


def _calls_on_device(environment, server):
    done = call("TOOL", "run", "--json", "--preload", "PRELOAD_SIM", "CLIENT", "calls", "3", environment={
        **environment, "TILEBLAS_SERVER": server, "TILEBLAS_ROUTE": "streamed", "TILEBLAS_START": "wait",
        "TILEBLAS_SIM_DEVICES": "0"})
    return json.loads(done.stderr.strip().splitlines()[-1])["routes"]["streamed"]["calls"]


def a_socket_can_be_elsewhere():
    with _user() as user, tempfile.TemporaryDirectory() as elsewhere:
        path = f"{elsewhere}/a-socket"
        equal(_serve(user, "--start", "--socket", path).returncode, 0)
        equal(_serve(user, "--status").returncode, 1)
        equal(_status(user, "--socket", path)["socket"], os.path.realpath(path))
        equal(_serve({**user, "TILEBLAS_SERVER": path}, "--status").returncode, 0)
        # Programs without a device of their own, which have another folder, as in a container.
        with _user() as other:
            equal([_calls_on_device(other, server) for server in (path, "never", "auto", path + "-not")], [3, 0, 0, 0])
        os.chmod(elsewhere, 0o755)  # whose folder it is in does not matter, but whose socket it is
        equal(_calls_on_device(user, path), 3)
        equal(os.stat(path).st_mode & 0o777, 0o600)
        equal(_serve(user, "--stop", "--socket", path).returncode, 0)
        assert not os.path.exists(path)


def nobody_meets_another_user():
    if os.geteuid() != 0:
        print("skipped: only root can be another user")
        return
    with _user() as user, tempfile.TemporaryDirectory() as elsewhere:
        other = 65534
        os.chmod(elsewhere, 0o777)
        try:
            started = subprocess.run([PATHS["TOOL_SIM"], "serve", "--start", "--socket", f"{elsewhere}/other"], check=False,
                                     user=other, group=other, extra_groups=(), env={**os.environ, **user}, timeout=60)
        except PermissionError:
            print("skipped: another user cannot reach the command")
            return
        equal(started.returncode, 0)
        equal(_calls_on_device(user, f"{elsewhere}/other"), 0)
        contains(_serve(user, "--status", "--socket", f"{elsewhere}/other").stderr, "its socket is another user's")
        _serve(user, "--start", "--socket", f"{elsewhere}/own")
        os.chmod(f"{elsewhere}/own", 0o666)
        for name in ("own", "other"):
            asked = subprocess.run([PATHS["TOOL_SIM"], "serve", "--stop", "--socket", f"{elsewhere}/{name}"], check=False, timeout=60,
                                   user=other, group=other, extra_groups=(), env={**os.environ, **user}, stderr=subprocess.DEVNULL)
            equal(asked.returncode, int(name == "own"))
        equal(_serve(user, "--stop", "--socket", f"{elsewhere}/own").returncode, 0)


def one_that_loses_its_device_begins_anew_as_it_was():
    with _user(TILEBLAS_SIM_DEVICES="3") as user, tempfile.TemporaryDirectory() as elsewhere:
        subprocess.run([PATHS["TOOL_SIM"], "serve", "--start", "--socket", "a-socket", "--devices", "1,2"], cwd=elsewhere, check=True,
                       env={**os.environ, **user, "TILEBLAS_SIM_FAIL": "launch:2=lost"})
        here = ("--socket", f"{elsewhere}/a-socket")
        first = _status(user, *here)
        lost = time.monotonic()
        _calls_on_device(user, here[1])

        def has_begun_anew():
            asked, now = time.monotonic(), _serve(user, "--json", *here)
            return now.returncode == 0 and asked - json.loads(now.stdout)["seconds"] > lost
        _wait_for("it has not begun anew", has_begun_anew)
        now = _status(user, *here)
        equal(now["process"], first["process"])
        equal([device["device"] for device in now["devices"]], [device["device"] for device in first["devices"]])
        equal(_serve(user, "--stop", *here).returncode, 0)


def what_is_no_socket_stays():
    with _user() as user, tempfile.TemporaryDirectory() as elsewhere:
        path = f"{elsewhere}/thesis"
        with open(path, "w", encoding="utf-8") as file:
            file.write("a thesis")
        for name in (path, f"{elsewhere}/not-there/socket", f"{elsewhere}/{'x' * 200}", elsewhere + "/"):
            done = _serve(user, "--start", "--socket", name)
            equal(done.returncode, 1)
            contains(done.stderr, "its socket cannot be made there")
        with open(path, encoding="utf-8") as file:
            equal(file.read(), "a thesis")


def units_are_those_of_systemd():
    with _user() as user, tempfile.TemporaryDirectory() as units:
        for kind in ("socket", "service"):
            done = _serve(user, "--unit", kind)
            equal((done.returncode, done.stderr), (0, ""))
            with open(f"{units}/tileblas.{kind}", "w", encoding="utf-8") as file:
                file.write(done.stdout)
        _serve(user, "--start")
        name = os.path.basename(_status(user)["socket"])
        with open(f"{units}/tileblas.socket", encoding="utf-8") as file:
            equal(re.findall(r"^ListenSequentialPacket=(.*)$", file.read(), re.M), [f"%t/tileblas/{name}"])
        with open(f"{units}/tileblas.service", encoding="utf-8") as file:
            equal(re.findall(r"^ExecStart=(.*)$", file.read(), re.M), [os.path.realpath(PATHS["TOOL_SIM"]) + " serve"])
        if shutil.which("systemd-analyze"):
            verified = subprocess.run(["systemd-analyze", "verify", "--user", f"{units}/tileblas.socket"], timeout=60, check=False,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
            assert "tileblas" not in verified.stdout, verified.stdout
        equal(_serve(user, "--unit", "timer").returncode, 2)


def wrong_options_are_refused():
    with _user() as user:
        for option in (("--idle", "soon"), ("--memory", "-1"), ("--devices", "0,"), ("--devices", "a"), ("--devices", "64"),
                       ("--socket", ""), ("--nonsense",), ("word",)):
            done = _serve(user, *option)
            equal((done.returncode, done.stdout), (2, ""), str(option))
            contains(done.stderr, "--help")


if __name__ == "__main__":
    main(globals())
