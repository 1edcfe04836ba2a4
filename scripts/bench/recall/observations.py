"""What the product stored, read back through `sinker export`: the same observations for every system that is compared."""

import json
import os
from dataclasses import dataclass

# What a tool printed, or a page; the rest was said by somebody.
TOOLS = ("tool", "web")


@dataclass(frozen=True)
class Observation:
    record: str
    sessions: tuple
    projects: frozenset
    said: str
    tool: str
    place: tuple

    @property
    def text(self):
        return self.said + "\n" + self.tool


def read(memory):
    """All that has words, in the order of time. A project by the name of its directory, as the questions name it."""
    rows = [json.loads(line) for line in memory.run("export").splitlines()]
    project = {row["facts"]["id"]: os.path.basename(row["project"]["root"]) for row in rows if row.get("t") == "session"}
    found = []
    for row in rows:
        if row.get("t") != "observation":
            continue
        parts = {True: [], False: []}
        for block in row["blocks"]:
            parts[block["k"] == "text" and row["speaker"] not in TOOLS].append(block.get("t") or "")
        said, tool = ("\n".join(parts[key]).strip() for key in (True, False))
        sessions = tuple(dict.fromkeys(link["session"] for link in row["links"]))
        if said or tool:
            projects = frozenset(project[session] for session in sessions if session in project)
            found.append(Observation(row["record"] or row["id"], sessions, projects, said, tool, (row["time_ms"] or 0, row["at"])))
    return sorted(found, key=lambda o: (o.place, o.record))
