"""Where products went: the library's counts, in a table that a notebook shows."""

import ctypes

from tileblas import _table
from tileblas._library import Counts, library, text_of

ROUTES = ("host", "resident", "streamed")
# Reasons for which a product stayed on the host that say: for want of a device.
WITHOUT_DEVICE = {"no usable device", "the device is not up yet", "the device is lost to this process"}
MEMBERS = ("calls", "flop", "seconds", "link_bytes", "won_seconds")


def stats():
    """Where this process's products went since it started, was forked, or called `reset`."""
    return Statistics()


def reset():
    """Starts counting anew."""
    library().tileblas_reset_statistics()


def last_plan():
    """Why this thread's last product ran where it did; an empty text before any."""
    return text_of(library().tileblas_last_plan)


class Statistics:
    """Calls, by route, by routine, by shape and by the reason for which they stayed on the host.

    `routes["streamed"]` is a dictionary of calls, flop, seconds, link_bytes and won_seconds; `routines["dgemm"]["host"]`
    and `shapes["large"]["host"]` are others; `reasons` has numbers of calls. Calls too small to gain are not counted: they
    take a shorter way. `served` is like a route: those of the streamed calls that the GPUs of `tileblas serve` computed. `device` says whether there is a GPU, or why not.
    """

    def __init__(self):
        self._before = {}
        self._take(_read())

    def begin(self):
        """Forgets what has been counted so far."""
        self._before = _read()
        self._take({})

    def end(self):
        """Takes what has been counted since."""
        now = _read()
        self._take({key: value - self._before.get(key, 0) for key, value in now.items()})

    def _take(self, counts):
        self.routes = {route: {member: 0 for member in MEMBERS} for route in ROUTES}
        self.served = {member: 0 for member in MEMBERS}
        self.routines, self.shapes, self.reasons = {}, {}, {}
        self.device = text_of(library().tileblas_device)
        groups = {"served": self.served, "routes": self.routes, "routines": self.routines, "shapes": self.shapes}
        for (group, *path, member), value in counts.items():
            if not value:
                continue
            if group == "reasons":
                self.reasons[member] = value
                continue
            place = groups[group]
            for name in path:
                place = place.setdefault(name, {})
            place[member] = value
        for group in (self.routines, self.shapes):
            for routes in group.values():
                for tally in routes.values():
                    for member in MEMBERS:
                        tally.setdefault(member, 0)

    @property
    def calls(self):
        """All of them, on every route."""
        return sum(tally["calls"] for tally in self.routes.values())

    @property
    def device_calls(self):
        """Those that a GPU has served."""
        return self.calls - self.routes["host"]["calls"]

    def _table(self):
        columns = ("routine", "route", "calls", "GFLOP", "seconds", "GFLOP/s", "MB over the link", "seconds won")
        rows = [_row(routine, route, tally)
                for routine, routes in self.routines.items() for route, tally in routes.items()]
        title = f"TileBLAS: {self.calls} products, {self.device_calls} of them on a GPU"
        if self.served["calls"]:
            title += f", {self.served['calls']} of these by tileblas serve"
        stayed = ", ".join(f"{reason} {calls}" for reason, calls in self.reasons.items())
        remarks = [f"stayed on the host: {stayed}"] if stayed else []
        if WITHOUT_DEVICE & self.reasons.keys():
            remarks.append(f"GPU {self.device}")
        return title, columns, rows, remarks

    def __repr__(self):
        return _table.as_text(*self._table())

    def _repr_html_(self):
        return _table.as_html(*self._table())


def _row(routine, route, tally):
    gflop, seconds = 1e-9 * tally["flop"], tally["seconds"]
    speed = f"{gflop / seconds:.1f}" if seconds > 0 else ""
    link = f"{1e-6 * tally['link_bytes']:.1f}" if tally["link_bytes"] else ""
    won = f"{tally['won_seconds']:.3f}" if tally["won_seconds"] else ""
    return (routine, route, str(tally["calls"]), f"{gflop:.3f}", f"{seconds:.3f}", speed, link, won)


def _read():
    """All counts, by a path of names: ("routines", "dgemm", "host", "calls")."""
    counts = Counts()
    library().tileblas_read_statistics(ctypes.byref(counts), ctypes.sizeof(counts))
    found = {}

    def note(path, routes):
        for route in ROUTES:
            for member in MEMBERS:
                found[(*path, route, member)] = getattr(getattr(routes, route), member)

    note(("routes",), counts)
    for member in MEMBERS:
        found["served", member] = getattr(counts.served, member)
    for shape in counts.shapes:
        note(("shapes", shape.shape.decode()), shape)
    for routine in counts.routines:
        if routine.routine:
            note(("routines", routine.routine.decode()), routine)
    for reason in counts.host_reasons:
        if reason.reason:
            found["reasons", reason.reason.decode()] = reason.calls
    return found
