"""Questions about long conversations: LoCoMo, turned into transcripts. DIR holds `projects/<name>/*.jsonl` and `queries.jsonl`, of which a line is
`{"id", "project", "question", "category_name", "evidence_uuids": [...], "evidence_session_ids": [...]}`; asked inside the conversation."""

import os

from figures import figure, recall
from peers import distinct
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


def ask_peer(peer, asked):
    def one(q):
        ranked = [o for _, o in peer.ranked(q["question"], q["project"])]
        return {"q": q, "turns": distinct(o.record for o in ranked)[:20], "sessions": distinct(s for o in ranked for s in o.sessions)[:10]}

    return [one(q) for q in asked]


def put(table, column, found):
    def part(name, found):
        sessions, turns = (lambda r: r["q"]["evidence_session_ids"]), (lambda r: r["q"]["evidence_uuids"])
        for k in (3, 10):
            table.put(f"LoCoMo, {name}: session R@{k}", column, figure([recall(sessions(r), r["sessions"], k) for r in found]))
        for k in (5, 10):
            table.put(f"LoCoMo, {name}: turn R@{k}", column, figure([recall(turns(r), r["turns"], k) for r in found]))

    part("all five categories", found)
    for category in sorted({r["q"]["category_name"] for r in found}):
        part(category, [r for r in found if r["q"]["category_name"] == category])
