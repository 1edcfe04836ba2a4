"""scripts/bench-recall: how good recall is, in one table. See --help."""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import ablation
import claims
import coding
import current
import curve
import locomo
import observations
import peers
import reasons
from figures import Table, halves
from world import Memory, lines

SETS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sets")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
HALVES = ("tune", "held")
SINKER = "Sinker"


def arguments():
    p = argparse.ArgumentParser(prog="scripts/bench-recall", description=__doc__)
    p.add_argument("--binary", help="default: builds the release profile")
    p.add_argument("--work", help="a folder where what was imported stays for the next run of the same binary's format (default: a temporary one)")
    p.add_argument("--coding", nargs="+", metavar="PATH", help="a folder of transcripts, a folder in it a project, and files of labelled questions about them")
    p.add_argument("--claims", action="store_true", help="claims and what is in force, on sets of our own; needs no other data")
    p.add_argument("--locomo", metavar="DIR", help=locomo.__doc__)
    p.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of [recall]")
    p.add_argument("--ablation", nargs="*", metavar="PART", help="only: all figures without each part of the ranking (default: every part)")
    p.add_argument("--curve", action="store_true", help="only: how many are answered and how many met with silence at thresholds from .20 to .80")
    p.add_argument("--misses", action="store_true", help="list what was not found in the tune half, and why")
    p.add_argument("--no-peers", action="store_true", help="Sinker alone")
    p.add_argument("--half", choices=[*HALVES, "both"], default="both", help="both: side by side, for the closing run")
    return p.parse_args()


def built():
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
    if subprocess.run(["cargo", "build", "--release", "--locked", "--quiet"], cwd=ROOT).returncode != 0:
        sys.exit("error: it does not build")
    return os.path.join(target, "release", "sinker")


def main():
    args = arguments()
    if not args.coding and (args.curve or args.misses or not (args.locomo or args.claims)):
        sys.exit("error: nothing to measure on\nhint: --coding TRANSCRIPTS [QUESTIONS...], --locomo DIR, --claims; --curve and --misses need the first")
    if args.work:
        os.makedirs(args.work, exist_ok=True)
        measure(args, os.path.abspath(args.work))
    else:
        with tempfile.TemporaryDirectory(prefix="sinker-bench-recall-") as work:
            measure(args, work)


def measure(args, work):
    binary = os.path.abspath(args.binary) if args.binary else built()
    transcripts = conversations = None
    asked, questions = [], {}
    names = [name for name in HALVES if args.half in (name, "both")]
    settings = [line.replace("=", " = ", 1) for line in args.set]
    if args.coding:
        folder, *files = args.coding
        transcripts = Memory(binary, work, "coding")
        transcripts.fill(coding.folders(folder))
        transcripts.set(settings)
        asked = [(set_name, half, part) for set_name, half, part in sets(files, names) if part]
    if args.locomo:
        conversations = Memory(binary, work, "locomo")
        conversations.fill(locomo.folders(args.locomo))
        conversations.set(settings)
        every = halves(locomo.questions(args.locomo))
        questions = {half: every[HALVES.index(half)] for half in names}
    if args.ablation is not None:
        table = Table()
        ablation.run(table, transcripts, [(name, part) for name, _, part in asked], conversations, sum(questions.values(), []), args.ablation or ablation.PARTS)
        print(table.text("without"))
    elif args.curve:
        print(curve.run(transcripts, merged(asked), settings).text("threshold"))
    else:
        tables = [Table()] + [Table()] * (len(names) > 1)
        if transcripts:
            of_transcripts(args, tables, transcripts, asked)
        if conversations:
            of_conversations(args, tables, conversations, questions)
        if args.claims:
            stated = Table()
            for half in names:
                claims.rows(stated, binary, work, SETS, half)
                current.rows(stated, binary, work, SETS, half)
            tables.append(stated)
        for table in (table for table in tables if table.rows):
            print(table.text("what"), end="\n\n")


def sets(files, names):
    """(set, half, questions) of the files given and of the sets that are ours."""
    for file in files:
        for half, part in zip(HALVES, halves(lines(file))):
            if half in names:
                yield os.path.basename(file).removesuffix(".jsonl"), half, part
    for name in ("queries", "silence", "nonsense"):
        for half in names:
            yield name, half, lines(os.path.join(SETS, f"{name}-{half}.jsonl"))


def merged(parts):
    """The halves of a set as one, (set, items)."""
    whole = {}
    for name, _, items in parts:
        whole.setdefault(name, []).extend(items)
    return list(whole.items())


def of_transcripts(args, tables, memory, asked):
    """The first table has systems side by side; the last one, where there are two, Sinker's halves."""
    answers = [(name, half, coding.ask(memory, part, 1000 * n)) for n, (name, half, part) in enumerate(asked)]
    seen = observations.read(memory)
    if len(tables) > 1:
        for half in HALVES:
            put_all(tables[-1], half, [(name, found) for name, of, found in answers if of == half])
    put_all(tables[0], SINKER, merged(answers))
    if not args.no_peers:
        for peer in peers.all_of(seen):
            put_all(tables[0], peer.name, [(name, [peer.answer(q) for q in part]) for name, part in merged(asked)])
    if args.misses and args.half != "held":
        judge, counts = reasons.Judge(seen, threshold(memory)), Table()
        for name, half, found in answers:
            if half == "tune":
                reasons.count(counts, judge, name, found)
                print("\n".join(reasons.listed(judge, found)))
        print(f"\n{counts.text('misses of the tune half, by their reason')}\n")


def put_all(table, column, answers):
    for name, found in answers:
        coding.put(table, column, name, found)
    ours = dict(answers)
    if ours.get("queries") and ours.get("silence"):
        coding.separate(table, column, "queries against silence", ours["queries"], ours["silence"])


def of_conversations(args, tables, memory, questions):
    found = {half: locomo.ask(memory, part) for half, part in questions.items()}
    if len(tables) > 1:
        for half in HALVES:
            locomo.put(tables[-1], half, found[half])
    locomo.put(tables[0], SINKER, sum(found.values(), []))
    if not args.no_peers:
        for peer in peers.all_of(observations.read(memory), with_tools=False):
            locomo.put(tables[0], peer.name, locomo.ask_peer(peer, sum(questions.values(), [])))


def threshold(memory):
    """The one in force."""
    rows = [json.loads(line) for line in memory.run("config", "show", "--json").splitlines()]
    return next(float(row["value"]) for row in rows if row["key"] == "recall.threshold")


main()
