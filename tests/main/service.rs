//! `sinker service`: the file it writes, and what it asks of a service manager. The manager is a script that writes down what it was asked.

use crate::support::{Out, Sandbox};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

/// A sandbox whose user has a session of systemd.
struct World {
    sandbox: Sandbox,
}

impl World {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        std::fs::create_dir_all(sandbox.root().join("run/systemd")).unwrap();
        std::fs::create_dir_all(sandbox.root().join("bin")).unwrap();
        let script = format!(
            "#!/bin/sh\necho \"$*\" >> '{0}/asked'\ncase \"$2\" in\n\
             is-enabled) cat '{0}/enabled' 2>/dev/null || {{ echo disabled; exit 1; }};;\n\
             is-active) cat '{0}/active' 2>/dev/null || {{ echo inactive; exit 3; }};;\n\
             enable) echo enabled > '{0}/enabled';;\nrestart) echo active > '{0}/active';;\n\
             disable) rm -f '{0}/enabled' '{0}/active';;\nesac\n",
            sandbox.root().display()
        );
        let path = sandbox.root().join("bin/systemctl");
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        Self { sandbox }
    }

    fn run(&self, args: &[&str], with_session: bool) -> Out {
        let runtime = if with_session { self.sandbox.root().join("run") } else { PathBuf::new() };
        let path = format!("{}:/usr/bin:/bin", self.sandbox.root().join("bin").display());
        let env = [("XDG_RUNTIME_DIR", runtime.to_str().unwrap()), ("PATH", &path)];
        self.sandbox.sinker_with(&[&["service"], args].concat(), b"", &env)
    }

    fn json(&self, args: &[&str], with_session: bool) -> Value {
        let out = self.run(&[args, &["--json"]].concat(), with_session);
        serde_json::from_str(&out.stdout).unwrap_or_else(|e| panic!("{e}: {out}"))
    }

    fn unit(&self) -> PathBuf {
        self.sandbox.user().join(".config/systemd/user/sinker.service")
    }

    /// What the manager was asked since the last look, questions left out.
    fn asked(&self) -> Vec<String> {
        let path = self.sandbox.root().join("asked");
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        std::fs::remove_file(&path).ok();
        text.lines().filter(|l| !l.contains("is-")).map(str::to_owned).collect()
    }
}

