"""Claims: of labelled sentences, which are claims and of which kind; of pairs, how the second stands to the first."""

import json
import os
import uuid

from world import Memory, lines

EXPECTED = {"supersedes": "supersedes", "same": "restates", "conflicts": "conflicts_with", "unrelated": None}


def record(session, cwd, number, speaker, text, time, parent=None):
    """A line of a transcript: one thing that user or assistant says."""
    content = text if speaker == "user" else [{"type": "text", "text": text}]
    line = {"parentUuid": parent, "isSidechain": False, "type": speaker, "uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{session}/{number}")),
            "timestamp": time, "sessionId": session, "cwd": cwd, "version": "2.1.0", "userType": "external", "gitBranch": "",
            "message": {"role": speaker, "content": content}}
    if speaker == "user":
        line.update({"promptId": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{session}/{number}/p")), "promptSource": "typed", "turnOrigin": "human", "origin": {"kind": "human"}})
    else:
        line["message"].update({"id": f"msg_{session[-12:]}{number}", "type": "message", "model": "m", "stop_reason": None, "usage": {"input_tokens": 1, "output_tokens": 1}})
    return line


def session_id(name):
    return str(uuid.uuid5(uuid.NAMESPACE_URL, name))


def write(folder, session, records):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, f"{session}.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in records)


def said(folder, name, cwd, speaker, text, day):
    """A session of one turn in which somebody says something."""
    session = session_id(name)
    other = "ok" if speaker == "user" else "go on"
    first, second = (speaker, text), ("assistant", other)
    if speaker == "assistant":
        first, second = ("user", other), (speaker, text)
    a = record(session, cwd, 1, *first, f"2026-0{1 + day // 28}-{1 + day % 28:02d}T10:00:00.000Z")
    b = record(session, cwd, 2, *second, f"2026-0{1 + day // 28}-{1 + day % 28:02d}T10:00:05.000Z", a["uuid"])
    write(folder, session, [a, b])
    return session


def drawn(binary, root, name, sets):
    """All claims of a memory whose project `n` holds the statements `sets[n]`, each (name, speaker, text)."""
    memory = Memory(binary, root, name)
    if not memory.is_filled():
        folders = []
        for project, statements in sets.items():
            folder = os.path.join(root, f"{name}-transcripts", project)
            for day, (key, speaker, text) in enumerate(statements):
                said(folder, f"{name}/{key}", memory.project(project), speaker, text, day)
            folders.append((project, folder))
        memory.fill(folders)
    return [json.loads(line) for line in memory.run("inspect", "--view", "claims", "--json").splitlines()]


def sentences(binary, root, file):
    rows = lines(file)
    name = "claims-" + os.path.basename(file).split(".")[0]
    # Each in a session of its own: sentences are judged one by one.
    claims = drawn(binary, root, name, {"all": [(r["id"], r["speaker"], r["text"]) for r in rows]})
    by = {}
    for claim in claims:
        by.setdefault(claim["session"], []).append(claim["type"])
    right = wrong = missed = told = labelled = 0
    for r in rows:
        kinds = by.get(session_id(f"{name}/{r['id']}"), [])
        labelled += r["claim"]
        told += bool(kinds) and r["claim"]
        right += sum(r["claim"] and kind == r["kind"] for kind in kinds)
        wrong += sum(not (r["claim"] and kind == r["kind"]) for kind in kinds)
        missed += r["claim"] and r["kind"] not in kinds
    return right, wrong, missed, told, labelled


def relations(binary, root, file):
    rows = lines(file)
    name = "claims-" + os.path.basename(file).split(".")[0]
    sets = {r["id"]: [(f"{r['id']}/1", r["first"]["speaker"], r["first"]["text"]), (f"{r['id']}/2", r["second"]["speaker"], r["second"]["text"])] for r in rows}
    claims = drawn(binary, root, name, sets)
    found = []
    for r in rows:
        first, second = session_id(f"{name}/{r['id']}/1"), session_id(f"{name}/{r['id']}/2")
        stands = {o["relation"] for c in claims if c["session"] == second for o in c["related"] if o["session"] == first}
        found.append((r, stands))
    return found


# Two sets of one make: the tables were tuned on the first half of the first; the second was written later, in wordings as far apart as
# could be, many of them without any cue.
WRITTEN = [("", ""), ("2", ", in other wordings")]


def rows(table, binary, root, folder, half):
    """The rows of one half of the labelled sets."""
    for number, of in WRITTEN:
        rows_of(table, binary, root, folder, half, number, of)


def rows_of(table, binary, root, folder, half, number, of_set):
    """The same of one set."""
    right, wrong, missed, told, labelled = sentences(binary, root, os.path.join(folder, f"claims{number}-{half}.jsonl"))
    table.put(f"claims{of_set}: precision, claim and kind", half, f"{right / max(1, right + wrong):.3f} ({right} of {right + wrong})")
    table.put(f"claims{of_set}: recall, claim and kind", half, f"{(labelled - missed) / max(1, labelled):.3f} ({labelled - missed} of {labelled}; {told} with any kind)")
    found = relations(binary, root, os.path.join(folder, f"relations{number}-{half}.jsonl"))
    for wanted, relation in EXPECTED.items():
        of = [stands for r, stands in found if r["relation"] == wanted]
        hit = sum((relation in stands) if relation else not stands for stands in of)
        table.put(f"pairs{of_set}: {wanted}", half, f"{hit} of {len(of)}")
    stated = [(r, stands) for r, stands in found if stands]
    good = sum(EXPECTED[r["relation"]] in stands for r, stands in stated)
    table.put(f"pairs{of_set}: precision of the relations told", half, f"{good / max(1, len(stated)):.3f} ({good} of {len(stated)})")
