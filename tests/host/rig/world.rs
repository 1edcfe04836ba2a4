//! One user's machine: a home, a project under git, the client, and Sinker with its defaults in that home.

use super::api::{Api, text};
use serde_json::{Value, json};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Made up. The client shows its end when it asks whether to use it, which is answered beforehand.
const KEY: &str = "sk-ant-api03-made-up-for-tests-0000000000000000000000000000-AAAA";

/// No step of a scenario takes longer; one that does hangs. Debug builds on two busy cores are slow.
pub const LIMIT: Duration = Duration::from_secs(90);

/// What a past session settled, in the scenarios that ask for it later.
pub const DECISION: &str =
    "The harbor gateway should listen on port 7443 because 8080 belongs to the tide service.";

/// The machine of a scenario; gone when it is dropped.
pub struct World {
    dir: tempfile::TempDir,
    client: PathBuf,
    /// What the model is asked, and what it says.
    pub api: Api,
}

/// What a headless session left.
#[derive(Debug)]
pub struct Said {
    /// Exit code; `None` when it was killed.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it complained of.
    pub stderr: String,
    /// The answer, with `--output-format json`.
    pub result: Value,
}

impl Said {
    /// The session's id.
    pub fn session(&self) -> String {
        self.result["session_id"].as_str().unwrap_or_else(|| panic!("no session id: {self:?}")).to_owned()
    }
}

/// One event as the spool holds it.
#[derive(Debug, Clone)]
pub struct Pointer {
    /// Our name of the event.
    pub event: String,
    /// Source, reason, trigger, or kind of error.
    pub reason: String,
    /// The session.
    pub session: String,
    /// The whole entry.
    pub entry: Value,
}

/// `event` or `event(reason)`, joined by spaces.
pub fn line(pointers: &[Pointer]) -> String {
    pointers.iter().map(Pointer::name).collect::<Vec<_>>().join(" ")
}

/// Asserts which events rang, in their order; `a/b` are two that may change places, as processes do. One with a `?` may be missing: two events
/// of one name at one size of the transcript are one pointer, and a headless client that ends takes its async hooks with it.
pub fn assert_rang(pointers: &[Pointer], expected: &str) {
    let mut rang = pointers.iter().map(Pointer::name).peekable();
    for group in expected.split_whitespace() {
        let mut names: Vec<&str> = group.split('/').collect();
        while let Some(at) = rang.peek().and_then(|r| names.iter().position(|n| n.trim_end_matches('?') == r))
        {
            names.remove(at);
            rang.next();
        }
        names.retain(|name| !name.ends_with('?'));
        assert!(names.is_empty(), "{names:?} did not ring where {expected:?} says: {}", line(pointers));
    }
    assert_eq!(rang.next(), None, "more than {expected:?}: {}", line(pointers));
}

impl Pointer {
    fn name(&self) -> String {
        if self.reason.is_empty() { self.event.clone() } else { format!("{}({})", self.event, self.reason) }
    }
}

