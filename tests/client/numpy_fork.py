"""Products in the children of a process that has used its BLAS already: forked, forked by forks, forked by a
server, and spawned.

usage: numpy_fork.py pip|debian
"""

import multiprocessing
import os
import sys

from checks import check, np, require_numpy_from


def product(seed):
    random = np.random.default_rng(seed)
    a = random.standard_normal((250, 300), dtype=np.float32)
    b = random.standard_normal((300, 200), dtype=np.float32)
    check(f"product {seed} in process {os.getpid()}", a @ b, a, b)
    return seed


def grandchild():
    product(100)
    child = multiprocessing.get_context("fork").Process(target=product, args=(101,))
    child.start()
    child.join()
    sys.exit(child.exitcode)


def main():
    require_numpy_from(sys.argv[1])
    product(0)
    for method in ("fork", "forkserver", "spawn"):
        with multiprocessing.get_context(method).Pool(3) as pool:
            if pool.map(product, range(1, 13)) != list(range(1, 13)):
                sys.exit(f"{method}: results are missing")
        product(13)
    child = multiprocessing.get_context("fork").Process(target=grandchild)
    child.start()
    child.join()
    if child.exitcode != 0:
        sys.exit(f"a child of a child ended with {child.exitcode}")
    product(14)
    print("products are right in parent and children")


if __name__ == "__main__":
    main()
