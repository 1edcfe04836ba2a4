"""What `scripts/bench/run` measures with: programs, transcripts, homes, payloads, and the table."""

import datetime
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


# Of the file that rows are kept in.
VERSION = 2


def say(text):
    print(text, file=sys.stderr, flush=True)


def call(*argv, **more):
    done = subprocess.run([str(a) for a in argv], stdout=subprocess.PIPE, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(str(a) for a in argv)} ended with {done.returncode}")
    return done.stdout


def name_of(size):
    """10 thousand, 1 million."""
    for unit, word in ((1_000_000, "million"), (1000, "thousand")):
        if size >= unit:
            return f"{size / unit:g} {word}"
    return str(size)


def disk(path):
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.lstat(os.path.join(where, name)).st_size for where, _, names in os.walk(path) for name in names)


class Table:
    """Rows by name (part, measured, against, budget, met), kept in a file, so that sizes can be measured one after another with the same binary."""

    def __init__(self, path, binary):
        self.path, self.binary = path, binary
        self.rows, self.notes, self.figures, self.part = {}, [], {}, ""
        try:
            with open(path, encoding="utf-8") as file:
                before = json.load(file)
            if before["binary"] == binary and before["v"] == VERSION:
                self.rows, self.notes, self.figures = before["rows"], before["notes"], before["figures"]
        except (OSError, ValueError, KeyError):
            pass

    def keep(self):
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump({"v": VERSION, "binary": self.binary, "rows": self.rows, "notes": self.notes, "figures": self.figures}, file)
        os.replace(self.path + ".new", self.path)

    def row(self, what, measured, against="", budget="", met=None):
        self.rows[what] = [self.part, measured, against, budget, "" if met is None else "yes" if met else "**no**"]
        self.keep()
        say(f"   {what}: {measured}" + (f"; {against}" if against else "") + (f"   (budget: {budget})" if budget else ""))

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)
            self.keep()
        say(f"   note: {text}")

    def times(self, what, ours, floor, p50, p99):
        """A row of three times in milliseconds, and how they stand to a floor's of the same run."""
        def ratio(q):
            return ours[q] / floor[q]
        budget = [f"p50 {p50}x" if p50 else "", f"p99 {p99}x" if p99 else ""]
        met = (not p50 or ratio("p50") <= p50) and (not p99 or ratio("p99") <= p99)
        self.row(what, times_of(ours), f"p50 {ratio('p50'):.2f}x, p99 {ratio('p99'):.2f}x of the floor", ", ".join(b for b in budget if b), met if p50 or p99 else None)

    def markdown(self):
        """The table, in the order of the parts whenever they were measured."""
        order = ["capture", "recall", "status", "searchable", "import", "drain", "alone", "big"]
        rows = sorted(self.rows.items(), key=lambda row: order.index(row[1][0]))
        lines = ["| what | measured | against | budget | met? |", "|---|---|---|---|---|"]
        lines += ["| " + " | ".join([what, *cells[1:]]) + " |" for what, cells in rows]
        return "\n".join(lines + [f"\n- {note}" for note in self.notes])


def times_of(figures):
    return "p50 {:.2f}, p95 {:.2f}, p99 {:.2f} ms".format(*(figures[q] / 1e6 for q in ("p50", "p95", "p99")))


