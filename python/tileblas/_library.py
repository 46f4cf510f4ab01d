"""The shared library: where it is, and its functions as Python calls them. include/tileblas.h says what they do."""

import ctypes
import functools
import os
import sys
from pathlib import Path

# The package's folders: more than one where it is installed to be edited, of which one has what is compiled.
FOLDERS = [Path(folder) for folder in sys.modules[__package__].__path__]
# The last of them where the linker's complaint names a file whose name is no UTF-8.
LINKER_ERRORS = (OSError, AttributeError, UnicodeDecodeError)
NAMES = ("libtileblas-preload.so", "libtileblas.so.0")


class Error(RuntimeError):
    """The library was not found, or cannot do what it is asked."""


class Route(ctypes.Structure):
    _fields_ = [("calls", ctypes.c_ulonglong), ("flop", ctypes.c_double), ("seconds", ctypes.c_double),
                ("link_bytes", ctypes.c_double), ("won_seconds", ctypes.c_double)]


class Shape(ctypes.Structure):
    _fields_ = [("shape", ctypes.c_char_p), ("host", Route), ("resident", Route), ("streamed", Route)]


class Reason(ctypes.Structure):
    _fields_ = [("reason", ctypes.c_char_p), ("calls", ctypes.c_ulonglong)]


class Routine(ctypes.Structure):
    _fields_ = [("routine", ctypes.c_char_p), ("host", Route), ("resident", Route), ("streamed", Route)]


ROUTINES = 128  # TILEBLAS_ROUTINE_MAXIMUM


class Counts(ctypes.Structure):
    """tileblas_statistics."""

    _fields_ = [("host", Route), ("resident", Route), ("streamed", Route), ("shapes", Shape * 5),
                ("host_reasons", Reason * 16), ("routines", Routine * ROUTINES), ("served", Route)]


@functools.lru_cache(maxsize=None)
def library():
    """The TileBLAS of this process: the one that is preloaded or linked, or else the first of these that is there: the
    one that TILEBLAS_LIBRARY names, the one beside this module, the one that the dynamic linker finds."""
    found = _with_functions(ctypes.CDLL(None)) or _open_first(_candidates())
    path = ctypes.create_string_buffer(4096)
    found.tileblas_runtime(path, len(path))
    return _with_functions(ctypes.CDLL(os.fsdecode(path.value))) if path.value else found


def text_of(function):
    """What a function of the library writes."""
    text = ctypes.create_string_buffer(function(None, 0) + 256)  # it may have become longer meanwhile
    function(text, len(text))
    return text.value.decode(errors="replace")


def _candidates():
    chosen = os.environ.get("TILEBLAS_LIBRARY")
    if chosen:
        return [chosen]
    return [*(str(folder / "lib" / name) for folder in FOLDERS for name in NAMES), *NAMES]


def _open_first(paths):
    complaints = []
    for path in paths:
        try:
            opened = _with_functions(ctypes.CDLL(path))
        except LINKER_ERRORS as error:
            complaints.append(str(error))
            continue
        if opened:
            return opened
        complaints.append(f"{path}: this TileBLAS cannot attach")
    raise Error("no TileBLAS was found; TILEBLAS_LIBRARY may name one:\n  " + "\n  ".join(complaints))


def _with_functions(opened):
    """The library with its functions declared; None where it has them not."""
    text = [ctypes.c_char_p, ctypes.c_size_t]
    functions = {
        "tileblas_attach": (ctypes.c_int, []),
        "tileblas_attached_objects": (ctypes.c_int, []),
        "tileblas_detach": (ctypes.c_int, []),
        "tileblas_device": (ctypes.c_size_t, text),
        "tileblas_last_plan": (ctypes.c_size_t, text),
        "tileblas_read_statistics": (ctypes.c_size_t, [ctypes.POINTER(Counts), ctypes.c_size_t]),
        "tileblas_options": (ctypes.c_size_t, text),
        "tileblas_report": (ctypes.c_int, [ctypes.c_char_p]),
        "tileblas_reset_statistics": (None, []),
        "tileblas_runtime": (ctypes.c_size_t, text),
        "tileblas_set_option": (ctypes.c_int, [ctypes.c_char_p, ctypes.c_char_p]),
        "tileblas_version": (ctypes.c_char_p, []),
    }
    for name, (result, arguments) in functions.items():
        try:
            function = getattr(opened, name)
        except LINKER_ERRORS:
            return None
        function.restype, function.argtypes = result, arguments
    return opened
