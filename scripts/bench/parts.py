"""The measurements of `scripts/bench/run`; each adds its rows to the table."""

import json
import os
import resource
import shutil
import signal
import subprocess
import threading
import time

from setting import disk, name_of, say, times_of

# What recall is asked with: the event, and how a payload is made from a question about the corpus.
KINDS = {
    "prompt of a dozen words": ("user-prompt-submit", lambda ask: {"hook_event_name": "UserPromptSubmit", "prompt": ask["prompt"]}),
    "prompt of 2,000 words": ("user-prompt-submit", lambda ask: ask["long"] and {"hook_event_name": "UserPromptSubmit", "prompt": ask["long"]}),
    "a tool has failed": ("post-tool-use-failure", lambda ask: ask["command"] and {
        "hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_input": {"command": ask["command"], "description": "Try it"},
        "error": f"Exit code 1\n{ask['error']}\n" + "test result: 211 passed\n" * 40, "is_interrupt": False}),
    "before an edit": ("pre-tool-use", lambda ask: ask["file"] and {
        "hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_input": {"file_path": ask["file"], "old_string": "let old = 1;\n" * 20, "new_string": "let new = 2;\n" * 20}}),
}


def transcript_of(setting, size, ask):
    return os.path.join(setting.corpus(size)[0], "".join(c if c.isalnum() else "-" for c in ask["cwd"]), ask["session"] + ".jsonl")


def payload(setting, size, ask, number, more):
    # A session of its own each, or its budget would be spent after a few.
    return {"session_id": f"00000000-0000-4000-9000-{number:012d}", "transcript_path": transcript_of(setting, size, ask), "cwd": ask["cwd"], "permission_mode": "default",
            "prompt_id": f"00000000-0000-4000-8000-{number:012d}", "tool_use_id": f"toolu_01{number:022d}", **more}


def capture(setting, sizes):
    size, table, home = sizes[0], setting.table, setting.path("home-capture")
    shutil.rmtree(home, ignore_errors=True)
    asked = setting.prompts(size)
    tool = {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "cargo test --lib", "description": "Run the tests"}, "duration_ms": 122,
            "tool_response": {"stdout": "test result: ok. 211 passed\n" * 40, "stderr": "", "interrupted": False, "isImage": False}}
    stop = {"hook_event_name": "Stop", "stop_hook_active": False, "last_assistant_message": "All done: fixed.", "background_tasks": [], "session_crons": []}

    def made(more):
        return [payload(setting, size, asked[n % len(asked)], n, more) for n in range(setting.args.launches + 20)]

    tool, stop = setting.payloads("tool", made(tool)), setting.payloads("stop", made(stop))
    hook = [setting.binary, "hook", "claude"]
    got = setting.launch(home, ("nothing", tool, [setting.path("nothing")]), ("floor", tool, setting.floor()), ("hook", tool, hook + ["post-tool-use", "--only", "capture"]))
    table.row("a static C program that does nothing", times_of(got["nothing"]))
    table.row("floor, unsynced: the system calls of a capture in static C", times_of(got["floor"]))
    table.times("capture hook, unsynced (post-tool-use)", got["hook"], got["floor"], 1.3, 2)
    got = setting.launch(home, ("floor", stop, setting.floor("--sync")), ("hook", stop, hook + ["stop", "--only", "capture"]))
    table.row("floor, synced", times_of(got["floor"]))
    table.times("capture hook, synced (stop)", got["hook"], got["floor"], 1.3, 2)
    shutil.rmtree(home, ignore_errors=True)


def watch_memory(pid, peak):
    """Samples anonymous resident memory until the process is gone. Units: KiB."""
    try:
        while True:
            with open(f"/proc/{pid}/status", encoding="ascii") as file:
                found = [int(line.split()[1]) for line in file if line.startswith("RssAnon:")]
            if not found:
                return
            peak.append(found[0])
            time.sleep(0.01)
    except OSError:
        return


