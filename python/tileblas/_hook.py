"""Whether this process is attached, and extension modules that are imported meanwhile: each is bound when it has been loaded."""

import functools
import os
import threading
from importlib.machinery import ExtensionFileLoader

from tileblas._library import library

# Who is importing does not bind what another thread detaches at that moment. A signal's handler may come in between.
_lock = threading.RLock()
_is_attached = False
_is_kept = False  # until somebody detaches, and not for blocks alone
_blocks = 0
_in_loader = None  # our function there


def attach(*, for_block=False):
    """What the library's function returns. A block is ended by end_block."""
    global _is_attached, _is_kept, _blocks
    with _lock:
        bound = library().tileblas_attach()
        if bound >= 0:
            _is_attached = True
            _is_kept |= not for_block
            _blocks += for_block
            _enter_loader()
        return bound


def detach():
    """What the library's function returns."""
    global _is_attached, _is_kept
    with _lock:
        _is_attached = _is_kept = False
        _leave_loader()
        return library().tileblas_detach()


def end_block():
    """The last block detaches, unless somebody has attached besides."""
    global _blocks
    with _lock:
        _blocks -= 1
        return detach() if _blocks == 0 and _is_attached and not _is_kept else 0


def _enter_loader():
    global _in_loader
    if _in_loader:
        return
    own_create = ExtensionFileLoader.create_module

    @functools.wraps(own_create)
    def create_module(self, spec):
        module = own_create(self, spec)
        with _lock:
            if _is_attached:
                library().tileblas_attach()
        return module

    ExtensionFileLoader.create_module = _in_loader = create_module


def _leave_loader():
    """Not where another one has come before ours, which it calls."""
    global _in_loader
    if _in_loader and ExtensionFileLoader.create_module is _in_loader:
        ExtensionFileLoader.create_module = _in_loader.__wrapped__
        _in_loader = None


def _renew_lock():
    """Makes a new lock in a forked child: who had the old one is not there."""
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_renew_lock)
