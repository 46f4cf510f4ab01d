"""What `attach` answers: a number that says what it counts."""

import os
import sys


class Bound(int):
    """How many references are bound, which is the number itself, and `objects`: how many modules and libraries hold them."""

    def __new__(cls, references, objects):
        bound = super().__new__(cls, references)
        bound.objects = objects
        return bound

    def __getnewargs__(self):
        return int(self), self.objects

    @property
    def references(self):
        return int(self)

    def __repr__(self):
        if self:
            return f"bound {_count(int(self), 'reference')} of {_count(self.objects, 'object')}"
        if "tileblas" in os.environ.get("LD_PRELOAD", ""):
            return "nothing besides what is preloaded"
        if "numpy" not in sys.modules:
            return "nothing yet: import numpy"
        return "nothing: no module that is loaded calls a BLAS that can be reached (docs/install.md says which can)"

    __str__ = int.__repr__


def _count(number, noun):
    return f"{number} {noun}{'' if number == 1 else 's'}"
