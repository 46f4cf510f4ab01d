"""The module tileblas on NumPy's and SciPy's wheels, whose BLAS has names and handles of its own.

usage: attached.py SCENARIO    with TILEBLAS_LIBRARY, and TILEBLAS_ROUTE: streamed or host
"""

import ctypes
import importlib.util
import multiprocessing
import os
import pickle
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.machinery import ExtensionFileLoader, PathFinder
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(1, str(Path(__file__).resolve().parent.parent / "client"))

import tileblas

PROJECT = Path(__file__).resolve().parent.parent.parent
ROUTE = os.environ.get("TILEBLAS_ROUTE", "host")


def expect(condition, text):
    if not condition:
        sys.exit(text)


def product(seed=0):
    """One that is not small; it ends the program unless it is right."""
    from checks import check, np

    random = np.random.default_rng(seed)
    a, b = random.standard_normal((150, 170)), random.standard_normal((170, 130))
    c = a @ b
    check(f"product {seed}", c, a, b)
    return c


def load_extension():
    """As an import does, without running it: one of Python's own that is not there yet."""
    for name in sorted(sys.stdlib_module_names):
        spec = PathFinder.find_spec(name) if name.startswith("_") and name not in loaded else None
        if spec and isinstance(spec.loader, ExtensionFileLoader):
            loaded.add(name)
            return importlib.util.module_from_spec(spec)
    sys.exit("Python has no extension modules left")


loaded = set(sys.modules)


def expect_products(calls, numbers):
    """Numbers of calls by routine, all of them where this run wants them."""
    found = {routine: routes.get(ROUTE, {}).get("calls", 0) for routine, routes in calls.routines.items()}
    expect(found == numbers, f"there were {found} on the route {ROUTE} and not {numbers}:\n{calls}")
    expect(calls.calls == sum(numbers.values()), f"other products were counted:\n{calls}")


# ---- Scenarios -------------------------------------------------------------------------------------------------


def late():
    """NumPy and SciPy were there before."""
    import numpy as np
    import scipy.linalg
    from scipy.linalg import blas

    plain = product()
    expect(tileblas.attach() > 100, "hardly anything is bound")
    expect(tileblas.attach() == tileblas.attach(), "attaching again binds others")
    attached = product()
    expect(np.allclose(plain, attached), "attached the product is another one")
    if ROUTE == "host":
        expect(np.array_equal(plain, attached), "on the host the BLAS is another one")
    expect_products(tileblas.stats(), {"dgemm": 1})
    triangle = np.tril(np.ones((200, 200))) + np.eye(200)
    solved = blas.dtrsm(1.0, triangle, triangle, lower=1)
    expect(np.allclose(solved, np.eye(200)), "DTRSM is wrong")
    a = np.ones((150, 90), np.float32)
    expect(np.all(a @ a.T == 90), "SSYRK is wrong")
    expect(np.all(blas.zgemm(1, a, a, trans_b=1) == 90), "ZGEMM is wrong")
    scipy.linalg.solve(triangle, triangle)
    calls = tileblas.stats()
    found = {name: calls.routines.get(name, {}).get(ROUTE, {}).get("calls") for name in ("dgemm", "dtrsm", "ssyrk", "zgemm")}
    expect(found == {"dgemm": 1, "dtrsm": 1, "ssyrk": 1, "zgemm": 1}, f"calls are {found}:\n{calls}")
    expect(tileblas.detach() > 100, "hardly anything was restored")
    expect(tileblas.detach() == 0, "something was restored twice")
    before = tileblas.stats().calls
    product()
    expect(tileblas.stats().calls == before, "detached, a product was taken over")


def early():
    """NumPy and SciPy are imported while attached, and not any more."""
    tileblas.attach()
    product()
    import scipy.linalg.blas

    expect_products(tileblas.stats(), {"dgemm": 1})
    scipy.linalg.blas.dgemm(1.0, *[product()] * 2, trans_b=1)
    expect_products(tileblas.stats(), {"dgemm": 3})
    tileblas.detach()
    import scipy.sparse.linalg

    product()
    expect_products(tileblas.stats(), {"dgemm": 3})


