"""Plain Okapi BM25 over documents: lower-cased words, no stems, no stop words. What every ranking is measured against."""

import collections
import math
import re

K1, B = 1.2, 0.75
WORD = re.compile(r"\w+")


def words(text):
    return [word.lower() for word in WORD.findall(text)]


class Bm25:
    def __init__(self, texts):
        self.holding = collections.defaultdict(list)
        lengths = []
        for n, text in enumerate(texts):
            counts = collections.Counter(words(text))
            lengths.append(sum(counts.values()))
            for word, count in counts.items():
                self.holding[word].append((n, count))
        self.of = len(lengths)
        average = sum(lengths) / max(1, self.of) or 1
        self.norms = [K1 * (1 - B + B * length / average) for length in lengths]

    def idf(self, word):
        n = len(self.holding.get(word, ()))
        return math.log(1 + (self.of - n + 0.5) / (n + 0.5))

    def terms(self, query):
        return set(words(query))

    def scores(self, query):
        """(score, document) of all that hold any word, best first; ties by place."""
        total = collections.defaultdict(float)
        # In one order: sums of floats depend on it.
        for word in sorted(self.terms(query)):
            for n, count in self.holding.get(word, ()):
                total[n] += self.idf(word) * count * (K1 + 1) / (count + self.norms[n])
        return sorted(((score, n) for n, score in total.items()), key=lambda pair: (-pair[0], pair[1]))
