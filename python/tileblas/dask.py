"""The module for Dask: `dask worker --preload tileblas.dask` attaches every worker as it starts. Dask calls dask_setup."""

import tileblas


def dask_setup(worker):
    tileblas.attach()