def block():
    """Only a block's calls are a block's, and one within another leaves that attached."""
    product()
    with tileblas.attached() as outer:
        product()
        with tileblas.attached() as inner:
            product()
            product()
        expect_products(inner, {"dgemm": 2})
        product()
    expect_products(outer, {"dgemm": 4})
    product()
    expect_products(tileblas.stats(), {"dgemm": 4})
    try:
        with tileblas.attached() as failed:
            product()
            raise KeyError
    except KeyError:
        pass
    product()
    expect_products(failed, {"dgemm": 1})
    tileblas.reset()
    expect_products(tileblas.stats(), {})


def overlap():
    """Blocks of which one is entered before the other ends."""
    product()
    first, second = tileblas.attached(), tileblas.attached()
    first.__enter__()
    calls = second.__enter__()
    first.__exit__(None, None, None)
    product()
    second.__exit__(None, None, None)
    expect_products(calls, {"dgemm": 1})
    product()
    expect_products(tileblas.stats(), {"dgemm": 1})
    with tileblas.attached():
        tileblas.attach()
    product()
    expect_products(tileblas.stats(), {"dgemm": 2})
    with tileblas.attached():
        tileblas.detach()
        product()
    product()
    expect_products(tileblas.stats(), {"dgemm": 2})


def other_hooks():
    """Others who look at imports, too, and come before us and after."""
    seen = []

    def look(name):
        own = ExtensionFileLoader.create_module

        def create_module(self, spec):
            seen.append(name)
            return own(self, spec)

        ExtensionFileLoader.create_module = create_module

    def expect_seen(*names):
        seen.clear()
        load_extension()
        expect(seen[:2] == list(names), f"a module was seen by {seen} and not {names}")

    product()
    original = ExtensionFileLoader.create_module
    tileblas.attach()
    tileblas.detach()
    expect(ExtensionFileLoader.create_module is original, "something is left in the loader")
    look("first")
    tileblas.attach()
    look("second")
    tileblas.detach()
    expect_seen("second", "first")
    tileblas.attach()
    expect_seen("second", "first")
    product()
    expect_products(tileblas.stats(), {"dgemm": 1})
    tileblas.detach()
    expect_seen("second", "first")


def detached_meanwhile():
    """A thread detaches while another one, which imports, is about to bind what it has imported."""
    from tileblas import _hook, _library

    class Meddler:
        def tileblas_attach(self):
            self.detacher = threading.Thread(target=detach)
            self.detacher.start()
            self.detacher.join(0.5)
            return _library.library().tileblas_attach()

    def detach():
        _hook.library = _library.library
        tileblas.detach()

    product()
    tileblas.attach()
    meddler = Meddler()
    _hook.library = lambda: meddler
    load_extension()
    meddler.detacher.join()
    product()
    expect_products(tileblas.stats(), {})


def table():
    """What a notebook and a terminal show."""
    tileblas.attach()
    expect(repr(tileblas.stats()) == "TileBLAS: 0 products, 0 of them on a GPU", f"of nothing: {tileblas.stats()}")
    product()
    calls = tileblas.stats()
    lines = repr(calls).splitlines()
    expect(lines[0] == f"TileBLAS: 1 products, {int(ROUTE == 'streamed')} of them on a GPU", lines[0])
    expect(lines[1].split()[:3] == ["routine", "route", "calls"], lines[1])
    expect(lines[2].split()[:3] == ["dgemm", ROUTE, "1"], lines[2])
    html = calls._repr_html_()
    expect(f">dgemm</td>" in html and f">{ROUTE}</td>" in html, html)
    expect(html.count("<tr>") == 2 and html.count("<tr>") == html.count("</tr>"), html)
    expect(tileblas.last_plan().startswith(ROUTE), tileblas.last_plan())
    if ROUTE == "host":
        expect(lines[3] == "stayed on the host: forced 1", lines[3:])
        expect("stayed on the host: forced 1" in html, html)


