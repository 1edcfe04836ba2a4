//! `sinker install`.

use super::Exit;
use super::exit::Failure;
use super::output::{self, Paint};
use crate::config::{Home, Settings};
use crate::drain;
use crate::install::{
    self, Done, Entry, Folder, InstallError, Place, PluginError, Program, ProgramError, Proof, Scope, Server,
    ServerState,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const AFTER: &str = "Examples:
  sinker install                     for all sessions of this user
  sinker install --dry-run           says what would change, and changes nothing
  sinker install --scope local       for this user in this project
  sinker install --plugin ~/sinker-plugin
  sinker uninstall                   takes everything out again

Settings get the smallest edit; how they were is kept in the data directory. Where they are
in doubt (comments, a key twice), nothing is changed, and what to add is printed.";

/// Enter Sinker in Claude Code's settings: hooks and MCP server; a second run changes nothing.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(super) struct Args {
    /// Whose settings: all sessions of this user, all who work in this project, or this user in this project
    #[arg(long, value_name = "SCOPE", default_value = "user", value_parser = ["user", "project", "local"])]
    scope: String,
    /// Write a plugin folder instead, with the same entries; nothing outside of it is touched
    #[arg(long, value_name = "DIR", conflicts_with = "scope")]
    plugin: Option<PathBuf>,
    /// Say what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(home: &Home, args: &Args) -> Result<Exit, Failure> {
    let program = Program::own()?;
    let here = here()?;
    let mut told = Told::new(args.json);
    if let Some(why) = program.passing {
        told.warn(format!("{} is what will be started, and {why}", program.path));
    }
    if let Some(dir) = &args.plugin {
        return plugin(dir, args, &program, &here, told);
    }
    let scope = Scope::from_name(&args.scope).unwrap_or(Scope::User);
    let place = place(scope, &here)?;
    refuse_beside_plugin(&here)?;
    around(&mut told, &place, &here);
    if scope != Scope::User && place.root() != here.canonicalize().unwrap_or_else(|_| here.clone()) {
        told.warn(format!(
            "Claude Code reads these settings in sessions that are started in {}",
            place.root().display()
        ));
    }
    let wanted = install::wanted_in(&place);
    let _lock = if args.dry_run { None } else { Some(install::Lock::take(home)?) };
    let done = match install::install(home, &place, &wanted, &program.path, args.dry_run) {
        Ok(done) => done,
        Err(error) => return Err(in_doubt(error, args, &wanted, &program)),
    };
    told.entries(args, &done, &wanted, &program);
    let server = Server::new(scope, &here, &program.path).known_by(install::programs(home, &place)?);
    let mut good = told.server(&server, args.dry_run);
    if !args.dry_run {
        let settings = install::settings(&place).unwrap_or_default();
        good &= told.proof(&install::prove(&settings, &program.path)?);
    }
    told.past(home);
    told.end(json!({
        "scope": scope.name(), "path": text(&done.path), "dry_run": args.dry_run, "changed": done.edited.is_change(),
        "added": done.edited.added, "replaced": done.edited.replaced, "removed": done.edited.removed,
        "kept": done.edited.kept, "by_hand": done.edited.by_hand, "backup": done.backup.as_deref().map(text), "command": program.path,
    }));
    Ok(if good { Exit::Done } else { Exit::Failed })
}

/// The working directory. Errors: it is gone.
pub(super) fn here() -> Result<PathBuf, Failure> {
    std::env::current_dir().map_err(|error| {
        Failure::new(format!("there is no working directory: {error}")).hint("`cd` to one that exists")
    })
}

/// The settings file of a scope.
pub(super) fn place(scope: Scope, here: &Path) -> Result<Place, Failure> {
    Place::of(scope, here).ok_or_else(|| {
        Failure::new("there is no settings file: neither CLAUDE_CONFIG_DIR nor HOME is set")
            .hint("HOME=/path sinker install")
    })
}

/// Errors: the plugin is on in settings that hold here, so each event would be answered twice.
fn refuse_beside_plugin(here: &Path) -> Result<(), Failure> {
    for place in Scope::ALL.into_iter().filter_map(|scope| Place::of(scope, here)) {
        if let Some(key) = install::around(&place).plugin {
            let path = place.path().display();
            return Err(Failure::new(format!("the plugin {key} is on in {path}, and does the same"))
                .hint(format!("`claude plugin uninstall {key}` first, or leave it at the plugin"))
                .exit(Exit::Refused));
        }
    }
    Ok(())
}

