"""Means with bootstrap intervals, and the table."""

import random


def mean(values):
    return sum(values) / len(values) if values else float("nan")


def interval(values, rounds=1000, seed=7):
    """The middle 95 % of the means of resampled values."""
    if not values:
        return float("nan"), float("nan")
    dice = random.Random(seed)
    means = sorted(mean([values[dice.randrange(len(values))] for _ in values]) for _ in range(rounds))
    return means[int(rounds * 0.025)], means[int(rounds * 0.975) - 1]


def figure(values, digits=3):
    """`.870 [.79-.94] n=77`, without leading zeros."""
    low, high = interval(values)
    short = lambda x: f"{x:.{digits}f}".replace("0.", ".", 1) if abs(x) < 1 else f"{x:.{digits}f}"
    return f"{short(mean(values))} [{short(low)}-{short(high)}] n={len(values)}"


def recall(gold, found, k):
    """Share of the gold items among the first k."""
    gold = set(gold)
    return len(gold & set(found[:k])) / len(gold)


def hit(gold, found, k):
    return 1.0 if set(gold) & set(found[:k]) else 0.0


def reciprocal(gold, found):
    return next((1.0 / n for n, item in enumerate(found, 1) if item in gold), 0.0)


def halves(items):
    """Those to tune on and those to report: by a hash of the id that no order of the file changes."""
    import zlib

    first = [item for item in items if zlib.crc32(item["id"].encode()) % 2 == 0]
    second = [item for item in items if zlib.crc32(item["id"].encode()) % 2 == 1]
    return first, second


class Table:
    def __init__(self):
        self.rows = []

    def row(self, what, *cells):
        self.rows.append((what, *[str(cell) for cell in cells]))

    def text(self, *heads):
        out = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
        width = len(heads)
        for row in self.rows:
            out.append("| " + " | ".join((*row, *[""] * (width - len(row)))) + " |")
        return "\n".join(out)
