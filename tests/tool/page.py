"""`tileblas run --report` writes a page that says where products went, and needs nothing but a browser."""

import html.parser
import json
import os
import re
import tempfile

from tool import PATHS, SIZE, call, contains, equal, main

ON_DEVICE = {"TILEBLAS_ROUTE": "streamed", "TILEBLAS_START": "wait"}
EMPTY = ("meta", "line", "rect")  # elements that have no end


class _Page(html.parser.HTMLParser):
    """A page that is well formed, or an error; its text, its tables, and how many of which elements."""

    def __init__(self, text):
        super().__init__()
        self.open, self.counts, self.tables, self.text, self.references = [], {}, [], "", []
        self.bars = {}
        self.feed(text)
        equal(self.open, [], "elements without an end:")

    def handle_starttag(self, tag, attributes):
        self.counts[tag] = self.counts.get(tag, 0) + 1
        attributes = dict(attributes)
        self.references += [value for name, value in attributes.items() if name in ("src", "href")]
        if tag == "rect":
            self.bars.setdefault(attributes["class"], []).append(float(attributes["height"]))
        if tag not in EMPTY or (tag == "rect" and self.get_starttag_text()[-2] != "/"):
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)

    def handle_endtag(self, tag):
        equal(self.open.pop(), tag, "what ends is")

    def handle_data(self, data):
        self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.tables[-1][-1][-1] += data


def _page_of(*command, **settings):
    """The page of a program, and the process."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.html")
        done = call("TOOL", "run", "--report", path, *command, **settings)
        with open(path, encoding="utf-8") as file:
            return _Page(file.read()), done


def _figure(page, name):
    return float(re.search(rf"([\d.]+){name}\n", page.text)[1])


def products_are_told_by_routine_shape_and_reason():
    page, done = _page_of("CLIENT", "calls", "5")
    equal(done.returncode, 0)
    contains(done.stderr, "host 5 calls")
    routine, shape, reasons = page.tables
    equal(routine[1][:3], ["sgemm", "host", "5"])
    equal(shape[1][:3], ["medium", "host", "5"])
    equal(float(routine[1][3]), round(5e-9 * 2.0 * SIZE**3, 3))
    equal(sum(int(row[2]) for row in reasons[1:]), 5)
    equal((_figure(page, "products"), _figure(page, "on a GPU")), (5, 0))


def the_device_and_the_link_are_drawn():
    page, _ = _page_of("--preload", "PRELOAD_SIM", "CLIENT", "calls", "6", environment=ON_DEVICE)
    equal(page.counts["svg"], 2)
    equal((_figure(page, "products"), _figure(page, "on a GPU")), (6, 6))
    equal(set(page.bars), {"streamed", "link"})
    assert max(page.bars["link"]) > 79, "the highest bar is as high as the drawing"
    assert 0 < max(page.bars["streamed"]) <= 200.01, page.bars
    assert float(page.tables[0][1][6]) > 0, page.tables[0]


def processes_are_added_up():
    page, _ = _page_of("CLIENT", "calls", "7", "children", "5", "calls", "2")
    equal(_figure(page, "products"), 7 + 3 * 5 + 2)
    contains(page.text, "4 processes")
    equal(set(page.bars), {"host"})


def time_is_spread_over_the_columns_that_it_was_spent_in():
    for work in (("threads", "40"), ("calls", "30", "children", "30", "calls", "10")):
        page, _ = _page_of("CLIENT", *work)
        # As much is drawn as was counted: threads times seconds, of 240 columns.
        spanned = float(re.findall(r"([\d.e+-]+) s\n", page.text)[1])
        largest = float(re.search(r"\n([\d.]+) \n0\n", page.text)[1])
        drawn = sum(page.bars["host"]) / 200 * largest * spanned / 240
        counted = float(page.tables[0][1][4])
        assert abs(drawn - counted) <= 0.02 * counted + 0.002, (work, drawn, counted)


def nothing_is_told_too():
    page, _ = _page_of("CLIENT_NONE", "exit", "0")
    contains(page.text, "no matrix product arrived", "Remarks")
    equal(page.tables, [])


def odd_names_are_text():
    page, done = _page_of("CLIENT", "calls", "1", "exit", "3", '<script>alert("1")</script>', "a&b\x01")
    equal(done.returncode, 3)
    contains(page.text, '<script>alert("1")</script>', "a&b ")
    assert "script" not in page.counts
    equal(page.references, [])


def a_page_that_cannot_be_written_is_said():
    done = call("TOOL", "run", "--report", "/nonexistent/page.html", "CLIENT", "calls", "1", "exit", "4")
    equal(done.returncode, 4)
    contains(done.stderr, "host 1 calls", "tileblas run: /nonexistent/page.html: ")


def numbers_have_points_in_every_locale():
    page, _ = _page_of("CLIENT", "calls", "2", environment={"LC_ALL": "de_DE.UTF-8"})
    contains(page.tables[0][1][3], ".")


def _show(lines, *options):
    """The page of `tileblas show`, and the process."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "statistics")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        done = call("TOOL", "show", path, *options)
    return _Page(done.stdout) if done.stdout else None, done


