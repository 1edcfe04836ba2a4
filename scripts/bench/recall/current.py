"""Pairs of a decision and its replacement in sessions of realistic size: what is in force comes first, what was replaced is not told as current."""

import datetime
import json
import os
import random

import claims
from bm25 import Bm25
from figures import figure
from world import Memory, each, lines

START = datetime.datetime(2026, 1, 5, 9, 0)


def turn(session, cwd, number, said, at, parent):
    """The records of a turn: prompt, perhaps a call with its result, answer. Returns them and the uuid of the answer."""
    stamp = lambda n: (at + datetime.timedelta(seconds=n)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    records = [claims.record(session, cwd, 10 * number, "user", said["user"], stamp(0), parent)]
    tool = said.get("tool")
    if tool:
        call = claims.record(session, cwd, 10 * number + 1, "assistant", "", stamp(4), records[-1]["uuid"])
        call["message"]["content"] = [{"type": "tool_use", "id": f"toolu_{session[:8]}{number}", "name": tool["name"], "input": tool["input"]}]
        result = claims.record(session, cwd, 10 * number + 2, "user", "", stamp(5), call["uuid"])
        result["message"]["content"] = [{"type": "tool_result", "tool_use_id": f"toolu_{session[:8]}{number}", "content": tool["output"]}]
        for name in ("promptId", "promptSource", "turnOrigin", "origin"):
            result.pop(name, None)
        result["toolUseResult"] = {"stdout": tool["output"], "stderr": "", "interrupted": False}
        records += [call, result]
    records.append(claims.record(session, cwd, 10 * number + 3, "assistant", said["assistant"], stamp(20), records[-1]["uuid"]))
    return records


def sessions(memory, root, pairs, filler):
    """Writes the transcripts. Returns the folders, and for each pair the uuids of the old and of the new turn."""
    dice = random.Random(11)
    folders, uuids = {}, {}
    for pair in sorted(pairs, key=lambda p: p["id"]):
        project = pair["project"]
        cwd = memory.project(project)
        rest = [f for f in filler if f["project"] == project]
        start = START + datetime.timedelta(days=dice.randrange(60))
        for half, day in (("old", 0), ("new", pair["gap_days"])):
            session = claims.session_id(f"current/{pair['id']}/{half}")
            turns = dice.sample(rest, min(len(rest), dice.randrange(7, 20)))
            place = dice.randrange(1, len(turns))
            turns.insert(place, pair[half])
            records, parent = [], None
            for number, said in enumerate(turns):
                # What people say twice is another record with another time; the filler of two sessions is not one.
                at = start + datetime.timedelta(days=day, minutes=5 * number)
                records += turn(session, cwd, number, said, at, parent)
                parent = records[-1]["uuid"]
                if number == place:
                    mine = [r["uuid"] for r in records if r["timestamp"] >= at.strftime("%Y-%m-%dT%H:%M:%S.000Z")]
                    uuids[(pair["id"], half)] = mine
            folder = os.path.join(root, "current-transcripts", project)
            claims.write(folder, session, records)
            folders[project] = folder
    return sorted(folders.items()), uuids


def plain_bm25(folders):
    """What BM25 over the same records ranks, by project."""
    stores = {}
    for project, folder in folders:
        ids, texts = [], []
        for name in sorted(os.listdir(folder)):
            for record in lines(os.path.join(folder, name)):
                content = record["message"]["content"]
                ids.append(record["uuid"])
                texts.append(content if isinstance(content, str) else " ".join(str(b.get("text") or b.get("content") or b.get("input") or "") for b in content))
        stores[project] = (ids, Bm25(texts))

    def rank(project, query):
        ids, found = stores[project]
        return [ids[n] for _, n in found.scores(query)[:20]]

    return rank


def place(uuids, found):
    return next((n for n, uuid in enumerate(found) if uuid in uuids), 999)


def rows(table, binary, root, folder, half):
    pairs = lines(os.path.join(folder, f"current-{half}.jsonl"))
    both = [p for name in ("tune", "held") for p in lines(os.path.join(folder, f"current-{name}.jsonl"))]
    memory = Memory(binary, root, "current")
    folders, uuids = sessions(memory, root, both, lines(os.path.join(folder, "filler.jsonl")))
    memory.fill(folders)
    memory.forget_shown()
    rank = plain_bm25(folders)
    asked = [(p, q) for p in pairs for q in p["queries"]]

    def one(number, pair_query):
        pair, query = pair_query
        project = memory.project(pair["project"])
        found = [h["record"] for h in memory.search(query, "--limit", "20", "--project", project) if h["record"]]
        return pair, query, found, memory.prompt(query, pair["project"], 50_000 + number), rank(pair["project"], query)

    results = each(asked, one)
    for column, at in ((half, 2), (f"{half}, plain BM25", 4)):
        before, first, kept = [], [], []
        for result in results:
            pair, found = result[0], result[at]
            old, new = place(uuids[(pair["id"], "old")], found), place(uuids[(pair["id"], "new")], found)
            if pair.get("control"):
                kept.append(float(old == 0))
            else:
                before.append(float(new < old))
                first.append(float(new == 0))
        table.put("current: in force before replaced", column, figure(before))
        table.put("current: in force first", column, figure(first))
        table.put("current: controls, the one asked for first", column, figure(kept))
    told = [(p, told) for p, _, _, told, _ in results]
    table.put("current: replaced sentence injected", half, figure([float(p["old_gold"] in told) for p, told in told if not p.get("control")]))
    table.put("current: sentence in force injected", half, figure([float(p["new_gold"] in told) for p, told in told if not p.get("control")]))
    table.put("current: controls, sentence injected", half, figure([float(p["old_gold"] in told) for p, told in told if p.get("control")]))
    drawn = [json.loads(line) for line in memory.run("inspect", "--view", "claims", "--json").splitlines()]
    fallen = {r for c in drawn if c["status"] == "superseded" for r in c["evidence"][:1]}
    table.put("current: replaced turns known as such", half, figure([float(bool(fallen & set(uuids[(p['id'], 'old')]))) for p in pairs if not p.get("control")]))
    table.put("current: controls taken for replaced", half, figure([float(bool(fallen & set(uuids[(p['id'], 'old')]))) for p in pairs if p.get("control")]))