impl World {
    /// A home in which the client has been set up, and an empty project that it trusts.
    pub fn new(client: &Path) -> Self {
        let dir = tempfile::Builder::new().prefix("sinker-host-").tempdir().unwrap();
        let world = Self { dir, client: client.to_owned(), api: Api::start() };
        std::fs::create_dir_all(world.dir.path().join("bin")).unwrap();
        std::os::unix::fs::symlink(client, world.dir.path().join("bin/claude")).unwrap();
        for folder in [world.claude_dir(), world.project().join("src"), world.home().join(".config/sinker")] {
            std::fs::create_dir_all(folder).unwrap();
        }
        let last = KEY.chars().skip(KEY.len() - 20).collect::<String>();
        let mut state = json!({
            "hasCompletedOnboarding": true, "theme": "dark", "numStartups": 5, "installMethod": "native",
            "lastOnboardingVersion": "2.1.332", "lastReleaseNotesSeen": "2.1.332",
            "customApiKeyResponses": { "approved": [last], "rejected": [] }, "projects": {},
        });
        let project = world.project().to_str().unwrap().to_owned();
        state["projects"][project] =
            json!({ "hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true });
        write(&world.home().join(".claude.json"), &state.to_string());
        // A debug build on a busy machine is no measure of the deadline; that is what the bench is for.
        write(&world.home().join(".config/sinker/config.toml"), "[recall]\ndeadline_ms = 1000\n");
        world.git(&["init", "-q", "-b", "main"]);
        // Longer than what is said of it: a tiny file is told of by nobody.
        let code = format!(
            "pub fn port() -> u16 {{\n    8080\n}}\n{}",
            "// The harbor has one gateway.\n".repeat(20)
        );
        write(&world.project().join("src/lib.rs"), &code);
        write(&world.project().join("README.md"), "# harbor\n");
        world.git(&["add", "."]);
        world.git(&["commit", "-q", "-m", "first"]);
        world
    }

    /// The user's home.
    pub fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// The host's folder.
    pub fn claude_dir(&self) -> PathBuf {
        self.home().join(".claude")
    }

    /// The project's directory.
    pub fn project(&self) -> PathBuf {
        self.dir.path().join("harbor")
    }

    /// A path below Sinker's data directory, where it is by default.
    pub fn data(&self, path: &str) -> PathBuf {
        self.home().join(".local/share/sinker").join(path)
    }

    /// Runs git in the project; it must succeed.
    pub fn git(&self, args: &[&str]) {
        let mut command = self.base("git");
        command.args(["-c", "user.name=Dev", "-c", "user.email=dev@example.com"]).args(args);
        let out = command.output().unwrap();
        assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    }

    /// The user's PATH: the client first.
    fn path(&self) -> OsString {
        let mut path = self.dir.path().join("bin").into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        path
    }

    /// Any program with the user's environment and nothing of the developer's; its directory is the project's.
    pub fn base(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.project())
            .env_clear()
            .env("PATH", self.path())
            .env("HOME", self.home())
            .env("TZ", "UTC")
            .env("LANG", "C.UTF-8")
            .env("TERM", "xterm-256color")
            .env("SHELL", "/bin/bash")
            .env("TMPDIR", self.dir.path());
        command
    }

    /// The client, turned towards the scripted API.
    pub fn claude(&self, args: &[&str]) -> Command {
        let mut command = self.base(&self.client);
        command
            .args(args)
            .env("ANTHROPIC_BASE_URL", self.api.url())
            .env("ANTHROPIC_API_KEY", KEY)
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("CLAUDE_CODE_MAX_RETRIES", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            .env("DISABLE_TELEMETRY", "1");
        command
    }

    /// Sinker's command line, as the user types it.
    pub fn sinker(&self, args: &[&str]) -> Command {
        let mut command = self.base(sinker());
        command.args(args);
        command
    }

    /// Runs Sinker to its end, which must be a success, and gives what it printed.
    pub fn run(&self, args: &[&str]) -> String {
        let out = finish(self.sinker(args), "");
        assert_eq!(out.code, Some(0), "sinker {args:?}: {out:?}");
        out.stdout
    }

    /// The same with `--json`: one object a line.
    pub fn json(&self, args: &[&str]) -> Vec<Value> {
        let out = finish(self.sinker(&[args, &["--json"]].concat()), "");
        assert!(matches!(out.code, Some(0 | 3)), "sinker {args:?}: {out:?}");
        out.stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
            .collect()
    }

    /// A headless session: `claude -p` with a prompt; tools run without asking.
    pub fn print(&self, prompt: &str, args: &[&str]) -> Said {
        self.print_with(prompt, args, &[])
    }

    /// The same with more environment.
    pub fn print_with(&self, prompt: &str, args: &[&str], env: &[(&str, &str)]) -> Said {
        let mut command = self.claude(&["-p", "--output-format", "json", "--allowedTools", TOOLS]);
        command.args(args).envs(env.iter().copied());
        finish(command, prompt)
    }

    /// Sessions about other things, stored when this returns: what the brief of the next start is filled with. The scene is new after it.
    pub fn other_work(&self) {
        for (ask, say) in [
            ("Paint the lighthouse door.", "The lighthouse door is red."),
            ("Sort the rope store.", "Ropes are sorted by length."),
            ("Count the buoys.", "There are nineteen buoys."),
        ] {
            self.api.turn(ask, &[vec![text(say)]]);
            self.settle(&self.print(ask, &[]).session());
        }
        self.api.clear();
    }

    /// Waits until everything up to the last event of the session is searchable.
    pub fn settle(&self, session: &str) {
        let out = finish(self.sinker(&["status", "--session", session, "--wait", "60"]), "");
        assert_eq!(
            out.code,
            Some(0),
            "{session} is not stored: {out:?}\n{}\n{}",
            self.logs(),
            self.run(&["status"])
        );
    }

    /// Installs Sinker for the user, as the README says. Gives what it printed.
    pub fn install(&self) -> String {
        self.run(&["install"])
    }

    /// The same, and the client then waits for each of our hooks: which events ring, and in which order, no longer depends on how fast
    /// processes start. As installed, captures are async, and a headless client that ends takes them with it.
    pub fn install_in_step(&self) {
        self.install();
        let settings = self.claude_dir().join("settings.json");
        let text = std::fs::read_to_string(&settings).unwrap();
        let waiting = text.replace("\"async\": true", "\"async\": false");
        assert_ne!(waiting, text, "no async entry: {text}");
        write(&settings, &waiting);
    }

    /// A headless session whose pointers stay in the spool: nobody drains. Gives what was said and the events, in their order.
    pub fn events_of(&self, prompt: &str, args: &[&str]) -> (Said, Vec<Pointer>) {
        let before = self.pointers().len();
        let said = self.print_with(prompt, args, &[("SINKER_AUTOSTART", "0")]);
        // The hook of the end goes on when the client has gone.
        let all = || self.pointers().split_off(before);
        until(
            "the pointer of the session's end",
            || all().iter().any(|p| p.event == "session-end"),
            || format!("{said:?} {:?}", all()),
        );
        (said, all())
    }

    /// The pointers that wait in the spool, in the order of their events.
    pub fn pointers(&self) -> Vec<Pointer> {
        let Ok(found) = std::fs::read_dir(self.data("spool/new")) else { return Vec::new() };
        let mut all: Vec<Pointer> = found
            // One may be taken away between the listing and the reading.
            .filter_map(|e| std::fs::read(e.unwrap().path()).ok())
            .map(|bytes| serde_json::from_slice(&bytes).unwrap())
            .map(|entry: Value| Pointer {
                event: entry["event"].as_str().unwrap().to_owned(),
                reason: entry["reason"].as_str().unwrap_or_default().to_owned(),
                session: entry["session"].as_str().unwrap().to_owned(),
                entry,
            })
            .collect();
        all.sort_by_key(|p| p.entry["time"].as_str().unwrap().to_owned());
        all
    }

    /// Drains what waits, without a drainer in the background.
    pub fn drain(&self) {
        self.run(&["drain", "--once"]);
    }

    /// All that Sinker logged.
    pub fn logs(&self) -> String {
        let Ok(found) = std::fs::read_dir(self.data("log")) else { return String::new() };
        found.map(|e| std::fs::read_to_string(e.unwrap().path()).unwrap_or_default()).collect()
    }

    /// The observations of a session, in their order.
    pub fn records(&self, session: &str) -> Vec<Value> {
        let mut all = self.json(&["inspect", "--view", "records"]);
        all.retain(|r| r["session"] == session && r["kind"] == "observation");
        all.sort_by_key(|r| r["time"].as_str().unwrap_or_default().to_owned());
        all
    }

    /// The transcript of a session, wherever the host has put it.
    pub fn transcript(&self, session: &str) -> PathBuf {
        let name = format!("{session}.jsonl");
        let projects = self.claude_dir().join("projects");
        let found =
            std::fs::read_dir(&projects).unwrap().map(|e| e.unwrap().path().join(&name)).find(|p| p.exists());
        found.unwrap_or_else(|| panic!("no transcript of {session}"))
    }
}

/// Tools that a headless session may use without asking.
pub const TOOLS: &str = "Bash,Read,Edit,Write,Grep,Glob,Agent,Skill,ToolSearch,EnterWorktree,mcp__sinker";

/// The binary under test; `SINKER_TEST_BINARY` names another one, for measuring.
pub fn sinker() -> PathBuf {
    std::env::var_os("SINKER_TEST_BINARY")
        .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_sinker")), PathBuf::from)
}

/// Writes a file and the folders above it.
pub fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Runs a command to its end with text on stdin, or panics at [`LIMIT`].
pub fn finish(mut command: Command, stdin: &str) -> Said {
    use std::io::Write as _;
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // One that does not read its input closes the pipe.
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).ok();
    let pid = rustix::process::Pid::from_child(&child);
    let (done, guard) = std::sync::mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        let late = guard.recv_timeout(LIMIT) == Err(std::sync::mpsc::RecvTimeoutError::Timeout);
        if late {
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).ok();
        }
        late
    });
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    drop(done);
    let stdout = String::from_utf8_lossy(&stdout).into_owned();
    let result = serde_json::from_str(stdout.trim()).unwrap_or(Value::Null);
    let said =
        Said { code: status.code(), stdout, stderr: String::from_utf8_lossy(&stderr).into_owned(), result };
    assert!(!watch.join().unwrap(), "still running after {LIMIT:?}: {said:?}");
    said
}

/// Waits until `done`, or panics with what is told by then.
pub fn until(what: &str, mut done: impl FnMut() -> bool, tell: impl Fn() -> String) {
    let end = Instant::now() + LIMIT;
    while !done() {
        assert!(Instant::now() < end, "{what}: not within {LIMIT:?}\n{}", tell());
        std::thread::sleep(Duration::from_millis(50));
    }
}
