"""Extension modules that are imported while attached: each is bound when it has been loaded."""

import functools
from importlib.machinery import ExtensionFileLoader

from tileblas._library import library

_own_create = None


def install():
    """From now on modules are bound when they are imported."""
    global _own_create
    if is_installed():
        return
    _own_create = ExtensionFileLoader.create_module

    @functools.wraps(_own_create)
    def create_module(self, spec):
        module = _own_create(self, spec)
        if is_installed():
            library().tileblas_attach()
        return module

    ExtensionFileLoader.create_module = create_module


def remove():
    global _own_create
    if is_installed():
        ExtensionFileLoader.create_module = _own_create
        _own_create = None


def is_installed():
    return _own_create is not None
