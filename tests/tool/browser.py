"""The page of `tileblas run --report` in a browser without a window."""

import os
import shutil
import struct
import subprocess
import sys
import tempfile
import urllib.parse

from tool import call, contains, equal, main

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
if not BROWSER:
    print("skipped: there is no Chromium")
    sys.exit(77)


def _browse(path, *options):
    """What the browser prints, its window being 900 x 1200."""
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                               "--window-size=900,1200", f"--user-data-dir={folder}", *options,
                               "file://" + urllib.parse.quote(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              universal_newlines=True, timeout=60, check=True).stdout


def the_page_is_shown():
    with tempfile.TemporaryDirectory() as folder:
        path, picture = os.path.join(folder, "page.html"), os.path.join(folder, "page.png")
        call("TOOL", "run", "--report", path, "--preload", "PRELOAD_SIM", "CLIENT", "calls", "4",
             environment={"TILEBLAS_ROUTE": "streamed", "TILEBLAS_START": "wait"})
        with open(path, encoding="utf-8") as file:
            written = file.read()
        dom = _browse(path, "--dump-dom")
        equal(dom.count("<rect"), written.count("<rect"))
        contains(dom, "<td>streamed</td><td>4</td>", "load of the link, over time", "seconds in products")
        _browse(path, f"--screenshot={picture}")
        with open(picture, "rb") as file:
            equal(struct.unpack(">II", file.read(24)[16:]), (900, 1200))


if __name__ == "__main__":
    main(globals())
