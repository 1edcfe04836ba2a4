//! A world of its own for each test: home, host folder, project, spool, and the binary in it.

#[cfg(feature = "failpoints")]
mod disk;
mod decoded;
mod host;
mod kernel;
mod mcp;
mod payload;
mod root;
mod run;
mod terminal;
mod transcript;
mod wait;

pub use decoded::places_of;
#[cfg(feature = "failpoints")]
pub use disk::{Record, Seed};
pub use kernel::{Mount, anon_mib, bytes_read, hits, inject, run_to_end};
pub use mcp::McpClient;
pub use payload::{Fixture, aim, fixtures, kebab, payload};
pub use root::{fifo, is_root, long, shell};
pub use run::{Out, Running, to_end};
pub use terminal::at_a_terminal;
pub use transcript::{Noise, Transcript};
pub use wait::{eventually, within};

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The secret of every sandbox: markers, fences and path salts are the same in each run.
pub const SECRET: &str = "5eed5eed5eed5eed5eed5eed5eed5eed5eed5eed5eed5eed5eed5eed5eed5eed";

/// The line under `[recall]` for tests that expect an answer in a debug build on a busy machine.
pub const UNHURRIED: &str = "deadline_ms = 1000\n";

/// A directory that holds a user's home, the host's folder and a project; and one `SINKER_HOME` in it.
pub struct Sandbox {
    world: Arc<World>,
    home: PathBuf,
}

struct World {
    dir: tempfile::TempDir,
    siblings: AtomicUsize,
}

impl Sandbox {
    /// Makes a world with one project, `harbor-api`, whose git remote gives it the same id in every world.
    pub fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("sinker-test-").tempdir().unwrap();
        let root = dir.path();
        for part in ["user/.claude/projects", "code/harbor-api/.git", "code/harbor-api/src"] {
            std::fs::create_dir_all(root.join(part)).unwrap();
        }
        let remote = "[remote \"origin\"]\n\turl = https://git.example/harbor/harbor-api.git\n";
        std::fs::write(root.join("code/harbor-api/.git/config"), remote).unwrap();
        std::fs::write(root.join("code/harbor-api/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let world = Arc::new(World { dir, siblings: AtomicUsize::new(0) });
        Self { home: fresh_home(&world), world }
    }

    /// A world whose recall has a second in place of the 150 ms that suit a release build on a quiet machine; `config` follows under `[recall]`.
    pub fn unhurried(config: &str) -> Self {
        let sandbox = Self::new();
        sandbox.configure(&format!("[recall]\n{UNHURRIED}{config}"));
        sandbox
    }

    /// A file of the project with so many bytes; its path.
    pub fn project_file(&self, name: &str, bytes: usize) -> String {
        let path = self.project().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "x".repeat(bytes)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Writes the user's configuration file.
    pub fn configure(&self, text: &str) {
        std::fs::write(self.user().join("sinker-config.toml"), text).unwrap();
    }

    /// Another, empty `SINKER_HOME` in the same world: same transcripts, same project, same secret.
    pub fn sibling(&self) -> Self {
        Self { home: fresh_home(&self.world), world: Arc::clone(&self.world) }
    }

    /// A sibling that begins with a copy of this home's files.
    pub fn copy(&self) -> Self {
        let other = self.sibling();
        copy_tree(&self.home, &other.home);
        other
    }

    /// `SINKER_HOME`.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// A path below `SINKER_HOME`.
    pub fn at(&self, path: &str) -> PathBuf {
        self.home.join(path)
    }

    /// The root of the world, for files that belong to nobody.
    pub fn root(&self) -> &Path {
        self.world.dir.path()
    }

    /// The user's home.
    pub fn user(&self) -> PathBuf {
        self.root().join("user")
    }

    /// The host's folder, `CLAUDE_CONFIG_DIR`.
    pub fn claude(&self) -> PathBuf {
        self.user().join(".claude")
    }

    /// The project's directory.
    pub fn project(&self) -> PathBuf {
        self.root().join("code/harbor-api")
    }

    /// The binary with nothing of the developer's environment; its directory is the project's.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinker"));
        command
            .args(args)
            .current_dir(self.project())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.user())
            .env("TZ", "UTC")
            .env("SINKER_HOME", &self.home)
            .env("SINKER_CONFIG", self.user().join("sinker-config.toml"))
            .env("CLAUDE_CONFIG_DIR", self.claude())
            .env("SINKER_AUTOSTART", "0");
        command
    }

    /// Runs the binary to its end.
    pub fn sinker(&self, args: &[&str]) -> Out {
        self.sinker_with(args, b"", &[])
    }