#[cfg(target_os = "linux")]
#[test]
fn install_starts_it_once_and_uninstall_takes_away_what_install_wrote() {
    let world = World::new();
    assert_eq!(world.run(&["status"], true).code, Some(3));
    let first = world.run(&["install"], true);
    assert_eq!(first.code, Some(0), "{first}");
    assert_eq!(
        world.asked(),
        ["--user daemon-reload", "--user enable sinker.service", "--user restart sinker.service"]
    );
    let text = std::fs::read_to_string(world.unit()).unwrap();
    assert!(text.contains(" drain\n") && !text.contains("idle-exit"), "{text}");
    assert!(
        text.contains(&format!("Environment=\"SINKER_HOME={}\"", world.sandbox.home().display())),
        "{text}"
    );
    assert!(
        text.contains(&format!("Environment=\"CLAUDE_CONFIG_DIR={}\"", world.sandbox.claude().display()))
    );
    let status = world.json(&["status"], true);
    for field in ["installed", "current", "enabled", "active"] {
        assert_eq!(status[field], true, "{field}: {status}");
    }
    // Again: nothing is written, nothing is asked for.
    let before = std::fs::metadata(world.unit()).unwrap().modified().unwrap();
    world.asked();
    let again = world.run(&["install"], true);
    assert!(again.code == Some(0) && again.stdout.contains("nothing was changed"), "{again}");
    assert_eq!(std::fs::metadata(world.unit()).unwrap().modified().unwrap(), before);
    assert_eq!(world.asked(), Vec::<String>::new());
    // One that was switched off by hand is switched on again.
    std::fs::remove_file(world.sandbox.root().join("active")).unwrap();
    world.run(&["install"], true);
    assert_eq!(world.asked().last().unwrap(), "--user restart sinker.service");
    let out = world.run(&["uninstall"], true);
    assert_eq!(out.code, Some(0), "{out}");
    assert_eq!(world.asked(), ["--user disable --now sinker.service", "--user daemon-reload"]);
    assert!(!world.unit().exists());
    assert_eq!(world.run(&["uninstall"], true).code, Some(3));
    assert_eq!(world.asked(), Vec::<String>::new());
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_session_the_commands_are_printed_and_a_dry_run_does_nothing() {
    let world = World::new();
    let dry = world.run(&["install", "--dry-run"], true);
    assert!(
        dry.stdout.contains("would write")
            && dry.stdout.contains("ExecStart=")
            && dry.stdout.contains("would run  systemctl"),
        "{dry}"
    );
    assert!(!world.unit().exists() && world.asked().is_empty());
    let out = world.run(&["install"], false);
    assert_eq!(out.code, Some(0), "{out}");
    assert!(
        out.stdout.contains("systemctl --user daemon-reload\nsystemctl --user enable sinker.service\n"),
        "{out}"
    );
    assert!(world.unit().exists() && world.asked().is_empty());
    let status = world.json(&["status"], false);
    assert_eq!((&status["installed"], &status["enabled"]), (&true.into(), &Value::Null), "{status}");
    // Somebody enabled it; nobody is there to disable it.
    let wants = world.unit().with_file_name("default.target.wants");
    std::fs::create_dir_all(&wants).unwrap();
    std::os::unix::fs::symlink(world.unit(), wants.join("sinker.service")).unwrap();
    let dry = world.run(&["uninstall", "--dry-run"], false);
    assert!(dry.stdout.contains("would remove") && world.unit().exists(), "{dry}");
    assert_eq!(world.run(&["uninstall"], false).code, Some(0));
    assert!(!world.unit().exists() && wants.join("sinker.service").symlink_metadata().is_err());
}

#[cfg(target_os = "linux")]
#[test]
fn somebody_elses_unit_is_left_alone_and_a_manager_that_refuses_is_told() {
    let world = World::new();
    std::fs::create_dir_all(world.unit().parent().unwrap()).unwrap();
    std::fs::write(world.unit(), "[Service]\nExecStart=/bin/true\n").unwrap();
    for what in ["install", "uninstall"] {
        let out = world.run(&[what], true);
        assert!(out.code == Some(1) && out.stderr.contains("not written by Sinker"), "{out}");
    }
    assert_eq!(world.json(&["status"], true)["foreign"], true);
    assert_eq!(std::fs::read_to_string(world.unit()).unwrap(), "[Service]\nExecStart=/bin/true\n");
    std::fs::remove_file(world.unit()).unwrap();
    let script = world.sandbox.root().join("bin/systemctl");
    std::fs::write(&script, "#!/bin/sh\necho 'Failed to connect to bus' >&2\nexit 1\n").unwrap();
    let out = world.run(&["install"], true);
    assert!(out.code == Some(1) && out.stderr.contains("Failed to connect to bus"), "{out}");
}

/// Runs the binary from a path with all that systemd gives a meaning to, and has systemd read the unit.
#[cfg(target_os = "linux")]
#[test]
fn systemd_accepts_the_unit_for_any_path() {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        eprintln!("skipped: needs systemd-analyze");
        return;
    }
    let world = World::new();
    for name in ["plain", "two words", "100%h $HOME", "quo\"te's", "back\\slash", "für 漢字"] {
        let folder = world.sandbox.root().join("opt").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let program = folder.join("sinker");
        if std::fs::hard_link(env!("CARGO_BIN_EXE_sinker"), &program).is_err() {
            std::fs::copy(env!("CARGO_BIN_EXE_sinker"), &program).unwrap();
        }
        let mut run = Command::new(&program);
        run.args(["service", "install"]).env_clear().env("HOME", world.sandbox.user());
        let out = run.env("SINKER_HOME", folder.join("home")).output().unwrap();
        assert!(out.status.success(), "{name}: {}", String::from_utf8_lossy(&out.stderr));
        let verify = || {
            let mut command = Command::new("systemd-analyze");
            command.args(["--user", "verify"]).arg(world.unit());
            let out = command.env("XDG_RUNTIME_DIR", world.sandbox.root().join("run")).output().unwrap();
            (out.status.success(), String::from_utf8_lossy(&out.stderr).into_owned())
        };
        let (good, said) = verify();
        assert!(good && !said.contains("sinker.service"), "{name}: {said}");
        // The check can fail: it looks for the program under the path as it reads it. Of a program that a shell starts it cannot know.
        std::fs::remove_file(&program).unwrap();
        let by_shell = name.contains(['"', '\'', '\\']);
        let (good, said) = verify();
        assert_eq!(good, by_shell, "{name}: {said}");
        assert_eq!(std::fs::read_to_string(world.unit()).unwrap().contains("=/bin/sh "), by_shell, "{name}");
    }
}
