#!/usr/bin/env python3
"""One job, in this process: bench/jobs/job.py NAME [SCALE]. run.py starts it.

SCALE is of the sizes, for tests. Status 77: a package that the job needs is not installed.
"""

import importlib
import sys

import jobs

MISSING = 77


def main():
    job = jobs.find_job(sys.argv[1])
    scale = float(sys.argv[2]) if len(sys.argv) > 2 else 1

    def size(extent):
        return max(8, round(extent * scale))

    try:
        module = importlib.import_module("with_" + job.package)
    except ImportError as error:
        print(error, file=sys.stderr)
        sys.exit(MISSING)
    getattr(module, job.name)(size)


# Workers that are spawned import this file.
if __name__ == "__main__":
    main()