def bound():
    """What attaching answers says itself, and is the number that it was."""
    expect(repr(tileblas.attach()) == "nothing yet: import numpy", f"before NumPy: {tileblas.attach()!r}")
    import numpy

    answer = tileblas.attach()
    expect(answer > 0 and answer == answer.references == int(str(answer)), f"the number is {answer}")
    noun = "object" if answer.objects == 1 else "objects"
    expect(repr(answer) == f"bound {answer.references} references of {answer.objects} {noun}", repr(answer))
    import scipy.linalg.blas

    more = tileblas.attach()
    expect(more > answer and more.objects > answer.objects, f"with SciPy: {more!r}")
    copy = pickle.loads(pickle.dumps(more))
    expect(repr(copy) == repr(more) and copy == more, f"sent to another process: {copy!r}")
    tileblas.detach()
    expect(repr(tileblas.attach()) == repr(more), "attached again it is another number")


def without_device():
    """The same words say why there is no GPU, wherever that is asked, and where to ask further."""
    tileblas.attach()
    product()
    why = tileblas.stats().device
    if why.startswith("up"):
        sys.exit(77)
    expect(why.startswith("none: ") and "`tileblas info`" in why, why)
    expect(tileblas.last_plan().startswith("host: no usable device") and tileblas.last_plan().endswith(f"; GPU {why}"),
           tileblas.last_plan())
    expect(list(tileblas.stats().reasons) == ["no usable device"], f"reasons: {tileblas.stats().reasons}")
    expect(repr(tileblas.stats()).splitlines()[-1] == f"GPU {why}", repr(tileblas.stats()))
    explained = tileblas.explain(4096, 4096, 4096)
    expect(explained.reason == "no usable device", repr(explained))
    expect(repr(explained).splitlines()[-1] == f"GPU {why}", repr(explained))


def not_started():
    """A GPU that is there and was not started; the option that keeps it so is named, and the products that were waited for."""
    tileblas.attach()
    expect(tileblas.stats().device.startswith("not started yet: "), tileblas.stats().device)
    tileblas.set_option("START", "never")
    product()
    why = "not started: the option START is never"
    expect(tileblas.last_plan().endswith(f"; GPU {why}"), tileblas.last_plan())
    expect(repr(tileblas.stats()).splitlines()[-1] == f"GPU {why}", repr(tileblas.stats()))
    tileblas.set_option("START", "wait")
    product()
    expect(tileblas.stats().device.startswith("up: "), tileblas.stats().device)
    expect("GPU" not in tileblas.last_plan(), tileblas.last_plan())


def page():
    """The page of this process, while it runs."""
    product()
    tileblas.attach()
    for _ in range(3):
        product()
    early_page = tileblas.report()
    product()
    late_page = tileblas.report()
    for shown, calls in ((early_page, 3), (late_page, 4)):
        expect(f"<tr><td>dgemm</td><td>{ROUTE}</td><td>{calls}</td>" in shown.html, shown.html)
        expect("1 process" in shown.html and f'<rect class="{ROUTE}"' in shown.html, shown.html)
    expect(repr(late_page) == repr(tileblas.stats()), repr(late_page))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        late_page.save(path)
        expect(path.read_text(encoding="utf-8") == late_page.html, "another page was saved")
    frame = late_page._repr_html_()
    expect(frame.startswith("<iframe ") and "<" not in frame[frame.index("srcdoc="):-len("></iframe>")], frame)
    tileblas.reset()
    other = {"host": "streamed", "streamed": "host"}[ROUTE]
    tileblas.set_option("ROUTE", other)
    product()
    after = tileblas.report().html
    expect(f'<rect class="{other}"' in after and f'<rect class="{ROUTE}"' not in after, f"before the reset: {after}")


def odd_path():
    """An interpreter that lies where the folder's name is no text, in a process whose locale has ASCII alone."""
    shows = "import tileblas; tileblas.attach(); print(ascii(tileblas.report().html))"
    with tempfile.TemporaryDirectory() as folder:
        odd = os.path.join(os.fsencode(folder), b"\xff <\xc3\xa4>")
        os.mkdir(odd)
        interpreter = shutil.copy(os.fsencode(os.path.realpath(sys.executable)), odd)
        settings = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONHOME": sys.base_prefix,
                    "LD_LIBRARY_PATH": sysconfig.get_config_var("LIBDIR")}
        ran = subprocess.run([interpreter, "-B", "-s", "-c", shows], capture_output=True, text=True, check=False,
                             env={**os.environ, **settings})
    expect(ran.returncode == 0, ran.stderr)
    expect(r"\ufffd &lt;\xe4&gt;/" in ran.stdout, f"the page is:\n{ran.stdout}")


