"""Questions about long conversations: LoCoMo, turned into transcripts. DIR holds `projects/<name>/*.jsonl` and `queries.jsonl`, of which a line is
`{"id", "project", "question", "category_name", "evidence_uuids": [...], "evidence_session_ids": [...]}`; asked inside the conversation."""

import os

from coding import distinct
from figures import figure, halves, mean, recall
from world import each, lines


def folders(data):
    projects = os.path.join(data, "projects")
    return [(name, os.path.join(projects, name)) for name in sorted(os.listdir(projects))]


def questions(data):
    return [q for q in lines(os.path.join(data, "queries.jsonl")) if q["evidence_uuids"]]


def ask(memory, asked):
    def one(_, q):
        text, project = q["question"], memory.project(q["project"])
        records = memory.search(text, "--limit", "20", "--project", project)
        return {
            "q": q,
            "turns": [h["record"] for h in records],
            "sessions": distinct(h["session"] for h in memory.search(text, "--by", "session", "--limit", "10", "--project", project)),
        }

    return each(asked, one)


def rows(table, found):
    def line(name, found):
        sessions = lambda r: r["q"]["evidence_session_ids"]
        turns = lambda r: r["q"]["evidence_uuids"]
        cells = [figure([recall(sessions(r), r["sessions"], k) for r in found]) for k in (3, 10)]
        cells += [figure([recall(turns(r), r["turns"], k) for r in found]) for k in (5, 10)]
        table.row(f"LoCoMo, {name}: session R@3; R@10; turn R@5; R@10", "; ".join(cells))

    line("all five categories", found)
    for half, name in zip(halves([r["q"] for r in found]), ("tune", "held")):
        ids = {q["id"] for q in half}
        line(name, [r for r in found if r["q"]["id"] in ids])
    for category in sorted({r["q"]["category_name"] for r in found}):
        line(category, [r for r in found if r["q"]["category_name"] == category])
