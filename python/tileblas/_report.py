"""The page that `tileblas run --report` writes, of this process as it is: in a notebook it shows itself."""

import os
import tempfile
from html import escape
from pathlib import Path

from tileblas import _command
from tileblas._library import Error, library
from tileblas._statistics import stats


def begin():
    """Starts to record when products run."""
    library().tileblas_report(None)


def report():
    """Where products went over time, by routine, by shape and why, until now."""
    return Report()


class Report:
    """`html` is a page by itself, `save(path)` keeps it, and a notebook shows it."""

    def __init__(self):
        self._stats = stats()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report")
            if library().tileblas_report(os.fsencode(path)) != 0:
                raise Error(f"{path} cannot be written")
            self.html = _command.ask("show", path)

    def save(self, path):
        Path(path).write_text(self.html, encoding="utf-8")

    def __repr__(self):
        return repr(self._stats)

    def _repr_html_(self):
        # A frame of its own: the page's style is not the notebook's.
        return ('<iframe title="TileBLAS: where products went" sandbox style="width:100%;height:50rem;border:0" '
                f'srcdoc="{escape(self.html)}"></iframe>')
