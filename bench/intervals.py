"""intervals.py: the median of a few measurements, and its error.

Times on a computer are not normally distributed: they have a floor and a long tail. So nothing
is assumed about their distribution. Of n independent measurements, the number below the true
median m is binomial with p = 1/2, therefore the k-th smallest and the k-th largest enclose m
with probability

    1 - 2 * P(B(n, 1/2) <= k - 1)

and k is the largest with a probability of at least 95 %. This is the interval that belongs to
the sign test: H. A. David and H. N. Nagaraja, Order Statistics, 3rd ed., section 7.1; W. J.
Conover, Practical Nonparametric Statistics, section 3.2.

Below six measurements there is no such interval: even the smallest and the largest enclose the
median with less than 95 %. They are used then, with their actual probability.
"""
import math
import statistics

LEVEL = 0.95


class Estimate:
    """A median with its interval; `level` is the probability that low..high encloses it."""

    def __init__(self, median, low, high, level, minimum, count):
        self.median, self.low, self.high, self.level = median, low, high, level
        self.minimum, self.count = minimum, count

    def as_dict(self):
        return {"median": self.median, "low": self.low, "high": self.high,
                "level": round(self.level, 4), "min": self.minimum, "n": self.count}


def below(n, k):
    """The probability of at most K heads in N throws of a coin."""
    return sum(math.comb(n, i) for i in range(k + 1)) / 2 ** n


def rank(n, level=LEVEL):
    """The ranks of the smallest and largest of N values to take, counted from 1, and the
    probability."""
    k = 1
    while 1 - 2 * below(n, k) >= level:
        k += 1
    return k, max(0.0, 1 - 2 * below(n, k - 1))


def estimate(values):
    """An Estimate, or None without values."""
    if not values:
        return None
    ordered = sorted(values)
    k, level = rank(len(ordered))
    return Estimate(statistics.median(ordered), ordered[k - 1], ordered[-k], level, ordered[0],
                    len(ordered))