def watched(setting, home, *command, more=None):
    """Runs a command of Sinker; gives its answer, seconds, seconds of computing, and the peak of memory in KiB."""
    used, begun, peak = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic(), []
    env = dict(setting.with_home(home), **(more or {}))
    child = subprocess.Popen([setting.binary, *command], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    thread = threading.Thread(target=watch_memory, args=(child.pid, peak))
    thread.start()
    printed = child.communicate()[0]
    seconds = time.monotonic() - begun
    thread.join()
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        answer = json.loads(printed.splitlines()[-1])
    except (ValueError, IndexError):
        answer = {}
    if child.returncode != 0:
        setting.table.note(f"{' '.join(command[:2])} ended with {child.returncode}: {printed.strip()[:200]}")
    return answer, seconds, now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime, max(peak, default=0)


def imports(setting, sizes):
    table = setting.table
    for size in sizes:
        transcripts, about = setting.corpus(size)
        home, text = setting.home(size), about["text_bytes"]
        shutil.rmtree(home, ignore_errors=True)
        say(f"-- importing {about['observations']} observations: {about['bytes'] / 1e6:.0f} MB of transcripts, {text / 1e6:.0f} MB of text")
        answer, seconds, cpu, peak = watched(setting, home, "import", transcripts, "--json")
        if answer.get("observations") != about["observations"]:
            table.note(f"import of {size}: {answer.get('observations')} observations stored, {about['observations']} written")
        table.figures[f"rate {size}"] = text / 1e6 / seconds
        table.row(f"import, {name_of(size)} observations", f"{text / 1e6 / seconds:.1f} MB/s of text", f"{seconds:.1f} s, {cpu:.1f} s of computing, {about['bytes'] / 1e6 / seconds:.0f} MB/s of transcripts")
        table.row(f"import, {name_of(size)}: memory, anonymous, peak", f"{peak / 1024:.0f} MB", "", "under 200 MB", peak < 200 * 1024)
        files = {name: disk(os.path.join(home, name)) for name in os.listdir(home)}
        store, index = sum(bytes for name, bytes in files.items() if name.startswith("store")), files.get("index", 0)
        table.row(f"disk, {name_of(size)}: store + index", f"{(store + index) / text:.2f}x of the text", f"{store / text:.2f}x + {index / text:.2f}x", "under 1.2x", store + index < 1.2 * text)


def drain(setting, sizes):
    for size in sizes:
        if size > 100_000:
            continue
        transcripts, about = setting.corpus(size)
        home = setting.path("home-drain")
        shutil.rmtree(home, ignore_errors=True)
        answer, seconds, cpu, peak = watched(setting, home, "drain", "--once", "--json", more={"CLAUDE_CONFIG_DIR": os.path.dirname(transcripts)})
        if answer.get("observations") != about["observations"]:
            setting.table.note(f"drain of {size}: {answer.get('observations')} observations stored, {about['observations']} written")
        setting.table.row(f"drain, {name_of(size)} observations", f"{about['text_bytes'] / 1e6 / seconds:.1f} MB/s of text", f"{seconds:.1f} s, {cpu:.1f} s of computing, {peak / 1024:.0f} MB")
        shutil.rmtree(home, ignore_errors=True)


def recall(setting, sizes):
    table = setting.table
    for size in sizes:
        home = setting.home(size)
        if not os.path.exists(home):
            table.note(f"recall, {size}: there is no home; measure `import` first, with --keep")
            continue
        evicted = setting.path("evicted.list")
        with open(evicted, "w", encoding="utf-8") as file:
            file.write(setting.binary + "\n")
            for where, _, names in os.walk(home):
                file.writelines(os.path.join(where, name) + "\n" for name in names)
        os.sync()
        for number, (kind, (event, more)) in enumerate(KINDS.items()):
            asked = [ask for ask in setting.prompts(size) if more(ask)]
            made = [payload(setting, size, asked[n % len(asked)], n, more(asked[n % len(asked)])) for n in range(setting.args.launches + 20)]
            listed = setting.payloads(f"recall-{number}", made)
            command = [setting.binary, "hook", "claude", event, "--only", "recall"]
            shutil.rmtree(os.path.join(home, "state", "shown"), ignore_errors=True)
            got = setting.launch(home, ("floor", listed, setting.floor()), ("recall", listed, command))
            ours, what = got["recall"], f"recall, {name_of(size)}, {kind}"
            table.figures[f"{kind} {size}"] = ours["p50"] / got["floor"]["p50"]
            table.times(what, ours, got["floor"], 6, 25)
            table.rows[what][1] += f"; {ours['n'] - ours['silent']} of {ours['n']} answered"
            if number < 2:
                cold = setting.launch(home, ("cold", listed, command), times=40, warmup=0, evict=evicted)["cold"]
                table.row(f"{what}, cold files", times_of(cold))
    for kind in KINDS:
        measured = sorted(int(key.rsplit(" ", 1)[1]) for key in table.figures if key.startswith(kind + " "))
        if len(measured) > 1:
            small, large = measured[0], measured[-1]
            growth = table.figures[f"{kind} {large}"] / table.figures[f"{kind} {small}"]
            table.row(f"growth of recall, {kind}", f"{growth:.2f}x (p50)", f"{name_of(small)} to {name_of(large)}", "2x from 10 thousand to a million", growth <= 2)


def status(setting, sizes):
    empty = setting.payloads("status", [{}])
    for size in sizes:
        if os.path.exists(setting.home(size)):
            got = setting.launch(setting.home(size), ("floor", empty, setting.floor()), ("status", empty, [setting.binary, "status", "--json"]), times=min(200, setting.args.launches))
            setting.table.times(f"`status`, {name_of(size)}", got["status"], got["floor"], 3, None)


def searchable(setting, sizes):
    """A drainer runs; a record is written and a hook fired; how long until a search finds it."""
    size, table = sizes[-1], setting.table
    live = setting.path("live")
    folder = os.path.join(live, "projects", "-home-dev-live")
    shutil.rmtree(live, ignore_errors=True)
    os.makedirs(folder)
    env = dict(setting.with_home(setting.home(size)), CLAUDE_CONFIG_DIR=live)
    drainer = subprocess.Popen([setting.binary, "drain"], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    took, session = [], "11111111-1111-4111-8111-111111111111"
    path = os.path.join(folder, session + ".jsonl")
    try:
        time.sleep(2)
        for number in range(30):
            word = f"zyxqua{number}vort{os.getpid()}"
            record = {"parentUuid": None, "isSidechain": False, "type": "user", "uuid": f"22222222-2222-4222-8222-{number:012d}", "timestamp": f"2026-06-01T10:00:{number:02d}.000Z",
                      "message": {"role": "user", "content": f"please look at {word} again"}, "promptSource": "typed", "origin": {"kind": "human"}, "userType": "external",
                      "cwd": "/home/dev/live", "sessionId": session, "version": "2.1.332", "gitBranch": "main"}
            told = {"session_id": session, "transcript_path": path, "cwd": "/home/dev/live", "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": f"toolu_{number}"}
            with open(path, "a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
            begun = time.monotonic()
            subprocess.run([setting.binary, "hook", "claude", "post-tool-use", "--only", "capture"], env=env, input=json.dumps(told), text=True, stdout=subprocess.DEVNULL, check=False)
            while time.monotonic() - begun < 10:
                found = subprocess.run([setting.binary, "search", word, "--all", "--limit", "1", "--json"], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
                if word in found.stdout.replace(f'"query":"{word}"', ""):
                    break
                time.sleep(0.01)
            else:
                table.note(f"searchable: {word} was not found within 10 s")
            took.append(time.monotonic() - begun)
            time.sleep(0.1 + 0.05 * (number % 7))
        took.sort()
        p95 = took[int(len(took) * 0.95)]
        table.row(f"searchable after the hook, drainer running, {name_of(size)}", f"p50 {took[len(took) // 2] * 1000:.0f}, p95 {p95 * 1000:.0f} ms", "", "p95 under 1 s", p95 < 1)
        time.sleep(3)
        peak = []
        if drainer.poll() is not None:
            table.note(f"searchable: the drainer ended with {drainer.returncode}")
            return
        with open(f"/proc/{drainer.pid}/status", encoding="ascii") as file:
            peak = [int(line.split()[1]) for line in file if line.startswith("RssAnon:")]
        table.row(f"drainer at rest, {name_of(size)}: memory, anonymous", f"{peak[0] / 1024:.0f} MB", "", "under 200 MB", peak[0] < 200 * 1024)
    finally:
        if drainer.poll() is None:
            drainer.send_signal(signal.SIGTERM)
            drainer.wait()


def alone(setting, sizes):
    """Other engines with the same text; a hundred thousand observations tell as much as a million."""
    size, table = max([size for size in sizes if size <= 100_000] or sizes[:1]), setting.table
    transcripts, about = setting.corpus(size)
    text, ours = about["text_bytes"] / 1e6, table.figures.get(f"rate {size}")
    for what, name, file in (("tantivy", "Tantivy alone, the same schema, analysis and threads", "index"), ("fts5", "SQLite FTS5 alone, porter, with its copy of the text", "fts5.db")):
        scratch = setting.path("alone")
        shutil.rmtree(scratch, ignore_errors=True)
        os.makedirs(scratch)
        got = setting.alone(what, transcripts, scratch if what == "tantivy" else os.path.join(scratch, file))
        rate = text / got["seconds"]
        table.row(f"{name}, {name_of(size)}", f"{rate:.1f} MB/s of text", f"{disk(os.path.join(scratch, file)) / 1e6 / text:.2f}x of the text on disk")
        if ours:
            table.row(f"import against {name.split(' alone')[0]} alone", f"{ours / rate:.2f}x", "", *(["at least 0.5x", ours / rate >= 0.5] if what == "tantivy" else []))
        shutil.rmtree(scratch, ignore_errors=True)
    size = sizes[0]
    got = setting.alone("redaction", setting.corpus(size)[0])
    table.row("redaction, one thread, whole lines", f"{got['bytes'] / 1e6 / got['seconds']:.0f} MB/s")


def big(setting, _):
    """Memory does not grow with a file, a line, their number or the spool. Takes long, so only when asked for."""
    for what, args in (("one transcript of 2 GB", ["--one-file", 2_000_000_000]), ("one line of 300 MB", ["--one-line", 300_000_000]), ("30,000 transcripts", ["--transcripts", 30_000]),
                       ("200,000 entries in the spool", ["--spool", 200_000])):
        folder, home = setting.path("big"), setting.path("home-big")
        for path in (folder, home):
            shutil.rmtree(path, ignore_errors=True)
        about = json.loads(setting.generate(*args, "--out", os.path.join(folder, "projects"), *(["--home", home] if "--spool" in args else [])))
        command = ["drain", "--once", "--json"] if "--spool" in args else ["import", os.path.join(folder, "projects"), "--json"]
        answer, seconds, _, peak = watched(setting, home, *command, more={"CLAUDE_CONFIG_DIR": os.path.join(setting.path("user"), "none")})
        if answer.get("observations") != about["observations"]:
            setting.table.note(f"{what}: {answer.get('observations')} observations stored and {answer.get('odd')} set aside, {about['observations']} written")
        setting.table.row(f"{what}: memory, anonymous, peak", f"{peak / 1024:.0f} MB", f"{seconds:.0f} s, {about['bytes'] / 1e6 / seconds:.0f} MB/s of transcripts", "under 200 MB", peak < 200 * 1024)
        for path in (folder, home):
            shutil.rmtree(path, ignore_errors=True)
