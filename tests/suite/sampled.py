"""A plugin for pytest: of the tests that it collected, every n-th runs, n being SUITE_STRIDE (python_packages.py)."""

import os


def pytest_collection_modifyitems(items):
    items[:] = items[:: int(os.environ["SUITE_STRIDE"])]
