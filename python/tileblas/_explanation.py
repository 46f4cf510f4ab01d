"""How a product would be computed, and why: `tileblas explain`, as an object that a notebook shows."""

import json

from tileblas import _command, _table


def explain(m, n=None, k=None, *, routine="sgemm", **options):
    """How C (m x n) = A (m x k) B (k x n) would be computed on this machine, and why. Nothing is computed.

    Extents are those that the routine has: SYRK is given n and k, TRSM m and n. Options are those of the command,
    without their dashes: pointers="device", transa="T", cores=64, assume="h200" for another GPU than this
    machine's.
    """
    extents = [str(extent) for extent in (m, n, k) if extent is not None]
    words = [f"--{name}={value}" for name, value in options.items()]
    return Explanation(json.loads(_command.ask("explain", *extents, f"--routine={routine}", "--json", *words)))


class Explanation:
    """What `explain` answers: `route`, `reason` and `kernel` of the choice, and `seconds` by route, as forecast."""

    def __init__(self, answer):
        self.answer = answer
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
            rows.append((route["route"], forecast, chosen or route.get("remark", "")))
        title = f"{problem['routine']} {extents}: {self.answer['choice']['text']}"
        return title, ("route", "forecast", ""), rows

    def __repr__(self):
        return _table.as_text(*self._table())

    def _repr_html_(self):
        return _table.as_html(*self._table())
