"""Plain rankings beside Sinker: asked the same, over the same observations, with the same room for what is told.

A session is as good as its best observation. There is no threshold: whatever shares a word with the question is told."""

from bm25 import Bm25
from fts5 import Fts5

# What one event may be told: `event_chars`.
ROOM = 2500
SESSIONS = 3


def distinct(items):
    return list(dict.fromkeys(item for item in items if item))


class Peer:
    def __init__(self, name, observations, index, text):
        self.name, self.observations = name, observations
        self.index = index([text(o) for o in observations])

    def ranked(self, query, project=None):
        """(score, observation), best first."""
        found = ((score, self.observations[n]) for score, n in self.index.scores(query))
        return [(score, o) for score, o in found if project is None or project in o.projects]

    def answer(self, q):
        """The same as `coding.ask` gives of Sinker."""
        inside = self.ranked(q["query"], q["project"])
        return {
            "q": q,
            "everywhere": distinct(s for _, o in self.ranked(q["query"]) for s in o.sessions)[:10],
            "inside": distinct(s for _, o in inside for s in o.sessions)[:10],
            "records": distinct(o.record for _, o in inside)[:20],
            "told": told([o for _, o in inside]),
            "score": inside[0][0] / max(1, len(self.index.terms(q["query"]))) if inside else 0.0,
        }


def told(ranked):
    """The best records of the best sessions, each session with an equal part of the room."""
    said = []
    for session in distinct(o.sessions[0] for o in ranked)[:SESSIONS]:
        left = ROOM // SESSIONS - 1
        for o in ranked:
            line = f"[{o.record}] {o.text.strip()}"[:left]
            if o.sessions[0] == session and left > len(o.record) + 3:
                said.append(line)
                left -= len(line) + 1
    return "\n".join(said)


def all_of(observations, with_tools=True):
    """The rankings that are compared; without tool text where there is none to leave out."""
    peers = [Peer("plain BM25", observations, Bm25, lambda o: o.text), Peer("SQLite FTS5, porter", observations, Fts5, lambda o: o.text)]
    if with_tools:
        peers.insert(1, Peer("BM25, said only", [o for o in observations if o.said], Bm25, lambda o: o.said))
    return peers
