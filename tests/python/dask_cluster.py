"""A Dask cluster of two workers on a host with two devices: arrays in chunks are multiplied on both.

usage: dask_cluster.py TOOLS    TOOLS: a folder with dask and distributed; with TILEBLAS_LIBRARY, on the simulated device
"""

import os
import sys

sys.path.append(sys.argv[1])
try:
    import dask.array as da
    import numpy as np
    from distributed import Client, LocalCluster
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

WORKERS = 2
SIZE, CHUNK = 500, 200


def expect(condition, text):
    if not condition:
        sys.exit(text)


def whole_numbers(seed):
    return np.random.default_rng(seed).integers(-9, 10, (SIZE, SIZE))


def plan_of_product(_):
    """Why a product of this worker ran where it did."""
    import numpy
    import tileblas

    ones = numpy.ones((150, 150))
    assert numpy.all(ones @ (2 * ones) == 300)
    return tileblas.last_plan()


def device_calls():
    import tileblas

    return tileblas.stats().device_calls


def main():
    os.environ["TILEBLAS_SIM_HOST"] = str(os.getpid())  # the workers see the same two devices, and nobody else does
    with LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None, preload=["tileblas.dask"]) as cluster, \
            Client(cluster) as client:
        a, b = whole_numbers(1), whole_numbers(2)
        x, y = (da.from_array(matrix.astype(float), chunks=CHUNK) for matrix in (a, b))
        product = (x @ y).compute()
        # Products of integers are no business of a BLAS.
        expect(np.array_equal(product, a @ b), "the product is wrong")
        blocks = (-(-SIZE // CHUNK))**3
        calls = client.run(device_calls)
        expect(sum(calls.values()) >= blocks, f"{calls} calls on devices, of at least {blocks}")
        plans = [client.submit(plan_of_product, number, workers=[worker], allow_other_workers=False).result()
                 for number, worker in enumerate(calls)]
        devices = sorted(plan.split("on device ")[1].split(":")[0] for plan in plans)
        expect(devices == ["0", "1"], f"the workers' products ran: {plans}")
        print(f"{WORKERS} workers, each on a device of its own")


if __name__ == "__main__":
    main()
