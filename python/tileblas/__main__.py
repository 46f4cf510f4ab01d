"""python -m tileblas run [--quiet] SCRIPT [ARGUMENT]...      attaches, runs the script, and says where products went
python -m tileblas run [--quiet] -m MODULE [ARGUMENT]...   likewise
python -m tileblas SUBCOMMAND...                           the command: info, explain, show and others
"""

import atexit
import os
import runpy
import sys
import zipfile

import tileblas
from tileblas import _command


def run(arguments):
    """Runs a script as Python itself would: sys.argv and sys.path are the script's."""
    quiet = arguments[:1] == ["--quiet"]
    arguments = arguments[1:] if quiet else arguments
    is_module = arguments[:1] == ["-m"]
    arguments = arguments[1:] if is_module else arguments
    if not arguments:
        sys.exit("tileblas run: which script?")
    sys.argv = arguments
    if not quiet:
        atexit.register(_say_statistics, os.getpid())
    tileblas.attach()
    if is_module:
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    else:
        _search_folder_of(arguments[0])
        runpy.run_path(arguments[0], run_name="__main__")


def _say_statistics(owner):
    """When the script's threads have ended, and what it has registered has run. Forked children say nothing."""
    if os.getpid() == owner:
        print(tileblas.stats(), file=sys.stderr)


def _search_folder_of(script):
    """Puts the script's folder in place of the working folder, which Python searches for -m. A folder or an archive adds itself."""
    if getattr(sys.flags, "safe_path", sys.flags.isolated):
        return
    if os.path.isdir(script) or zipfile.is_zipfile(script):
        del sys.path[0]
    else:
        sys.path[0] = os.path.dirname(os.path.realpath(script))


def main():
    arguments = sys.argv[1:]
    if arguments[:1] in ([], ["--help"], ["-h"]):
        print(__doc__.strip())
    elif arguments[0] == "run":
        run(arguments[1:])
    else:
        _command.main(arguments)


if __name__ == "__main__":
    main()
