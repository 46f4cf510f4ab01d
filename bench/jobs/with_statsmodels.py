"""Jobs of statsmodels."""

import warnings

import numpy
import statsmodels.api as sm
from checks import require
from with_numpy import normal

warnings.simplefilter("ignore")


def ols(size):
    x = sm.add_constant(normal(size(30000), size(600)))
    w = normal(x.shape[1], seed=9)
    y = x @ w + normal(len(x), seed=10)
    found = sm.OLS(y, x).fit()
    require(numpy.abs(x.T @ found.resid).max() < 1e-6 * len(x), "the normal equations")
    require(found.rsquared > 0.5, "the share explained")


def state_space(size):
    """The likelihood of a seasonal model, forty times: a Kalman filter whose calls of BLAS are tiny."""
    seasons = numpy.arange(size(1500)) % 24
    series = numpy.cumsum(normal(len(seasons), seed=9)) + seasons
    model = sm.tsa.UnobservedComponents(series, "local linear trend", seasonal=24, autoregressive=2)
    start = numpy.asarray(model.start_params)
    found = [model.loglike(start * factor) for factor in numpy.linspace(0.9, 1.1, 40)]
    require(numpy.isfinite(found).all() and numpy.ptp(found) > 0, "likelihoods")
