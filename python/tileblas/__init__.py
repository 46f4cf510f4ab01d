"""Matrix products of this process on NVIDIA GPUs, where that is faster.

    import tileblas
    tileblas.attach()
    ...                       # NumPy, SciPy and others call the library from now on
    tileblas.stats()          # where products went
    tileblas.report()         # and when, as a page
    tileblas.detach()

Nothing has to be set before Python starts. What modules called before, NumPy's own OpenBLAS for one, computes all
that is not worth sending to a GPU.
"""

from contextlib import contextmanager

from tileblas import _hook, _report
from tileblas._bound import Bound
from tileblas._explanation import Explanation, explain
from tileblas._library import Error, library
from tileblas._options import set_option
from tileblas._report import Report, report
from tileblas._statistics import Statistics, last_plan, reset, stats

__all__ = ["Bound", "Error", "Explanation", "Report", "Statistics", "attach", "attached", "detach", "explain", "last_plan",
           "report", "reset", "set_option", "stats", "version"]


def attach():
    """Binds the matrix products of all loaded modules to TileBLAS, and returns how many references that are: a number that
    shows itself as "bound 14 references of 3 objects".

    Extension modules that are imported later are bound as they come. A library that is opened otherwise, by ctypes
    for one, is found by the next product, or by another call. A process that preloads TileBLAS, or is linked with it, keeps to that one.
    """
    bound = Bound(_count(_hook.attach()), library().tileblas_attached_objects())
    _report.begin()
    return bound


def detach():
    """Binds them back to what they led to before, and returns how many references that are."""
    return _count(_hook.detach())


@contextmanager
def attached():
    """Attaches for a block. What it is given has the calls of the block alone:

        with tileblas.attached() as calls:
            a @ b
        calls

    Blocks of several threads may overlap: the last one detaches, unless `attach` was called besides.
    """
    _count(_hook.attach(for_block=True))
    try:
        _report.begin()
        calls = stats()
        calls.begin()
        try:
            yield calls
        finally:
            calls.end()
    finally:
        _hook.end_block()


def version():
    """The version of the library that is in use: "0.1.0"."""
    return library().tileblas_version().decode()


def _count(count):
    if count < 0:
        raise Error("the process cannot be looked at: it is out of memory, or was forked while the dynamic linker was busy")
    return count
