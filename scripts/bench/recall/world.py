"""Memories in a temporary place, filled by `sinker import` and asked through the commands and hooks that users have."""

import concurrent.futures
import json
import os
import shutil
import subprocess
import sys

SECRET = "c0de" * 16
# Two cores are what the project's machines have; a question takes a few milliseconds.
AT_ONCE = 2


class Memory:
    """One data directory. `settings` are lines of its `[recall]` table."""

    def __init__(self, binary, root, name, settings=()):
        self.binary, self.root = binary, root
        self.home = os.path.join(root, name)
        self.user = os.path.join(root, "user")
        self.config = os.path.join(root, "config.toml")
        self.clear_settings()
        os.makedirs(os.path.join(self.user, ".claude", "projects"), exist_ok=True)
        if not os.path.exists(self.home):
            os.makedirs(self.home, mode=0o700)
            with open(os.open(os.path.join(self.home, "secret"), os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
                file.write(SECRET + "\n")

    def set(self, lines):
        """Writes the settings of `[recall]`; each line as `key = value`. A busy machine is not to be taken for silence: that is measured elsewhere."""
        with open(self.config, "w") as file:
            file.write("[recall]\ndeadline_ms = 1000\n" + "".join(line + "\n" for line in lines))

    def clear_settings(self):
        self.set([])

    def environment(self):
        return {"HOME": self.user, "PATH": os.environ.get("PATH", ""), "TZ": "UTC", "SINKER_HOME": self.home, "SINKER_CONFIG": self.config,
                "SINKER_AUTOSTART": "0", "CLAUDE_CONFIG_DIR": os.path.join(self.user, ".claude")}

    def run(self, *args, stdin=""):
        done = subprocess.run([self.binary, *args], env=self.environment(), cwd=self.root, input=stdin, capture_output=True, text=True, encoding="utf-8", errors="replace")
        if done.returncode not in (0, 3):
            sys.exit(f"error: sinker {' '.join(args)[:200]}: exit {done.returncode}: {done.stderr[:500]}")
        return done.stdout

    def project(self, name):
        """The directory that stands for a project."""
        path = os.path.join(self.root, "projects", name)
        os.makedirs(path, exist_ok=True)
        return path

    def is_filled(self):
        return os.path.exists(os.path.join(self.home, "filled"))

    def fill(self, folders):
        """Imports each (project, folder), once; kept for the next run under the same place."""
        if self.is_filled():
            return
        for project, folder in folders:
            self.run("import", folder, "--project", self.project(project))
        open(os.path.join(self.home, "filled"), "w").close()

    def search(self, query, *more):
        """Hits of `sinker search`, as objects."""
        text = self.run("search", "--json", *more, "--", query)
        return json.loads(text)["hits"] if text.strip() else []

    def prompt(self, query, project, number, event="user-prompt-submit", **more):
        """What a hook says to a prompt in a session of its own; empty: nothing."""
        payload = {"session_id": f"00000000-0000-4000-9000-{number:012d}", "transcript_path": os.path.join(self.user, ".claude", "projects", "x", f"{number}.jsonl"),
                   "cwd": self.root, "permission_mode": "default", "hook_event_name": "UserPromptSubmit", "prompt": query, "prompt_id": f"00000000-0000-4000-8000-{number:012d}", **more}
        said = self.run("hook", "claude", event, self.project(project), "--only", "recall", stdin=json.dumps(payload))
        return json.loads(said)["hookSpecificOutput"]["additionalContext"] if said.strip() else ""

    def forget_shown(self):
        """Each run asks as if nothing had been shown before."""
        for name in ("shown", "launches"):
            shutil.rmtree(os.path.join(self.home, "state", name), ignore_errors=True)


def each(items, work):
    """`work(n, item)` of every item, a few at once, in order."""
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda pair: work(*pair), enumerate(items)))


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]
