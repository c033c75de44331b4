# SPDX-License-Identifier: MIT
"""Fresh processes of several sides, taken in turns; the ratio of two sides with its exact order-statistic interval."""
import math
import statistics
import sys

# Ranks of the interval for the median of a number of ratios, level at least 95 % (docs/methodology.md).
RANKS = {6: (1, 6), 8: (1, 8), 10: (2, 9), 12: (3, 10), 16: (4, 13), 20: (6, 15), 30: (10, 21), 60: (22, 39), 100: (40, 61)}


def interleave(sides, rounds, label):
    """{name: call} -> {name: [ns of one process per round]}. Every other round runs backwards (ABBA)."""
    values = {name: [] for name in sides}
    for turn in range(rounds):
        names = list(sides) if turn % 2 == 0 else list(reversed(sides))
        for name in names:
            values[name].append(sides[name]())
        figures = ", ".join(f"{name} {values[name][-1] / 1e6:.2f}" for name in sides)
        print(f"  {label} {turn + 1}/{rounds}: {figures} ms", file=sys.stderr, flush=True)
    return values


def order_statistics(values):
    """(median, low, high)"""
    ordered = sorted(values)
    low, high = RANKS[len(ordered)]
    return statistics.median(ordered), ordered[low - 1], ordered[high - 1]


def ratio(ours, theirs):
    """(exp median, low, high) of ln(ours / theirs) over processes that were neighbours in time."""
    return tuple(math.exp(log) for log in order_statistics([math.log(a / b) for a, b in zip(ours, theirs, strict=True)]))
