"""What a higher threshold costs and gives: the hook asked again at each. Not computed from the coverage that `search` tells: a hook looks into
fewer sessions, so what they know of the words at all is less, and a question may have too few words to be asked."""

from figures import Table, mean, short
from world import each

THRESHOLDS = [n / 100 for n in range(20, 85, 5)]


def run(memory, asked, settings):
    """`asked`: (set, questions). The table; other settings stay."""
    table = Table()
    others = [line for line in settings if not line.startswith("threshold")]
    for threshold in THRESHOLDS:
        memory.set([*others, f"threshold = {threshold:.2f}"])
        lengths = []
        for name, questions in asked:
            memory.forget_shown()
            told = each(questions, lambda number, q: len(memory.prompt(q["query"], q["project"], number)))
            for answerable, what in ((True, "answered"), (False, "silent")):
                part = [bool(length) is answerable for q, length in zip(questions, told) if bool(q.get("answerable")) is answerable]
                if part:
                    table.put(f"{threshold:.2f}", f"{name}: {what}", short(mean(part)))
            lengths += [length for q, length in zip(questions, told) if length and q.get("answerable")]
        table.put(f"{threshold:.2f}", "characters where an answerable one is told", f"{mean(lengths):.0f}")
    memory.set(settings)
    return table
