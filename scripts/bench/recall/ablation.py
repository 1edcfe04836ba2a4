"""What each part of the ranking is worth: all figures without it."""

import coding
import locomo
from figures import hit, mean, recall

PARTS = ["neighbours", "session", "coverage", "dates", "age", "closing", "work", "claims", "narration", "synonyms"]
HEADS = ["session hit@1", "hit@3", "record hit@1", "hit@5", "R@10", "injected holds the answer", "answered", "silent", "nonsense silent", "characters", "LoCoMo session R@10", "turn R@5", "turn R@10"]


def line(table, name, answers, conversations):
    short = lambda values: f"{mean(values):.3f}" if values else ""
    asked = [r for found in answers.values() for r in found if r["q"].get("answerable")]
    void = [r for key, found in answers.items() if key != "nonsense" for r in found if not r["q"].get("answerable")]
    nonsense = answers.get("nonsense", [])
    uuids, gold = (lambda r: r["q"]["uuids"]), (lambda r: r["q"]["sessions"])
    cells = [
        short([hit(gold(r), r["inside"], 1) for r in asked]), short([hit(gold(r), r["inside"], 3) for r in asked]),
        short([hit(uuids(r), r["records"], 1) for r in asked]), short([hit(uuids(r), r["records"], 5) for r in asked]), short([recall(uuids(r), r["records"], 10) for r in asked]),
        short([hit(uuids(r), coding.told_records(r["told"]), 99) for r in asked]), short([float(bool(r["told"])) for r in asked]),
        short([float(not r["told"]) for r in void]), short([float(not r["told"]) for r in nonsense]),
        f"{mean([len(r['told']) for r in asked if r['told']]):.0f}" if asked else "",
    ]
    sessions = [recall(r["q"]["evidence_session_ids"], r["sessions"], 10) for r in conversations]
    turns = [[recall(r["q"]["evidence_uuids"], r["turns"], k) for r in conversations] for k in (5, 10)]
    for head, cell in zip(HEADS, [*cells, short(sessions), *map(short, turns)]):
        table.put(name, head, cell)


def run(table, memory, asked, conversations_memory, questions, parts=PARTS):
    for part in ["nothing", *parts]:
        without = [] if part == "nothing" else [f'without = ["{part}"]']
        answers, found = {}, []
        if memory:
            memory.set(without)
            for name, half in asked:
                answers.setdefault(name, []).extend(coding.ask(memory, half))
        if conversations_memory:
            conversations_memory.set(without)
            found = locomo.ask(conversations_memory, questions)
        line(table, part, answers, found)
