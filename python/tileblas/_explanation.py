"""How a product would be computed, and why: `tileblas explain`, as an object that a notebook shows."""

import json

from tileblas import _command, _options, _product, _table


def explain(m, n=None, k=None, *, routine=None, dtype=None, **options):
    """How a product would be computed on this machine, and why. Nothing is computed.

        explain(a, b)                                   a @ b as NumPy calls BLAS: types, layouts and transposes are the arrays'
        explain(4096, 4096, 4096, dtype="float32")      C (m x n) = A (m x k) B (k x n), of float64 unless dtype is given

    Extents are those that the routine has: of routine="syrk" n and k, of "trsm" m and n. A routine's name may have its letter,
    as "ssyrk". Options are those of the command `tileblas explain`, without their dashes: pointers="device", transa="T",
    cores=64, assume="h200" for another GPU than this machine's.
    """
    title = None
    if hasattr(m, "shape") and hasattr(n, "shape"):
        if k is not None or routine or dtype is not None:
            raise TypeError("two arrays say all of k, routine and dtype")
        words, title = _product.words_for_arrays(m, n), _product.describe(m, n)
    else:
        words = _product.words_for_extents((m, n, k), routine, dtype)
    words += [f"--{name}={value}" for name, value in options.items()]
    return Explanation(json.loads(_command.ask("explain", "--json", *words, settings=_options.in_environment())), title)


class Explanation:
    """What `explain` answers: `route`, `reason` and `kernel` of the choice, and `seconds` by route, as forecast."""

    def __init__(self, answer, title=None):
        self.answer = answer
        self._title = title  # what was asked, where the answer's extents are the call's
        self.route = answer["choice"]["route"]
        self.reason = answer["choice"]["reason"]
        self.kernel = answer["choice"]["kernel"]
        self.seconds = {route["route"]: route["seconds"] for route in answer["routes"] if route.get("possible")}

    def _table(self):
        problem = self.answer["problem"]
        extents = " x ".join(str(problem[name]) for name in ("m", "n", "k") if name in problem)
        rows = []
        for route in self.answer["routes"]:
            forecast = f"{1e3 * route['seconds']:.3g} ms" if route.get("possible") else ""
            chosen = "chosen" if route["route"] == self.route else ""
            rows.append((route["route"], forecast, chosen or self._remark(route)))
        asked = self._title or extents
        title = f"{problem['routine']} {asked}: {self.answer['choice']['text']}"
        no_device = self.answer["machine"]["no_device"]
        return title, ("route", "forecast", ""), rows, [f"GPU {no_device}"] if no_device else []

    def _remark(self, route):
        """Why a route is not possible. For want of a device: that is said once, below."""
        remark = route.get("remark", "")
        return "no usable device" if remark == self.answer["machine"]["no_device"] else remark

    def __repr__(self):
        return _table.as_text(*self._table())

    def _repr_html_(self):
        return _table.as_html(*self._table())
