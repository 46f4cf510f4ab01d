"""np.errstate sees what a product raises: an overflow, an invalid operation, and nothing where a result is what its operands make it.

usage: numpy_errors.py pip|debian

NumPy reads the thread's floating-point status behind each product. Underflow is not told by a device.
"""

import sys

from checks import np, require_numpy_from

HUGE = {"f": 1e30, "d": 1e200, "F": 1e30, "D": 1e200}
wrong = []


def with_number(matrix, place, number):
    changed = matrix.copy()
    changed[place] = number
    return changed


def raised_by(a, b):
    raised = set()
    with np.errstate(over="call", invalid="call", divide="call", call=lambda error, flags: raised.add(error)):
        a @ b
    return raised


def judge(element, what, a, b, expected):
    raised = raised_by(a, b)
    if raised != expected:
        wrong.append(f"{element}, {what}: raised are {sorted(raised)}, not {sorted(expected)}")


for element, huge in HUGE.items():
    ones = np.ones((200, 200), element)
    large = ones * ones.dtype.type(huge)
    infinite = with_number(ones, (3, 4), np.inf)
    judge(element, "ordinary numbers", ones, ones, set())
    judge(element, "a NaN", with_number(ones, (3, 4), np.nan), ones, set())
    judge(element, "an overflow", large, large.copy(), {"overflow"})
    if ones.dtype.kind == "f":  # of complex numbers an infinity meets zeros
        judge(element, "an overflow of a matrix by its transpose", large, large.T, {"overflow"})
        judge(element, "an infinity", infinite, ones, set())
        judge(element, "an infinity times zero", infinite, with_number(ones, 4, 0), {"invalid value"})

sys.exit("\n".join(wrong) or 0)
