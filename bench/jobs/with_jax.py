"""Jobs of JAX on the CPU. Its products are its own; factorizations go by SciPy's pointers to LAPACK."""

import os

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import jax.scipy.linalg
import numpy
from checks import require
from with_numpy import normal

jax.config.update("jax_enable_x64", True)


def jax_process(size):
    """The likelihood of a Gaussian process and its gradient, five times."""
    x = jnp.asarray(normal(size(2500), 8))
    y = jnp.sin(x[:, 0])

    @jax.jit
    def loss(scale, x, y):
        squares = (x**2).sum(1)
        distances = squares[:, None] + squares[None, :] - 2 * x @ x.T
        kernel = jnp.exp(-distances / (2 * scale**2)) + 1e-2 * jnp.eye(len(x))
        factor = jnp.linalg.cholesky(kernel)
        solved = jax.scipy.linalg.solve_triangular(factor, y, lower=True)
        return 0.5 * solved @ solved + jnp.log(jnp.diag(factor)).sum()

    both = jax.jit(jax.value_and_grad(loss))
    for scale in (1.0, 1.5, 2.0, 2.5, 3.0):
        value, slope = both(scale, x, y)
        require(numpy.isfinite(value) and numpy.isfinite(slope), "the likelihood")
    step = 1e-4
    expected = (loss(3.0 + step, x, y) - loss(3.0 - step, x, y)) / (2 * step)
    require(abs(slope - expected) < 1e-3 * abs(expected) + 1e-3, "the slope")


def jax_spectra(size):
    n = size(1500)
    a = jnp.asarray(normal(n, n))
    values, vectors = jnp.linalg.eigh(a + a.T)
    v = vectors[:, -1]
    require(float(jnp.linalg.norm((a + a.T) @ v - values[-1] * v)) < 1e-9 * float(values[-1]), "an eigenvector")
    u, singular, vt = jnp.linalg.svd(a)
    require(float(jnp.linalg.norm(a @ vt[0] - singular[0] * u[:, 0])) < 1e-9 * float(singular[0]), "a singular vector")
