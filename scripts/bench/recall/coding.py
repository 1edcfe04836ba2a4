"""Questions about real transcripts: which session and record answers, what is injected, when silence is kept."""

import os
import re

from figures import auc_figure, figure, hit, recall, reciprocal
from peers import distinct
from world import each

UUID = re.compile(r"\[([0-9a-f]{8}-[0-9a-f-]{27}|[A-Za-z0-9_-]{6,64})\]")


def folders(transcripts):
    return [(name, os.path.join(transcripts, name)) for name in sorted(os.listdir(transcripts)) if os.path.isdir(os.path.join(transcripts, name))]


def ask(memory, queries, offset=0):
    """What each question finds and what a prompt of it is told. `score` tells how sure Sinker is: the coverage of the session that covers most."""
    memory.forget_shown()

    def one(number, q):
        text, project = q["query"], memory.project(q["project"])
        sessions = memory.search(text, "--by", "session", "--explain", "--limit", "10", "--project", project)
        found = {
            "q": q,
            "inside": distinct(h["session"] for h in sessions),
            "covered": max((h["explain"]["coverage"] for h in sessions), key=lambda c: c["all"], default={"all": 0.0}),
            "told": memory.prompt(text, q["project"], offset + number),
        }
        found["score"] = found["covered"]["all"]
        if q.get("answerable"):
            found["everywhere"] = distinct(h["session"] for h in memory.search(text, "--by", "session", "--limit", "10", "--all"))
            found["records"] = [h["record"] for h in memory.search(text, "--limit", "20", "--project", project)]
        return found

    return each(queries, one)


def is_answerable(r):
    return bool(r["q"].get("answerable"))


def told_records(told):
    return UUID.findall(told)


def put(table, column, name, results):
    """The figures of one set of questions, as asked of one system."""
    row = lambda what, cell: table.put(f"{name}: {what}", column, cell)
    asked = [r for r in results if is_answerable(r)]
    void = [r for r in results if not is_answerable(r)]
    gold, uuids = (lambda r: r["q"]["sessions"]), (lambda r: r["q"]["uuids"])
    if asked:
        row("session hit@1, all projects", figure([hit(gold(r), r["everywhere"], 1) for r in asked]))
        row("session hit@3, all projects", figure([hit(gold(r), r["everywhere"], 3) for r in asked]))
        row("session MRR, all projects", figure([reciprocal(gold(r), r["everywhere"]) for r in asked]))
        row("session hit@1, inside the project", figure([hit(gold(r), r["inside"], 1) for r in asked]))
        row("session hit@3, inside the project", figure([hit(gold(r), r["inside"], 3) for r in asked]))
        row("session MRR, inside the project", figure([reciprocal(gold(r), r["inside"]) for r in asked]))
        row("record hit@1", figure([hit(uuids(r), r["records"], 1) for r in asked]))
        row("record hit@5", figure([hit(uuids(r), r["records"], 5) for r in asked]))
        row("record R@10", figure([recall(uuids(r), r["records"], 10) for r in asked]))
        row("record MRR", figure([reciprocal(uuids(r), r["records"]) for r in asked]))
        row("injected text holds an answering record", figure([hit(uuids(r), told_records(r["told"]), 99) for r in asked]))
        row("first injected line is of an answering record", figure([hit(uuids(r), told_records(r["told"]), 1) for r in asked]))
        row("answerable, answered", figure([float(bool(r["told"])) for r in asked]))
        row("characters injected where anything is", figure([len(r["told"]) for r in asked if r["told"]], 0))
    if void:
        row("unanswerable, silent", figure([float(not r["told"]) for r in void]))
        for overlap in sorted({r["q"].get("overlap") for r in void} - {None}):
            row(f"unanswerable, silent, {overlap} overlap of words", figure([float(not r["told"]) for r in void if r["q"].get("overlap") == overlap]))
    if asked and void:
        separate(table, column, name, asked, void)


def separate(table, column, name, asked, void):
    """How well the score tells answerable questions from others."""
    cell = auc_figure([r["score"] for r in asked], [r["score"] for r in void])
    table.put(f"{name}: AUC of coverage (of others: of the best score a term)", column, cell)