class Setting:
    def __init__(self, args):
        self.args = args
        self.target = None
        self.dir = os.path.abspath(args.dir or os.path.join(self.target_directory(), "bench"))
        os.makedirs(self.dir, exist_ok=True)
        self.binary = os.path.abspath(args.binary) if args.binary else self.built(os.path.join(ROOT, "scripts", "dist"))
        with open(self.binary, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()[:16]
        self.table = Table(self.path("rows.json"), digest)
        self.env = {"PATH": os.environ["PATH"], "HOME": self.path("user"), "TZ": "UTC", "SINKER_AUTOSTART": "0"}
        os.makedirs(self.env["HOME"], exist_ok=True)
        for name, flags in {"floor": ["-static"], "nothing": ["-static", "-DNOTHING"]}.items():
            call("cc", "-O2", *flags, "-o", self.path(name), os.path.join(HERE, "floor.c"))
        call("cc", "-O2", "-o", self.path("launch"), os.path.join(HERE, "launch.c"))

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def target_directory(self):
        if not self.target:
            self.target = json.loads(call("cargo", "metadata", "--format-version", "1", "--no-deps", cwd=ROOT))["target_directory"]
        return self.target

    def built(self, *command):
        """Builds, and gives the file that the command says it made."""
        say(f"-- building: {os.path.relpath(command[0], ROOT)} {' '.join(command[1:])}")
        lines = call(*command).splitlines()
        return next(line.split(None, 1)[1] for line in lines if line.startswith("binary:"))

    def alone(self, *what):
        """What other engines do with the same text; the program is built when it is first needed."""
        if not self.args.alone:
            self.args.alone = self.built(os.path.join(ROOT, "scripts", "dist"), "--example", "alone")
        return json.loads(call(self.args.alone, *what, env=self.env))

    def home(self, size):
        return self.path(f"home-{size}")

    def with_home(self, home):
        return dict(self.env, SINKER_HOME=home)

    def corpus(self, size):
        """The folder with transcripts, and the account of it. It is called `projects`, so that it can be a host's root as well."""
        generator = os.path.join(HERE, "generator")
        digest = hashlib.sha256()
        for name in sorted(os.listdir(generator)):
            with open(os.path.join(generator, name), "rb") as file:
                digest.update(file.read())
        folder = self.path(f"corpus-{size}-{digest.hexdigest()[:6]}")
        about = os.path.join(folder, "about.json")
        if not os.path.exists(about):
            say(f"-- writing {size} observations")
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
            summary = self.generate("--observations", size, "--out", os.path.join(folder, "projects"), "--prompts", os.path.join(folder, "prompts"))
            with open(about, "w", encoding="utf-8") as file:
                file.write(summary)
        with open(about, encoding="utf-8") as file:
            return os.path.join(folder, "projects"), json.load(file)

    def generate(self, *args):
        return call(sys.executable, os.path.join(HERE, "corpus"), *args, env=dict(os.environ, SINKER_BENCH_DIR=self.dir))

    def prompts(self, size):
        folder, _ = self.corpus(size)
        with open(os.path.join(os.path.dirname(folder), "prompts"), encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def payloads(self, name, made):
        """Writes payloads, a file each, and the list of them that `launch` reads."""
        folder = self.path("payloads", name)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        with open(folder + ".list", "w", encoding="utf-8") as listed:
            for number, payload in enumerate(made):
                path = os.path.join(folder, f"{number:05d}.json")
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(payload, file, ensure_ascii=False)
                listed.write(path + "\n")
        return folder + ".list"

    def floor(self, *flags):
        folder = self.path("floor-spool")
        shutil.rmtree(folder, ignore_errors=True)
        for part in ("tmp", "new"):
            os.makedirs(os.path.join(folder, part), exist_ok=True)
        return [self.path("floor"), folder, *flags]

    def launch(self, home, *commands, times=None, warmup=20, evict=None):
        """Runs (name, list, argv) in turn; gives the figures by name. A drainer seems to be alive meanwhile."""
        argv = [self.path("launch"), "-n", str(times or self.args.launches), "-w", str(warmup)]
        argv += ["-e", evict] if evict else []
        for number, (name, listed, command) in enumerate(commands):
            argv += ([":::"] if number else []) + [name, listed, *command]
        stop = threading.Event()
        state = os.path.join(home, "state")

        def beat():
            os.makedirs(state, mode=0o700, exist_ok=True)
            with open(os.path.join(state, "heartbeat"), "a", encoding="utf-8"):
                os.utime(os.path.join(state, "heartbeat"))

        def beating():
            while not stop.wait(2):
                beat()

        beat()
        thread = threading.Thread(target=beating)
        thread.start()
        try:
            lines = call(*argv, env=self.with_home(home)).splitlines()
        finally:
            stop.set()
            thread.join()
        figures = {f["name"]: f for f in map(json.loads, lines)}
        for f in figures.values():
            if f["failed"]:
                self.table.note(f"{f['name']}: {f['failed']} of {f['n']} launches failed")
        return figures

    def machine(self):
        cpu = platform.machine()
        try:
            with open("/proc/cpuinfo", encoding="utf-8") as file:
                cpu = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), cpu)
        except OSError:
            pass
        kind = subprocess.run(["stat", "-f", "-c", "%T", self.dir], stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
        return (f"Measured {datetime.date.today()}, {os.cpu_count()} cores ({cpu}), {platform.system()} {platform.release()}, {kind}, load {os.getloadavg()[0]:.1f}, "
                f"{self.args.launches} launches, binary {os.path.getsize(self.binary) / 1e6:.1f} MB.")
