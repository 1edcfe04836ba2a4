//! `sinker service`.

use super::Exit;
use super::exit::Failure;
use super::output::{self, Paint};
use crate::config::Home;
use crate::install::Program;
use crate::service::{self, Installed, Kind, Manager, Service, ServiceError};
use clap::Subcommand;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Keep a drainer running from the login on, as a service of the user's own.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Write the unit (systemd) or agent (launchd), and start it where a service manager of this user runs
    Install(How),
    /// Stop it and remove what install wrote
    Uninstall(How),
    /// Show whether it is installed, enabled and active; exit code 3 when it is not installed
    Status(How),
}

#[derive(clap::Args)]
struct How {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(home: &Home, args: &Args) -> Result<Exit, Failure> {
    let kind = Kind::here();
    let manager = Manager::new(kind);
    let path = service::path(kind)?;
    match &args.what {
        What::Install(how) => install(home, kind, manager, &path, how),
        What::Uninstall(how) => uninstall(kind, manager, &path, how),
        What::Status(how) => status(home, kind, manager, &path, how),
    }
}

/// This binary, with the paths as they are resolved now.
pub(super) fn wanted(home: &Home) -> Result<Service, Failure> {
    let program = Program::own()?;
    let mut environment = vec![("SINKER_HOME".to_owned(), home.root().to_path_buf())];
    for name in ["SINKER_CONFIG", "CLAUDE_CONFIG_DIR"] {
        let value = std::env::var_os(name).filter(|v| !v.is_empty());
        if let Some(path) = value.and_then(|v| std::path::absolute(v).ok()) {
            environment.push((name.to_owned(), path));
        }
    }
    Ok(Service { program: program.path.into(), environment })
}

fn install(home: &Home, kind: Kind, manager: Manager, path: &Path, how: &How) -> Result<Exit, Failure> {
    let text = wanted(home)?.text(kind)?;
    let commands = manager.install_words(path);
    let clear = manager.clear_words();
    if how.dry_run {
        output::say(&format!("would write {}:\n\n{text}", path.display()));
        say_commands("first, where it runs already", &clear);
        say_commands(if manager.is_there() { "would run" } else { "then run" }, &commands);
        return Ok(Exit::Done);
    }
    let wrote = service::write(path, &text)?;
    let there = manager.is_there();
    let works = manager.is_enabled() == Some(true) && manager.is_active() == Some(true);
    let ran = there && (wrote || !works);
    if ran {
        manager.install(path)?;
    }
    if how.json {
        output::json(
            &json!({ "unit": path, "written": wrote, "started": ran, "commands": shown(&commands, !there) }),
        );
        return Ok(Exit::Done);
    }
    let paint = Paint::new();
    match (wrote, ran) {
        (false, false) if there => output::say("the service is installed and at work; nothing was changed"),
        (true, _) => output::say(&format!("{} {}", paint.good("wrote"), path.display())),
        (false, _) => output::say(&format!("{} is there already", path.display())),
    }
    if ran {
        output::say(&format!("{}: the drainer starts now and at each login", paint.good("enabled")));
    }
    if !there {
        output::say("no service manager of this user was found; run this in a session of yours:");
        say_commands("first, where it runs already", &clear);
        say_commands("", &commands);
    }
    Ok(Exit::Done)
}

fn uninstall(kind: Kind, manager: Manager, path: &Path, how: &How) -> Result<Exit, Failure> {
    let found = service::look(path, "")?;
    let (before, after) = (manager.uninstall_words(), manager.forget_words());
    if how.dry_run {
        if found == Installed::Absent {
            output::say("nothing is installed");
            return Ok(Exit::Nothing);
        }
        say_commands("would run", &before);
        output::say(&format!("would remove {}", path.display()));
        say_commands("would run", &after);
        return Ok(Exit::Done);
    }
    if found == Installed::Foreign {
        return Err(ServiceError::Foreign(path.to_path_buf()).into());
    }
    let removed = take_out(kind, manager, path, found)?;
    if how.json {
        output::json(&json!({ "unit": path, "removed": removed }));
    } else if removed {
        output::say(&format!("removed {}", path.display()));
    } else {
        output::say("nothing is installed");
    }
    Ok(if removed { Exit::Done } else { Exit::Nothing })
}

/// Stops it and removes what install wrote, and the link that `enable` left where nobody was there to be asked. Returns whether a file was removed.
fn take_out(kind: Kind, manager: Manager, path: &Path, found: Installed) -> Result<bool, Failure> {
    let there = manager.is_there() && found != Installed::Absent;
    if there {
        manager.run(&manager.uninstall_words())?;
    }
    let removed = service::remove(path)?;
    let link =
        service::enabled_link(kind, path).filter(|l| l.symlink_metadata().is_ok_and(|m| m.is_symlink()));
    if let Some(link) = &link {
        crate::fs::remove(link)?;
    }
    if there {
        manager.run(&manager.forget_words())?;
    }
    Ok(removed)
}

/// The unit that an install of the service wrote, for `sinker uninstall`; `None` without one.
pub(super) fn installed() -> Option<PathBuf> {
    let path = service::path(Kind::here()).ok()?;
    let found = service::look(&path, "").ok()?;
    matches!(found, Installed::Current | Installed::Older).then_some(path)
}

/// Stops the service and removes its unit. Errors: those of the service manager and of the disk.
pub(super) fn remove(unit: &Path) -> Result<(), Failure> {
    let kind = Kind::here();
    take_out(kind, Manager::new(kind), unit, Installed::Older).map(drop)
}

fn status(home: &Home, kind: Kind, manager: Manager, path: &Path, how: &How) -> Result<Exit, Failure> {
    let service = wanted(home)?;
    let found = service::look(path, &service.text(kind)?)?;
    let (enabled, active) = (manager.is_enabled(), manager.is_active());
    let exit = if found == Installed::Absent { Exit::Nothing } else { Exit::Done };
    if how.json {
        output::json(&json!({
            "unit": path, "installed": matches!(found, Installed::Current | Installed::Older),
            "current": found == Installed::Current, "foreign": found == Installed::Foreign,
            "enabled": enabled, "active": active, "binary": service.program,
        }));
        return Ok(exit);
    }
    let state = match found {
        Installed::Absent => {
            "not installed; `sinker service install` writes it. Hooks start a drainer without it"
        }
        Installed::Current => "installed",
        Installed::Older => {
            "installed for another binary, home or version; `sinker service install` renews it"
        }
        Installed::Foreign => "another file has its name",
    };
    output::say(&format!("{}: {state}", path.display()));
    if found != Installed::Absent {
        let word = |yes: Option<bool>| match yes {
            Some(true) => "yes",
            Some(false) => "no",
            None => "unknown, no service manager answers",
        };
        output::say(&format!("enabled: {}\nactive: {}", word(enabled), word(active)));
    }
    Ok(exit)
}

fn shown(commands: &[Vec<String>], wanted: bool) -> Vec<String> {
    if wanted { commands.iter().map(|words| line(words)).collect() } else { Vec::new() }
}

fn say_commands(what: &str, commands: &[Vec<String>]) {
    for words in commands {
        output::say(format!("{what}  {}", line(words)).trim_start_matches(' ').trim_end());
    }
}

/// A command as a shell reads it.
fn line(words: &[String]) -> String {
    let quoted = |word: &String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@=+".contains(c);
        if word.chars().all(plain) { word.clone() } else { format!("'{}'", word.replace('\'', "'\\''")) }
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

impl From<ServiceError> for Failure {
    fn from(error: ServiceError) -> Self {
        let what = error.to_string();
        match error {
            ServiceError::Foreign(path) => Self::new(what)
                .hint(format!("look at {}, and move it away if it is not needed", path.display())),
            ServiceError::Manager { .. } => Self::new(what).hint(
                "the file is written; hooks start a drainer without a service, so nothing is lost meanwhile",
            ),
            ServiceError::NoPlace => Self::new(what).hint("HOME=/home/dev sinker service install"),
            ServiceError::Path(_) | ServiceError::Fs(_) => Self::new(what),
        }
    }
}
