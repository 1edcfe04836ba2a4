"""Why a question was missed, computed so that a reader can check it: what ranks where, what was covered, which words the answer does not hold."""

import math

from coding import is_answerable, told_records
from figures import rank, short
from fts5 import Fts5

# An answer that holds less of the question's weight than this can hardly be found by words.
FEW = 0.25
# The figures that can be missed.
RECORD, HOLDS, SILENT, TOLD = "record hit@1", "injected text holds an answer", "answerable, answered", "unanswerable, silent"


class Judge:
    def __init__(self, observations, threshold):
        self.observations, self.threshold = observations, threshold
        self.index = Fts5([o.text for o in observations])
        self.stems = {}
        self.said = {}

    def of_record(self, record):
        """Stems of all that a record says, with its tools; `None` for one that is not in the store."""
        if record not in self.stems:
            texts = [o.text for o in self.observations if o.record == record]
            self.stems[record] = self.index.stems("\n".join(texts)) if texts else None
        return self.stems[record]

    def of_project(self, project):
        if project not in self.said:
            self.said[project] = self.index.stems("\n".join(o.said for o in self.observations if project in o.projects))
        return self.said[project]

    def weight(self, stem):
        return math.log(1 + len(self.observations) / max(1, self.index.holding(stem)))

    def shared(self, query, stems):
        """Share of the question's weight (inverse document frequency of its stems) that is among `stems`, and the words that are not, heaviest first."""
        weights = {stem: self.weight(stem) for stem in self.index.stems(query)}
        missing = sorted((stem for stem in weights if stem not in stems), key=lambda stem: (-weights[stem], stem))
        total = sum(weights.values())
        return sum(weights[stem] for stem in weights if stem in stems) / total if total else 0.0, missing

    def why(self, r):
        """(figure that is missed, class of the reason, what shows it), none for a question that is answered well."""
        return list(self.answerable(r) if is_answerable(r) else self.unanswerable(r))

    def answerable(self, r):
        q = r["q"]
        known = [record for record in q["uuids"] if self.of_record(record) is not None]
        share, missing = max((self.shared(q["query"], self.of_record(record)) for record in known), key=lambda pair: pair[0], default=(0.0, []))
        words = f"the answer holds {short(share, 2)} of the words' weight, not: {' '.join(missing) or 'nothing'}"
        session, record = rank(q["sessions"], r["inside"]), rank(q["uuids"], r["records"])
        where = f"session at {session or 'no'} rank, record at {record or 'no'} rank"
        if not known:
            lost = "the label's record is not in the store", " ".join(q["uuids"])
        elif share < FEW:
            lost = "few words shared with the answer", f"{words}; {where}"
        elif session is None:
            lost = "not routed", f"{words}; {where}"
        elif session > 1:
            lost = "another session first", f"{words}; {where}"
        else:
            lost = "right session, other record first", f"{words}; {where}"
        if record != 1:
            yield RECORD, *self.beaten(r, share, *lost)
        if not r["told"]:
            covered = r["score"]
            below = "covered less than the threshold" if covered < self.threshold else "covered, but too few words or a session not routed by the hook"
            yield SILENT, below, f"covered {short(covered, 2)}, threshold {short(self.threshold, 2)}; {words}"
        elif rank(q["uuids"], told_records(r["told"])) is None:
            yield HOLDS, lost[0], lost[1]

    def beaten(self, r, share, reason, proof):
        """Did the record that ranks first hold more of the words than the answer?"""
        first = self.of_record(r["records"][0]) if r["records"] else None
        if first is None:
            return reason, proof
        held, _ = self.shared(r["q"]["query"], first)
        return f"{reason}, which holds {'more' if held > share else 'no more'} of the words" if reason.endswith("first") else reason, f"{proof}; {r['records'][0]} is first and holds {short(held, 2)}"

    def unanswerable(self, r):
        if not r["told"]:
            return
        covered = ", ".join(f"{key} {short(value, 2)}" for key, value in r["covered"].items())
        _, never = self.shared(r["q"]["query"], self.of_project(r["q"]["project"]))
        kind = {0: "each word was said in the project", 1: "one word was never said"}.get(len(never), "several words were never said")
        yield TOLD, kind, f"covered {covered}; never said: {' '.join(never) or 'nothing'}"


def listed(judge, results):
    """A line for each miss, for a person to look at."""
    for r in results:
        for figure, reason, proof in judge.why(r):
            q = r["q"]
            kind = q.get("difficulty") or (f"{q['overlap']} overlap" if q.get("overlap") else "")
            yield f"{q['id']} ({', '.join(filter(None, (kind, q['project'])))}) {figure}: {reason} ({proof}): {q['query'][:110]}"


def count(table, judge, name, results):
    """How many misses of each figure have which reason."""
    for r in results:
        for figure, reason, _ in judge.why(r):
            row = f"{figure}: {reason}"
            table.put(row, name, int(table.rows.get(row, {}).get(name, 0)) + 1)
