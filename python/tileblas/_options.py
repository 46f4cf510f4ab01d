"""Options, set by name, and what each of them accepts."""

import re

from tileblas._library import Error, library, text_of


def set_option(name, value):
    """Sets an option by its environment name without TILEBLAS_: set_option("ROUTE", "host"). Where there is no such option, or
    it cannot have that value, the ValueError says which there are."""
    text = str(int(value)) if isinstance(value, bool) else str(value)
    has_end = "\0" in f"{name}{text}"  # of a C string
    if has_end or library().tileblas_set_option(str(name).encode(), text.encode()) != 0:
        raise ValueError(_complaint(str(name), value))


def in_environment():
    """Options as they are in this process, for one that it starts; those of the environment where there is no library to ask."""
    try:
        return {f"TILEBLAS_{name}": value for name, value, _ in _rows() if value}
    except Error:
        return {}


def _rows():
    return [line.split("\t") for line in text_of(library().tileblas_options).splitlines()]


def _complaint(name, value):
    accepted = {own: accepts for own, _, accepts in _rows()}
    if name not in accepted:
        return f"there is no option {name}; options are {', '.join(accepted)}"
    return f"{name} cannot be {value!r}: it is {_in_words(accepted[name])}"


def _in_words(accepts):
    extremes = re.fullmatch(r"(\d+)\.\.(\d+)", accepts)
    if extremes:
        return f"a whole number from {extremes[1]} to {extremes[2]}"
    return f"one of {', '.join(accepts.split('|'))}" if "|" in accepts else accepts
