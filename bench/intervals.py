"""intervals.py: the median of a few measurements, and its error.

Times on a computer are not normally distributed: they have a minimum and a long tail. Therefore
nothing is assumed about their distribution. Among n independent measurements, the number below the
true median m is binomial with p = 1/2. Therefore the k-th smallest and the k-th largest enclose m
with probability

    1 - 2 * P(B(n, 1/2) <= k - 1)

where k is the largest number for which this is at least 95 %. This is the interval of the sign
test: H. A. David and H. N. Nagaraja, Order Statistics, 3rd ed., section 7.1; W. J. Conover,
Practical Nonparametric Statistics, section 3.2.

With fewer than six measurements there is no such interval: even the smallest and the largest
enclose the median with less than 95 %. Then these two are used, with their actual probability.
"""
import math
import statistics

LEVEL = 0.95


class Estimate:
    """A median with its interval; `level` is the probability that low..high encloses the true
    median."""

    def __init__(self, median, low, high, level, minimum, count):
        self.median, self.low, self.high, self.level = median, low, high, level
        self.minimum, self.count = minimum, count

    def as_dict(self):
        return {"median": self.median, "low": self.low, "high": self.high,
                "level": round(self.level, 4), "min": self.minimum, "n": self.count}


def below(n, k):
    """Return the probability of at most K heads in N throws of a coin."""
    return sum(math.comb(n, i) for i in range(k + 1)) / 2 ** n


def rank(n, level=LEVEL):
    """Return K and the probability of the interval from the K-th smallest to the K-th largest of N
    values, counted from 1."""
    k = 1
    while 1 - 2 * below(n, k) >= level:
        k += 1
    return k, max(0.0, 1 - 2 * below(n, k - 1))


def estimate(values):
    """Return an Estimate, or None without values."""
    if not values:
        return None
    ordered = sorted(values)
    k, level = rank(len(ordered))
    return Estimate(statistics.median(ordered), ordered[k - 1], ordered[-k], level, ordered[0],
                    len(ordered))
