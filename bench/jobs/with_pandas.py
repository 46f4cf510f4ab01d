"""A job of pandas, whose frames multiply by NumPy."""

import pandas
from checks import require_near
from with_numpy import normal


def returns(size):
    """Covariances of 1500 series, what portfolios of them make, and sums by month."""
    days, series = size(10000), size(1500)
    index = pandas.date_range("2000-01-01", periods=days, freq="h")
    frame = pandas.DataFrame(normal(days, series), index=index)
    covariance = frame.cov()
    portfolios = pandas.DataFrame(normal(series, size(800), seed=9), index=frame.columns)
    made = frame.dot(portfolios)
    risk = covariance.dot(portfolios)
    variance = (portfolios[0] * risk[0]).sum()
    require_near(made[0].var(), variance, 1e-9, "a portfolio's variance")
    monthly = frame.groupby([index.year, index.month]).sum()
    require_near(monthly[0].sum(), frame[0].sum(), 1e-6, "the sum of months")
    frame.iloc[:, : size(300)].rolling(24).mean()
