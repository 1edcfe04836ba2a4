"""Means with bootstrap intervals, and the table."""

import bisect
import random
import zlib

ROUNDS = 1000


def mean(values):
    return sum(values) / len(values) if values else float("nan")


def middle(values):
    """The middle 95 % of what resampling gave."""
    values = sorted(values)
    return values[int(len(values) * 0.025)], values[int(len(values) * 0.975) - 1]


def resampled(dice, values):
    return [values[dice.randrange(len(values))] for _ in values]


def interval(values, seed=7):
    """The middle 95 % of the means of resampled values."""
    if not values:
        return float("nan"), float("nan")
    dice = random.Random(seed)
    return middle([mean(resampled(dice, values)) for _ in range(ROUNDS)])


def short(x, digits=3):
    """Without a leading zero."""
    text = f"{x:.{digits}f}"
    return text.replace("0.", ".", 1) if abs(x) < 1 else text


def figure(values, digits=3):
    """`.870 [.790-.940] n=77`."""
    low, high = interval(values)
    return f"{short(mean(values), digits)} [{short(low, digits)}-{short(high, digits)}] n={len(values)}"


def auc(high, low):
    """How often one of `high` is above one of `low`; ties count half."""
    low = sorted(low)
    above = sum(bisect.bisect_left(low, x) + bisect.bisect_right(low, x) for x in high)
    return above / (2 * len(high) * len(low))


def auc_figure(high, low, seed=7):
    dice = random.Random(seed)
    least, most = middle([auc(resampled(dice, high), resampled(dice, low)) for _ in range(ROUNDS)])
    return f"{short(auc(high, low))} [{short(least)}-{short(most)}] n={len(high)}+{len(low)}"


def recall(gold, found, k):
    """Share of the gold items among the first k."""
    gold = set(gold)
    return len(gold & set(found[:k])) / len(gold)


def hit(gold, found, k):
    return 1.0 if set(gold) & set(found[:k]) else 0.0


def reciprocal(gold, found):
    return next((1.0 / n for n, item in enumerate(found, 1) if item in gold), 0.0)


def rank(gold, found):
    """The place of the first gold item, from 1; `None` where there is none."""
    return next((n for n, item in enumerate(found, 1) if item in gold), None)


def halves(items):
    """Those to tune on and those to report: by a hash of the id that no order of the file changes."""
    first = [item for item in items if zlib.crc32(item["id"].encode()) % 2 == 0]
    second = [item for item in items if zlib.crc32(item["id"].encode()) % 2 == 1]
    return first, second


class Table:
    """Cells by row and column, both in the order in which they came."""

    def __init__(self, *columns):
        self.columns, self.rows = list(columns), {}

    def put(self, row, column, cell):
        if column not in self.columns:
            self.columns.append(column)
        self.rows.setdefault(row, {})[column] = str(cell)

    def text(self, head):
        out = ["| " + " | ".join([head, *self.columns]) + " |", "|" + "---|" * (1 + len(self.columns))]
        for row, cells in self.rows.items():
            out.append("| " + " | ".join([row, *[cells.get(column, "") for column in self.columns]]) + " |")
        return "\n".join(out)