/// Says what in any settings keeps hooks from running, or runs them beside these.
fn around(told: &mut Told, own: &Place, here: &Path) {
    for place in Scope::ALL.into_iter().filter_map(|scope| Place::of(scope, here)) {
        let found = install::around(&place);
        let path = place.path().display();
        if found.disabled {
            told.warn(format!("`disableAllHooks` is true in {path}: no hook runs until it is taken out"));
        }
        if found.entries > 0 && place.target() != own.target() {
            told.warn(format!(
                "{path} holds entries of Sinker, too; the host runs equal ones once (`sinker uninstall --scope {}` takes them out)",
                place.scope().name()
            ));
        }
    }
}

/// The error, and for settings in doubt what a person adds by hand.
fn in_doubt(error: InstallError, args: &Args, wanted: &[Entry], program: &Program) -> Failure {
    if let InstallError::Doubt { path, .. } = &error {
        let snippet = install::snippet(wanted, &program.path);
        if args.json {
            output::json(&json!({ "path": text(path), "error": error.to_string(), "snippet": snippet }));
        } else {
            output::say(&format!("Add this to {} by hand:\n\n{snippet}", path.display()));
        }
    }
    error.into()
}

fn plugin(dir: &Path, args: &Args, program: &Program, here: &Path, mut told: Told) -> Result<Exit, Failure> {
    for place in Scope::ALL.into_iter().filter_map(|scope| Place::of(scope, here)) {
        if install::around(&place).entries > 0 {
            told.warn(format!(
                "{} holds entries of Sinker: with the plugin, each event would be answered twice (`sinker uninstall` takes them out)",
                place.path().display()
            ));
        }
    }
    let folder = Folder::new(dir, &install::wanted(Settings::read(None).tools()), &program.path)?;
    let written = folder.write(args.dry_run)?;
    let at = folder.dir().display();
    let verb = if args.dry_run { "would write" } else { "wrote" };
    if written.is_empty() {
        told.line(&format!("{} {at} is as it should be", told.paint.good("ok")));
    }
    for path in &written {
        told.line(&format!("{verb} {}", path.display()));
    }
    let quoted = shell_words(&[at.to_string()]);
    told.line(&format!("For one session:  claude --plugin-dir {quoted}"));
    told.line(&format!(
        "For good:         claude plugin marketplace add {quoted} && claude plugin install sinker@sinker"
    ));
    told.end(json!({
        "plugin": text(folder.dir()), "dry_run": args.dry_run, "changed": !written.is_empty(), "written": written.iter().map(|p| text(p)).collect::<Vec<_>>(),
        "command": program.path,
    }));
    Ok(Exit::Done)
}

/// A path in JSON, which holds no bytes that are not UTF-8.
pub(super) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Words as a person types them into a shell.
pub(super) fn shell_words(words: &[String]) -> String {
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}

/// What a run says: lines as they come, or one object at the end.
pub(super) struct Told {
    pub(super) paint: Paint,
    json: bool,
    warnings: Vec<String>,
    more: serde_json::Map<String, Value>,
}

impl Told {
    pub(super) fn new(json: bool) -> Self {
        Self { paint: Paint::new(), json, warnings: Vec::new(), more: serde_json::Map::new() }
    }

    pub(super) fn line(&self, text: &str) {
        if !self.json {
            output::say(text);
        }
    }

    pub(super) fn warn(&mut self, text: String) {
        // A command line out of settings, or what another program said, may hold anything.
        output::complain(&format!("warning: {}", output::plain(&text)));
        self.warnings.push(text);
    }

    fn entries(&mut self, args: &Args, done: &Done, wanted: &[Entry], program: &Program) {
        let path = done.path.display();
        let edited = &done.edited;
        let counts = [
            (edited.added, "added"),
            (edited.replaced, "replaced"),
            (edited.removed, "removed"),
            (edited.kept, "kept"),
        ];
        let counts: Vec<String> =
            counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        let counts = counts.join(", ");
        if !edited.is_change() {
            self.line(&format!("{} {path}: {counts}; nothing to change", self.paint.good("ok")));
        } else if args.dry_run {
            self.line(&format!("would change {path}: entries {counts}"));
            for entry in wanted {
                let words = std::iter::once(program.path.as_str()).chain(entry.args()).map(str::to_owned);
                self.line(&format!("  {:20} {}", entry.host_event, shell_words(&words.collect::<Vec<_>>())));
            }
        } else {
            self.line(&format!("{} {path}: entries {counts}", self.paint.good("installed")));
        }
        if let Some(backup) = &done.backup {
            self.line(&self.paint.dim(&format!("as it was before: {}", backup.display())));
        }
        for line in &edited.by_hand {
            self.warn(format!("a command of your own calls Sinker, too, and was left as it is: {line}"));
        }
    }

