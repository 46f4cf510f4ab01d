"""The command `tileblas`, which the package brings along."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tileblas._library import FOLDERS, Error


def find():
    """The command beside the library that TILEBLAS_LIBRARY names, or of this package, or of the machine."""
    chosen = os.environ.get("TILEBLAS_LIBRARY")
    folders = [Path(chosen).resolve().parent] if chosen else []
    for folder in [*folders, *(folder.parent / "bin" for folder in folders), *(folder / "bin" for folder in FOLDERS)]:
        if os.access(folder / "tileblas", os.X_OK) and (folder / "tileblas").is_file():
            return str(folder / "tileblas")
    # The script that pip makes of `main` is no other.
    own = Path(sys.argv[0]).resolve()
    on_path = shutil.which("tileblas")
    if on_path and Path(on_path).resolve() != own:
        return on_path
    raise Error("the command tileblas was not found")


def ask(*arguments, settings=None):
    """What it answers, with settings in its environment. Raises ValueError with its complaint where it refuses."""
    answer = subprocess.run([find(), *arguments], capture_output=True, check=False, encoding="utf-8",
                            errors="replace", env={**os.environ, **(settings or {})})
    if answer.returncode != 0:
        raise ValueError(answer.stderr.strip().splitlines()[0] if answer.stderr else f"status {answer.returncode}")
    return answer.stdout


def main(arguments=None):
    """Becomes the command."""
    try:
        command = find()
    except Error as error:
        sys.exit(f"tileblas: {error}")
    os.execv(command, [command, *(sys.argv[1:] if arguments is None else arguments)])