    /// Runs the binary to its end with bytes on stdin and more environment.
    pub fn sinker_with(&self, args: &[&str], stdin: &[u8], env: &[(&str, &str)]) -> Out {
        let mut command = self.command(args);
        command.envs(env.iter().copied());
        run::to_end(command, stdin)
    }

    /// Starts the binary and goes on; it is ended when the handle is dropped.
    pub fn start(&self, args: &[&str]) -> Running {
        Running::start(self.command(args))
    }

    /// Runs `hook claude <event>` with a payload, as the host does: one line and a newline on stdin.
    pub fn hook(&self, event: &str, payload: &Value) -> Out {
        self.hook_raw(event, format!("{payload}\n").as_bytes())
    }

    /// The same with any bytes.
    pub fn hook_raw(&self, event: &str, stdin: &[u8]) -> Out {
        let project = self.project();
        let mut command = self.command(&["hook", "claude", event]);
        command.env("CLAUDE_PROJECT_DIR", project);
        run::to_end(command, stdin)
    }

    /// Runs `drain --once --json`, which must succeed, and returns its account.
    pub fn drain_once(&self) -> Value {
        self.json(&["drain", "--once"])
    }

    /// Runs `import --json` over paths, which must succeed, and returns its account.
    pub fn import(&self, paths: &[&Path]) -> Value {
        let mut args = vec!["import".to_owned()];
        args.extend(paths.iter().map(|p| p.to_str().unwrap().to_owned()));
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        self.json(&args)
    }

    /// Runs a command with `--json`, which must succeed with one object.
    pub fn json(&self, args: &[&str]) -> Value {
        let out = self.sinker(&[args, &["--json"]].concat());
        assert_eq!(out.code, Some(0), "{args:?} failed: {out}");
        serde_json::from_str(out.stdout.trim())
            .unwrap_or_else(|e| panic!("{args:?}: not one object ({e}): {out}"))
    }

    /// Runs a command with `--json`, which must succeed with one object a line.
    pub fn lines(&self, args: &[&str]) -> Vec<Value> {
        let out = self.sinker(&[args, &["--json"]].concat());
        assert!(matches!(out.code, Some(0 | 3)), "{args:?} failed: {out}");
        let parse =
            |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{args:?}: {e}: {line}"));
        out.stdout.lines().map(parse).collect()
    }

    /// The same of a command that may say with its exit code that something is wrong.
    pub fn lines_of(&self, args: &[&str]) -> Vec<Value> {
        let out = self.sinker(&[args, &["--json"]].concat());
        out.stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{args:?}: {e}: {out}")))
            .collect()
    }

    /// Everything stored, as text, one document a line, in the order of ids: what two runs must agree on.
    pub fn dump(&self) -> String {
        let mut lines: Vec<String> =
            self.lines(&["inspect", "--view", "records"]).iter().map(Value::to_string).collect();
        lines.sort();
        lines.join("\n")
    }

    /// The names in a folder of the spool, sorted; none when it does not exist.
    pub fn spool(&self, folder: &str) -> Vec<String> {
        let Ok(found) = std::fs::read_dir(self.home.join("spool").join(folder)) else { return Vec::new() };
        let mut names: Vec<String> =
            found.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The one entry in `spool/new`, parsed.
    pub fn entry(&self) -> Value {
        let names = self.spool("new");
        assert_eq!(names.len(), 1, "one entry expected: {names:?}");
        serde_json::from_slice(&std::fs::read(self.at("spool/new").join(&names[0])).unwrap()).unwrap()
    }

    /// All that was ever logged.
    pub fn log(&self) -> String {
        let Ok(found) = std::fs::read_dir(self.at("log")) else { return String::new() };
        found.map(|e| std::fs::read_to_string(e.unwrap().path()).unwrap_or_default()).collect()
    }

    /// `index verify`, as an exit code and its object; a home without an index is not asked.
    pub fn verify(&self) {
        let answer = self.json(&["index", "verify"]);
        assert_eq!(answer["ok"], true, "{answer}");
        let status = self.json(&["status"]);
        assert_eq!(status["store"]["documents"], status["index"]["documents"], "{status}");
    }
}

fn fresh_home(world: &World) -> PathBuf {
    use std::io::Write as _;
    use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
    let n = world.siblings.fetch_add(1, Ordering::SeqCst);
    let home = world.dir.path().join(format!("sinker-{n}"));
    std::fs::DirBuilder::new().mode(0o700).create(&home).unwrap();
    let secret =
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(home.join("secret"));
    secret.unwrap().write_all(format!("{SECRET}\n").as_bytes()).unwrap();
    home
}

fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
