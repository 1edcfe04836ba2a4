"""scripts/bench-recall: how good recall is, in one table. See --help."""

import argparse
import os
import subprocess
import sys
import tempfile

import ablation
import coding
import locomo
from figures import Table, halves
from world import Memory, lines

SETS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sets")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def arguments():
    p = argparse.ArgumentParser(prog="scripts/bench-recall", description=__doc__)
    p.add_argument("--binary", help="default: builds the release profile")
    p.add_argument("--work", help="a folder where what was imported stays for the next run of the same binary's format (default: a temporary one)")
    p.add_argument("--coding", nargs="+", metavar="PATH", help="a folder of transcripts, a folder in it a project, and files of labelled questions about them")
    p.add_argument("--locomo", metavar="DIR", help=locomo.__doc__)
    p.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of [recall]")
    p.add_argument("--ablation", nargs="*", metavar="PART", help="all figures without each part of the ranking (default: every part)")
    p.add_argument("--misses", action="store_true", help="list what was not found")
    p.add_argument("--half", choices=["tune", "held", "both"], default="both")
    return p.parse_args()


def built():
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
    if subprocess.run(["cargo", "build", "--release", "--locked", "--quiet"], cwd=ROOT).returncode != 0:
        sys.exit("error: it does not build")
    return os.path.join(target, "release", "sinker")


def main():
    args = arguments()
    if not args.coding and not args.locomo:
        sys.exit("error: nothing to measure on\nhint: --coding TRANSCRIPTS [QUESTIONS...], --locomo DIR")
    if args.work:
        os.makedirs(args.work, exist_ok=True)
        measure(args, os.path.abspath(args.work))
    else:
        with tempfile.TemporaryDirectory(prefix="sinker-bench-recall-") as work:
            measure(args, work)


def measure(args, work):
    binary = os.path.abspath(args.binary) if args.binary else built()
    table = Table()
    coding_memory = conversations = None
    asked, questions = [], []
    if args.coding:
        transcripts, *files = args.coding
        coding_memory = Memory(binary, work, "coding")
        coding_memory.fill(coding.folders(transcripts))
        for file in files:
            for part, name in zip(halves(lines(file)), ("tune", "held")):
                asked.append((os.path.basename(file).removesuffix(".jsonl"), name, part))
        for set_name in ("queries", "silence", "nonsense"):
            for name in ("tune", "held"):
                asked.append((set_name, name, lines(os.path.join(SETS, f"{set_name}-{name}.jsonl"))))
        asked = [(set_name, name, part) for set_name, name, part in asked if args.half in (name, "both") and part]
    if args.locomo:
        conversations = Memory(binary, work, "locomo")
        conversations.fill(locomo.folders(args.locomo))
        questions = locomo.questions(args.locomo)
        if args.half != "both":
            questions = halves(questions)[args.half == "held"]
    settings = [line.replace("=", " = ", 1) for line in args.set]
    if args.ablation is not None:
        ablation.run(table, coding_memory, [(name, part) for name, _, part in asked], conversations, questions, args.ablation or ablation.PARTS)
        print(table.text(*ablation.HEADS))
        return
    if coding_memory:
        coding_memory.set(settings)
        for set_name, name, part in asked:
            found = coding.ask(coding_memory, part)
            coding.rows(table, f"{set_name}, {name}", found)
            if args.misses and name == "tune":
                print("\n".join(coding.misses(found)))
    if conversations:
        conversations.set(settings)
        locomo.rows(table, locomo.ask(conversations, questions))
    print(table.text("what", "measured"))


main()
