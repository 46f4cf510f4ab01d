"""`tileblas run --report` writes a page that says where products went, and needs nothing but a browser."""

import html.parser
import os
import re
import shutil
import subprocess
import tempfile
import urllib.parse

from tool import SIZE, call, contains, equal, main

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


def a_browser_shows_it():
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not browser:
        print("no browser: not shown")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.html")
        call("TOOL", "run", "--report", path, "--preload", "PRELOAD_SIM", "CLIENT", "calls", "4", environment=ON_DEVICE)
        shown = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile",
                                "--dump-dom", "file://" + urllib.parse.quote(path)], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, universal_newlines=True, timeout=60, check=True).stdout
        with open(path, encoding="utf-8") as file:
            written = file.read()
        equal(shown.count("<rect"), written.count("<rect"))
        contains(shown, "<td>streamed</td><td>4</td>", "load of the link, over time")


main(globals())