def workers():
    """Forked workers of a process that has a device, which have none, and those who come after them."""
    product()
    tileblas.attach()
    product()
    with multiprocessing.get_context("fork").Pool(3) as pool:
        shapes = pool.map(in_worker, range(12))
    expect(shapes == [(150, 130)] * 12, f"workers answered {shapes}")
    product()
    expect_products(tileblas.stats(), {"dgemm": 2})


def in_worker(seed):
    shape = product(seed).shape
    calls = tileblas.stats()
    expect(calls.routes["host"]["calls"] > 0, "a worker's product was not taken over")
    if ROUTE == "streamed":
        expect("forked" in calls.device and calls.device in tileblas.last_plan(), f"a worker's device is {calls.device}")
    return shape


def early_workers():
    """Forked workers of a process that has started no device: each starts its own."""
    import numpy

    tileblas.attach()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        routes = pool.map(route_in_worker, range(4))
    expect(routes == ["streamed"] * 4, f"workers' products went: {routes}")
    product()
    expect_products(tileblas.stats(), {"dgemm": 1})


def route_in_worker(seed):
    product(seed)
    return tileblas.last_plan().split()[0]


def threads():
    """Threads that multiply while another one attaches and detaches."""
    product()
    finished = threading.Event()

    def multiply(seed):
        while not finished.is_set():
            product(seed)

    with ThreadPoolExecutor(3) as pool:
        at_work = [pool.submit(multiply, seed) for seed in range(3)]
        for _ in range(50):
            tileblas.attach()
            tileblas.detach()
        finished.set()
        for one in at_work:
            one.result()
    tileblas.reset()
    product()
    expect_products(tileblas.stats(), {})


def missing():
    """A library that is not there, where others are."""
    from tileblas import _library

    _library.NAMES = (os.environ["TILEBLAS_LIBRARY"],)
    os.environ["TILEBLAS_LIBRARY"] = "/nonexistent/libtileblas.so"
    try:
        tileblas.attach()
    except tileblas.Error as error:
        expect("/nonexistent/libtileblas.so" in str(error), f"the complaint is: {error}")
    else:
        sys.exit("a library that is not there was attached")


def preloaded():
    """With another TileBLAS preloaded that one is attached, and asked."""
    product()
    os.environ["TILEBLAS_LIBRARY"] = os.environ["OTHER_LIBRARY"]
    tileblas.attach()
    product()
    expect_products(tileblas.stats(), {"dgemm": 2})
    maps = Path("/proc/self/maps").read_text()
    expect(os.environ["OTHER_LIBRARY"] not in maps, "a second TileBLAS was opened")


def options():
    """Options are set by name, and refused."""
    tileblas.attach()
    tileblas.set_option("ROUTE", "host")
    product()
    expect(tileblas.stats().routes["host"]["calls"] == 1, f"the option did nothing:\n{tileblas.stats()}")
    tileblas.set_option("CALIBRATE", False)
    refused = {("ROUTE", "nowhere"): "ROUTE cannot be 'nowhere': it is one of auto, host, resident, streamed",
               ("DEVICES", 99): "DEVICES cannot be 99: it is a whole number from 0 to 8",
               ("ROUTINES", "nothing"): "ROUTINES cannot be 'nothing': it is all, or names and types such as sgemm,d",
               ("ROUTE", "host\0"): "ROUTE cannot be 'host\\x00': it is one of auto, ",
               ("NOTHING", "1"): "there is no option NOTHING; options are ROUTE, KERNEL, PRECISION, "}
    for (name, value), complaint in refused.items():
        try:
            tileblas.set_option(name, value)
        except ValueError as error:
            expect(str(error).startswith(complaint), f"the complaint is: {error}")
        else:
            sys.exit(f"the option {name} was set to {value}")