def _event(event, pid, calls=0):
    tally = {"calls": calls, "flop": 1e9 * calls, "seconds": 1e-3 * calls, "link_bytes": 0, "won_seconds": 0}
    timeline = {"began_ms": 1000, "spanned": 2, "width": 0.5, "columns": [[1, 0.001 * calls, 0, 0, 0]] if calls else []}
    return {"tileblas": "0.1.0", "event": event, "pid": pid, "program": "/bin/<program>", "calls": calls,
            "routes": {"host": {**tally, "shapes": {"medium": tally}}}, "routines": {"dgemm": {"host": tally}},
            "host_reasons": {"forced": calls}, "timeline": timeline}


def programs_started_otherwise_are_shown():
    with tempfile.TemporaryDirectory() as folder:
        path, page = os.path.join(folder, "statistics"), os.path.join(folder, "page.html")
        written = {"TILEBLAS_STATS": "json", "TILEBLAS_STATS_FILE": path}
        call("CLIENT", "calls", "7", "children", "5", "calls", "2",
             environment={"LD_PRELOAD": PATHS["PRELOAD"], **written})
        done = call("TOOL", "show", path, "--output", page)
        equal((done.returncode, done.stdout, done.stderr), (0, "", ""))
        with open(page, encoding="utf-8") as file:
            shown = _Page(file.read())
    equal(_figure(shown, "products"), 7 + 3 * 5 + 2)
    contains(shown.text, "4 processes", os.path.realpath(PATHS["CLIENT"]))


def the_last_report_of_a_process_counts():
    page, _ = _show([_event("load", 7), _event("now", 7, 3), _event("now", 8, 20), _event("now", 7, 5)])
    equal(_figure(page, "products"), 25)
    contains(page.text, "2 processes", "/bin/<program>")
    equal(page.tables[0][1][:3], ["dgemm", "host", "25"])
    drawn = sum(page.bars["host"]) / 200 * 2 / 240  # one thread at the top, of 2 s in 240 columns
    assert abs(drawn - 0.025) < 1e-3, drawn
    page, _ = _show([_event("load", 7), _event("now", 7, 3), _event("exit", 7, 6), _event("load", 9)])
    equal(_figure(page, "products"), 6)
    contains(page.text, "1 process.", "1 process has not reported any calls, or not yet")


def gaps_of_zeros_hide_nothing():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "statistics")
        lines = [json.dumps(_event("exit", pid, calls)).encode() + b"\n" for pid, calls in ((7, 1), (8, 20), (9, 300))]
        with open(path, "wb") as file:
            file.write(bytes(700) + lines[0] + bytes(1) + lines[1] + lines[2][:40] + bytes(4096) + lines[2])
        done = call("TOOL", "show", path)
    equal((done.returncode, done.stderr), (0, ""))
    equal(_figure(_Page(done.stdout), "products"), 321)


def numbers_of_strangers_are_no_columns():
    columns = [[column, *rest] for column in (-30, 1e9, 1e300, -1e300, 0.5) for rest in ((1, 1, 1, 1), (-1e308, 1e308, 1e308, 1e308))]
    for times in ({}, {"width": 1000}, {"width": -1e300}, {"width": 1e300, "spanned": 1e300}, {"began_ms": -1e308},
                  {"spanned": 1e-320}, {"spanned": -5}, {"width": 0}, {"began_ms": 1e308, "spanned": 1e308}):
        liar = _event("exit", 8, 3)
        liar["timeline"] = {"began_ms": 1000, "spanned": 2, "width": 0.5, **times, "columns": [*columns, 3, "", [[]]]}
        for events in ([liar], [_event("exit", 7, 5), liar]):
            page, done = _show(events)
            equal((done.returncode, done.stderr), (0, ""), times)
            assert all(0 <= height <= 200.01 for heights in page.bars.values() for height in heights), page.bars


def what_cannot_be_shown_is_said():
    _, done = _show([_event("load", 7)])
    equal((done.returncode, done.stdout), (1, ""))
    contains(done.stderr, "tileblas show: ", "no process has reported its calls there")
    done = call("TOOL", "show", "/nonexistent/file")
    equal((done.returncode, done.stdout), (1, ""))
    contains(done.stderr, "tileblas show: /nonexistent/file: ")
    for words in ((), ("one", "two"), ("--nonsense",)):
        equal(call("TOOL", "show", *words).returncode, 2)


main(globals())
