"""Questions about real transcripts: which session and record answers, what is injected, when silence is kept."""

import os
import re

from figures import figure, hit, mean, recall, reciprocal
from world import each

UUID = re.compile(r"\[([0-9a-f]{8}-[0-9a-f-]{27}|[A-Za-z0-9_-]{6,64})\]")


def folders(transcripts):
    return [(name, os.path.join(transcripts, name)) for name in sorted(os.listdir(transcripts)) if os.path.isdir(os.path.join(transcripts, name))]


def distinct(items):
    return list(dict.fromkeys(item for item in items if item))


def ask(memory, queries, offset=0):
    """What each question finds and what a prompt of it is told."""
    memory.forget_shown()

    def one(number, q):
        text = q["query"]
        if not q.get("answerable"):
            return {"q": q, "told": memory.prompt(text, q["project"], offset + number)}
        return {
            "q": q,
            "everywhere": distinct(h["session"] for h in memory.search(text, "--by", "session", "--limit", "10", "--all")),
            "inside": distinct(h["session"] for h in memory.search(text, "--by", "session", "--limit", "10", "--project", memory.project(q["project"]))),
            "records": [h["record"] for h in memory.search(text, "--limit", "20", "--project", memory.project(q["project"]))],
            "told": memory.prompt(text, q["project"], offset + number),
        }

    return each(queries, one)


def told_records(told):
    return UUID.findall(told)


def rows(table, name, results):
    """The rows of one set of questions."""
    asked = [r for r in results if r["q"].get("answerable")]
    void = [r for r in results if not r["q"].get("answerable")]
    if asked:
        gold = lambda r: r["q"]["sessions"]
        uuids = lambda r: r["q"]["uuids"]
        table.row(f"{name}: session hit@1, all projects", figure([hit(gold(r), r["everywhere"], 1) for r in asked]))
        table.row(f"{name}: session hit@3, all projects", figure([hit(gold(r), r["everywhere"], 3) for r in asked]))
        table.row(f"{name}: session hit@1, inside the project", figure([hit(gold(r), r["inside"], 1) for r in asked]))
        table.row(f"{name}: session hit@3, inside the project", figure([hit(gold(r), r["inside"], 3) for r in asked]))
        table.row(f"{name}: session MRR, all projects", figure([reciprocal(gold(r), r["everywhere"]) for r in asked]))
        table.row(f"{name}: record hit@1", figure([hit(uuids(r), r["records"], 1) for r in asked]))
        table.row(f"{name}: record hit@5", figure([hit(uuids(r), r["records"], 5) for r in asked]))
        table.row(f"{name}: record R@10", figure([recall(uuids(r), r["records"], 10) for r in asked]))
        table.row(f"{name}: record MRR", figure([reciprocal(uuids(r), r["records"]) for r in asked]))
        table.row(f"{name}: injected text holds an answering record", figure([hit(uuids(r), told_records(r["told"]), 99) for r in asked]))
        table.row(f"{name}: first injected line is of an answering record", figure([hit(uuids(r), told_records(r["told"]), 1) for r in asked]))
        table.row(f"{name}: answerable, wrongly silent", figure([0.0 if r["told"] else 1.0 for r in asked]))
        told = [len(r["told"]) for r in asked if r["told"]]
        table.row(f"{name}: characters injected where anything is", f"{mean(told):.0f} (most {max(told, default=0)})")
    if void:
        table.row(f"{name}: unanswerable, silent", figure([0.0 if r["told"] else 1.0 for r in void]))
        for overlap in sorted({r["q"].get("overlap") for r in void} - {None}):
            part = [r for r in void if r["q"].get("overlap") == overlap]
            table.row(f"{name}: the same, {overlap} overlap of words", figure([0.0 if r["told"] else 1.0 for r in part]))


def misses(results):
    """What was asked and not found, for a person to look at."""
    for r in results:
        q = r["q"]
        if q.get("answerable"):
            bad = []
            if not hit(q["sessions"], r["inside"], 3):
                bad.append("session not in 3")
            if not hit(q["uuids"], r["records"], 10):
                bad.append("record not in 10")
            if not r["told"]:
                bad.append("silent")
            elif not hit(q["uuids"], told_records(r["told"]), 99):
                bad.append("other lines told")
            if bad:
                yield f"{q['id']} ({q.get('difficulty', '')}, {q['project']}): {', '.join(bad)}: {q['query'][:110]}"
        elif r["told"]:
            yield f"{q['id']} ({q['project']}): told though nothing answers: {q['query'][:110]}"