def explanation():
    """What the command explains."""
    answer = tileblas.explain(4096, 4096, 4096, routine="dgemm", assume="h200")
    expect("dgemm 4096 x 4096 x 4096" in repr(answer) and answer.route in repr(answer), repr(answer))
    expect(answer.seconds[answer.route] > 0 and answer.route in answer._repr_html_(), f"seconds: {answer.seconds}")
    none = tileblas.explain(100, 200, routine="strsm", assume="none")
    expect(none.route == "host" and none.kernel is None, repr(none))
    for options, routine in (({}, "dgemm"), ({"dtype": "float32"}, "sgemm"), ({"dtype": complex}, "zgemm"),
                             ({"routine": "cgemm"}, "cgemm"), ({"routine": "gemm", "dtype": "complex64"}, "cgemm")):
        asked = tileblas.explain(512, 512, 512, **options)
        expect(repr(asked).startswith(f"{routine} 512 x 512 x 512: "), f"{options}: {asked!r}")
    tileblas.set_option("ROUTE", "host")
    expect(tileblas.explain(4096, 4096, 4096, assume="h200").reason == "forced", "an option of this process is not heeded")
    matrix = other_matrix(30, 40, "float32")
    refused = {"abacus": lambda: tileblas.explain(1, 2, 3, assume="abacus"),
               "three sizes of dgemm": lambda: tileblas.explain(1, 2),
               "sizes are whole numbers": lambda: tileblas.explain(-1, 2, 3),
               "float16": lambda: tileblas.explain(1, 2, 3, dtype="float16"),
               "sgemm is no routine of float64": lambda: tileblas.explain(1, 2, 3, routine="sgemm", dtype="float64"),
               "or two arrays": lambda: tileblas.explain(matrix),
               "two arrays say all of": lambda: tileblas.explain(matrix, matrix, dtype="float32"),
               "(30, 40) @ (30, 40): 40 columns do not go with 30 rows": lambda: tileblas.explain(matrix, matrix),
               "a vector": lambda: tileblas.explain(matrix, SimpleNamespace(shape=(40,), dtype="float32")),
               "a stack": lambda: tileblas.explain(matrix, SimpleNamespace(shape=(2, 40, 3), dtype="float32")),
               "int64 is taken over": lambda: tileblas.explain(matrix, other_matrix(40, 5, "int64"))}
    for complaint, question in refused.items():
        try:
            question()
        except (TypeError, ValueError) as error:
            expect(complaint in str(error), f"the complaint is: {error}")
        else:
            sys.exit(f"explained, and not refused: {complaint}")


def other_matrix(rows, columns, dtype):
    """Of some library that is not NumPy."""
    return SimpleNamespace(shape=(rows, columns), dtype=dtype)


def arrays():
    """What is explained of two arrays is the call that NumPy makes of them."""
    import numpy as np

    a, b = np.ones((200, 96)), np.ones((96, 150))
    windows = np.lib.stride_tricks.sliding_window_view(np.ones(500), 10)[::2][:200]  # whose rows overlap
    pairs = [(a, b), (a, b.T.copy().T), (a.T.copy().T, b), (np.asfortranarray(a), np.asfortranarray(b)), (a, a.T), (a.T, a),
             (a[:, :90], b[:90]), (a[50:], b), (a.astype(np.float32), b.astype(np.float32)), (a.astype(np.float32), b),
             (a.astype(np.complex64), b.astype(np.complex64)), (a, b.astype(complex)), (a, a.view(np.complex64).T),
             (np.asfortranarray(a.astype(np.float32)), b), (windows, b[:10])]
    tileblas.attach()
    tileblas.set_option("VERBOSE", True)
    for left, right in pairs:
        with tempfile.TemporaryFile("w+") as said, redirected(sys.stderr, said):
            left @ right
            said.seek(0)
            line = said.read()
        call = re.search(r"(\w+) \w+ (m=\d+ n=\d+ k=\d+ lda=\d+)", line)
        problem = tileblas.explain(left, right).answer["problem"]
        found = f"{problem['routine']} m={problem['m']} n={problem['n']} k={problem['k']} lda={problem['lda']}"
        expect(call and found == f"{call[1]} {call[2]}", f"explained is {found}, and called: {line}")
        transposes = re.search(r"\w+ \w*([NTC])([NTC]) m=", line)
        if "gemm" in problem["routine"]:
            expect((problem["transa"], problem["transb"]) == transposes.groups(), f"explained is {problem}, and called: {line}")