    /// Registers the MCP server. Returns false when that failed.
    fn server(&mut self, server: &Server, dry: bool) -> bool {
        let words = shell_words(&server.add_words());
        let (state, good) = match server.state() {
            ServerState::Current => {
                self.line(&format!("{} the MCP server is registered", self.paint.good("ok")));
                ("current", true)
            }
            ServerState::Foreign => {
                self.warn(format!(
                    "an MCP server of another program has the name sinker; ours was not registered: {words}"
                ));
                ("foreign", true)
            }
            _ if dry => {
                self.line(&format!("would run `{words}`"));
                ("would add", true)
            }
            _ if install::find_in_path("claude").is_none() => {
                self.warn(format!(
                    "there is no `claude` on the search path; register the MCP server yourself: {words}"
                ));
                ("no host", true)
            }
            _ => match server.add() {
                Ok(()) => {
                    self.line(&format!("{} the MCP server: `{words}`", self.paint.good("registered")));
                    ("added", true)
                }
                Err(why) => {
                    self.warn(format!("the MCP server was not registered: {why}; try it yourself: {words}"));
                    ("failed", false)
                }
            },
        };
        self.more.insert("server".to_owned(), json!({ "state": state, "command": server.add_words() }));
        good
    }

    /// Says what the proof showed. Returns false when it failed.
    fn proof(&mut self, proof: &Proof) -> bool {
        self.more
            .insert("proof".to_owned(), json!({ "ok": proof.problem.is_none(), "problem": proof.problem }));
        match &proof.problem {
            None => self.line(&format!(
                "{} a made-up event went through the installed commands into a spool of its own",
                self.paint.good("proved")
            )),
            Some(problem) => self.warn(format!(
                "the entries are in the settings, but do not work: {problem} (`sinker uninstall` takes them out)"
            )),
        }
        proof.problem.is_none()
    }

    /// Offers the transcripts that are there already, as long as nothing is stored.
    fn past(&mut self, home: &Home) {
        if home.store().exists() {
            return;
        }
        let files =
            Settings::read(None).roots().iter().flat_map(|root| drain::transcripts(root)).collect::<Vec<_>>();
        let bytes: u64 = files.iter().filter_map(|f| f.metadata().ok()).map(|m| m.len()).sum();
        self.more.insert("transcripts".to_owned(), json!({ "files": files.len(), "bytes": bytes }));
        if !files.is_empty() {
            let size = output::size(bytes);
            self.line(&format!(
                "{} transcript{} of past sessions lie here ({size}): `sinker import` takes them in",
                files.len(),
                if files.len() == 1 { "" } else { "s" }
            ));
        }
    }

    pub(super) fn end(self, mut object: Value) {
        if !self.json {
            return;
        }
        if let Value::Object(fields) = &mut object {
            fields.extend(self.more);
            fields.insert("warnings".to_owned(), self.warnings.into());
        }
        output::json(&object);
    }
}

impl From<InstallError> for Failure {
    fn from(error: InstallError) -> Self {
        let what = error.to_string();
        match error {
            InstallError::Doubt { .. } => {
                Self::new(what).hint("mend it and run this again, or add what is printed by hand")
            }
            InstallError::ReadOnly(path) => {
                let words = shell_words(&["chmod".to_owned(), "u+w".to_owned(), path.display().to_string()]);
                Self::new(what).hint(format!("`{words}`, if it is yours to change"))
            }
            InstallError::Busy(_) => {
                Self::new(what).hint("end the sessions that change settings, and run this again")
            }
            InstallError::Newer(_) => {
                Self::new(what).hint("update Sinker; nothing was changed").exit(Exit::Refused)
            }
            InstallError::Damaged(path) => {
                let backup = path.with_extension("backup");
                let hint = format!(
                    "nothing was changed; the settings from before the first install are {} (if there were any): take what you need of them, move both files away, and run this again",
                    backup.display()
                );
                Self::new(what).hint(hint).exit(Exit::Refused)
            }
            InstallError::Locked => Self::new(what).hint("wait for it to end").exit(Exit::Refused),
            InstallError::Fs(error) => Self::new(error.to_string()).hint(
                "check permissions and free space; the settings are whole, and the same command goes on",
            ),
        }
    }
}

impl From<PluginError> for Failure {
    fn from(error: PluginError) -> Self {
        let what = error.to_string();
        match error {
            PluginError::Foreign(_) => {
                Self::new(what).hint("name a folder that is empty, or does not exist yet").exit(Exit::Refused)
            }
            PluginError::Fs(_) => Self::new(what).hint("check the permissions of the folder"),
            _ => Self::new(what).hint("name another folder"),
        }
    }
}

impl From<ProgramError> for Failure {
    fn from(error: ProgramError) -> Self {
        let what = error.to_string();
        match error {
            ProgramError::Gone(_) => Self::new(what).hint("start the new binary"),
            ProgramError::NotText(_) => {
                Self::new(what).hint("put the binary into a folder with a plain name")
            }
            ProgramError::Unknown(_) => Self::new(what).hint("start it by its absolute path"),
        }
    }
}
