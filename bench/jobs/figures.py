"""What is made of measured times: ratios with intervals, a geometric mean, the share of the seconds that is gone."""

import math
import statistics

LEVEL = 0.9  # of all intervals
LOST = 0.97  # a job loses if the whole interval of its ratio lies below


def signed_rank_counts(n):
    """How many of the 2^n choices of signs have a sum of positive ranks of 0, 1, 2 ..."""
    counts = [1]
    for rank in range(1, n + 1):
        longer = counts + [0] * rank
        for total, count in enumerate(counts):
            longer[total + rank] += count
        counts = longer
    return counts


def outer_averages(n):
    """How many averages of pairs are left out at each end, so that the interval has LEVEL at least: those of Wilcoxon's
    signed ranks. -1: n is too small for any interval."""
    counts = signed_rank_counts(n)
    below, left_out = 0, -1
    for count in counts:
        below += count
        if below / 2**n > (1 - LEVEL) / 2:
            return left_out
        left_out += 1
    return left_out


def estimate(ratios):
    """The ratio and its interval, of the ratios of pairs: the median of all averages of two of their logarithms (Hodges
    and Lehmann), and the interval that goes with Wilcoxon's signed ranks. One outlier among seven moves neither far.
    Where there are fewer than five pairs there is no interval: None."""
    logs = [math.log(ratio) for ratio in ratios]
    averages = sorted((logs[i] + logs[j]) / 2 for i in range(len(logs)) for j in range(i, len(logs)))
    middle = math.exp(statistics.median(averages))
    left_out = outer_averages(len(logs))
    if left_out < 0:
        return middle, None
    return middle, (math.exp(averages[left_out]), math.exp(averages[-1 - left_out]))


def is_lost(interval):
    return interval is not None and interval[1] < LOST


def is_gained(interval):
    return interval is not None and interval[0] > 1 / LOST


def geometric_mean(ratios):
    return math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))


def share_gone(plain, ours, linear_algebra):
    """Of the seconds that plain processes are in linear algebra: how many whole processes take less. Lists, by job."""
    total = sum(linear_algebra)
    return (sum(plain) - sum(ours)) / total if total > 0 else float("nan")