@contextmanager
def redirected(stream, file):
    """What C writes there, too."""
    kept = os.dup(stream.fileno())
    os.dup2(file.fileno(), stream.fileno())
    try:
        yield
    finally:
        os.dup2(kept, stream.fileno())
        os.close(kept)


def header():
    """The module's structures are those of tileblas.h."""
    from tileblas import _library

    counts = _library.Counts()
    size = _library.library().tileblas_read_statistics(ctypes.byref(counts), ctypes.sizeof(counts))
    expect(size == ctypes.sizeof(counts), f"the library's statistics have {size} bytes, the module's {ctypes.sizeof(counts)}")
    text = (PROJECT / "include/tileblas.h").read_text()
    for name, array in (("SHAPE_COUNT", counts.shapes), ("REASON_MAXIMUM", counts.host_reasons), ("ROUTINE_MAXIMUM", counts.routines)):
        number = int(re.search(rf"#define TILEBLAS_{name} (\d+)", text)[1])
        expect(number == len(array), f"{name} is {number}, the module's {len(array)}")
    version = re.findall(r"#define TILEBLAS_VERSION_[A-Z]+ (\d+)", text)
    expect(tileblas.version() == ".".join(version), f"version {tileblas.version()}")


SCRIPT = """
import sys
import numpy as np
a = np.ones((150, 150))
assert np.all(a @ a == 150) and __name__ == "__main__"
print(sys.argv[1:], __file__)
sys.exit(int(sys.argv[1]))
"""


# Products that come when the script has ended; with -P its folder is not searched, and all of Python's are.
SCRIPT_WITH_THREAD = """
import os
import sys
import threading
import numpy as np

if getattr(sys.flags, "safe_path", False):
    assert os.path.dirname(__file__) not in sys.path and sys.path[0] == os.environ["PYTHONPATH"].split(":")[0], sys.path

def multiply():
    main.join()
    a = np.ones((150, 150))
    assert np.all(a @ a == 150)

main = threading.main_thread()
threading.Thread(target=multiply).start()
"""


def script():
    """python -m tileblas run: as Python runs it, with a table at the end."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "multiply.py"
        path.write_text(SCRIPT)
        inside = Path(folder) / "inside"
        inside.mkdir()
        (inside / "__main__.py").write_text(f"import sys\nassert sys.path[:2] != [{str(inside)!r}, {folder!r}]\n" + SCRIPT)
        for words in ([str(path)], ["-m", "multiply"], [str(inside)]):
            ran = subprocess.run([sys.executable, "-B", "-m", "tileblas", "run", *words, "3", "b c"], capture_output=True,
                                 text=True, check=False, cwd=folder)
            expect(ran.returncode == 3, f"status {ran.returncode}:\n{ran.stderr}")
            expect(ran.stdout.split("\n")[0] == f"['3', 'b c'] {inside / '__main__.py' if words[0] == str(inside) else path}", f"the script said: {ran.stdout}")
            expect(re.search(rf"^d(gemm|syrk) +{ROUTE} +1 ", ran.stderr, re.MULTILINE), f"no table:\n{ran.stderr}")
        path.write_text(SCRIPT_WITH_THREAD)
        safe = ["-P"] if hasattr(sys.flags, "safe_path") else []
        late = subprocess.run([sys.executable, "-B", *safe, "-m", "tileblas", "run", str(path)], capture_output=True,
                              text=True, check=False)
        expect(late.returncode == 0, late.stderr)
        expect(re.search(rf"^d(gemm|syrk) +{ROUTE} +1 ", late.stderr, re.MULTILINE), f"no table:\n{late.stderr}")
        path.write_text(SCRIPT)
        quiet = subprocess.run([sys.executable, "-B", "-m", "tileblas", "run", "--quiet", str(path), "0"],
                               capture_output=True, text=True, check=False)
        expect(quiet.returncode == 0 and quiet.stderr == "", f"status {quiet.returncode}, and said: {quiet.stderr}")


if __name__ == "__main__":
    globals()[sys.argv[1]]()
