//! `sinker uninstall`.

use super::Exit;
use super::consent;
use super::exit::Failure;
use super::install::{Told, here, place, shell_words, text};
use super::service;
use crate::config::{Home, user_config};
use crate::drain;
use crate::install::{self, Done, InstallError, Place, Scope, Server, ServerState};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

const AFTER: &str = "Examples:
  sinker uninstall --dry-run         names every file that would change, and changes nothing
  sinker uninstall                   takes the entries out, wherever an install has put them
  sinker uninstall --purge           asks, and removes what was remembered as well
  sinker uninstall --purge --yes     the same without asking

Settings that nobody changed since the install come back byte for byte. Claude Code's own
transcripts stay.";

/// A drainer ends within seconds; one that writes a large transaction may take longer.
const DRAINER_ENDS: Duration = Duration::from_secs(30);

/// Take Sinker out of Claude Code's settings again
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(super) struct Args {
    /// Only these settings; without it, all that hold entries of ours: here, and wherever an install was run
    #[arg(long, value_name = "SCOPE", value_parser = ["user", "project", "local"])]
    scope: Option<String>,
    /// Remove the data directory as well: all that was remembered
    #[arg(long, conflicts_with = "scope")]
    purge: bool,
    /// Do not ask before data are removed; needed where there is no terminal to ask on
    #[arg(long, short, requires = "purge")]
    yes: bool,
    /// Name what would be changed and removed, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// What is to be done, in the order in which it is.
struct Plan {
    files: Vec<(Place, Done)>,
    servers: Vec<(Place, Server)>,
    service: Option<PathBuf>,
    data: Vec<PathBuf>,
}

pub(super) fn run(home: &Home, args: &Args) -> Result<Exit, Failure> {
    let here = here()?;
    let mut told = Told::new(args.json);
    let places = places(home, args, &here)?;
    if args.purge && home.root().is_dir() && !install::is_ours(home) {
        let what = format!("{} does not look like a data directory of Sinker", home.root().display());
        return Err(Failure::new(what)
            .hint("`sinker config show` says which one is used")
            .exit(Exit::Refused));
    }
    // Without a data directory there is no record to guard, and none is made for it.
    let _lock = if args.dry_run || !home.root().is_dir() { None } else { Some(install::Lock::take(home)?) };
    let mut good = true;
    let plan = plan(home, args, &places, &mut told, &mut good)?;
    plan.tell(args, home, &mut told);
    let empty =
        plan.files.is_empty() && plan.servers.is_empty() && plan.service.is_none() && plan.data.is_empty();
    if empty && good {
        told.line("nothing of Sinker is installed here");
    }
    let mut object = plan.json(args);
    if !args.dry_run {
        if !plan.data.is_empty() && !consent::given(args.yes, "remove all that was remembered, for good?")? {
            told.warn("nothing was changed".to_owned());
            told.end(object);
            return Ok(Exit::Done);
        }
        // What still starts Sinker would store all anew, without the ledger of what was forgotten. A server that stays in the host's register
        // only reads, and is no reason to keep the data of somebody who wants it gone.
        // It goes first: what the host leaves of its register is removed when the records end.
        let unregistered = unregister(&plan, &mut told);
        let silent = take_out(home, &places, &plan, &mut told) && good;
        good = silent && unregistered;
        if good && !plan.files.is_empty() {
            told.line(&format!(
                "{} nothing of Sinker starts with a session any more",
                told.paint.good("done")
            ));
        }
        if args.scope.is_none() {
            good &= end_drainer(home, args, &plan, &mut told, silent);
        }
    }
    if let Some(fields) = object.as_object_mut() {
        fields.insert("ok".to_owned(), good.into());
    }
    told.end(object);
    Ok(match (good, empty && args.dry_run) {
        (false, _) => Exit::Failed,
        (true, true) => Exit::Nothing,
        (true, false) => Exit::Done,
    })
}

/// The settings to look at: one scope's, or all that hold here and all that an install has written.
fn places(home: &Home, args: &Args, here: &Path) -> Result<Vec<Place>, Failure> {
    if let Some(scope) = args.scope.as_deref().and_then(Scope::from_name) {
        return Ok(vec![place(scope, here)?]);
    }
    let mut met = BTreeSet::new();
    let recorded = install::recorded(home)?;
    let all = Scope::ALL.into_iter().filter_map(|scope| Place::of(scope, here)).chain(recorded);
    Ok(all.filter(|place| met.insert(place.target().to_path_buf())).collect())
}

fn plan(
    home: &Home,
    args: &Args,
    places: &[Place],
    told: &mut Told,
    good: &mut bool,
) -> Result<Plan, Failure> {
    let mut plan = Plan { files: Vec::new(), servers: Vec::new(), service: None, data: Vec::new() };
    for place in places {
        match install::uninstall(home, place, true) {
            Ok(Some(done)) => {
                for line in &done.edited.by_hand {
                    told.warn(format!(
                        "a command of your own calls Sinker and stays in {}: {line}",
                        done.path.display()
                    ));
                }
                plan.files.push((place.clone(), done));
            }
            Ok(None) => {}
            // A file in doubt holds up no other; what it holds of ours is for a person to take out.
            Err(error @ InstallError::Doubt { .. }) => {
                if mentions_us(place) {
                    told.warn(format!("{error}; take the entries that call `sinker` out by hand"));
                    *good = false;
                }
            }
            Err(error) => return Err(error.into()),
        }
        let server = Server::new(place.scope(), place.root(), "").known_by(install::programs(home, place)?);
        if matches!(server.state(), ServerState::Current | ServerState::Older) {
            plan.servers.push((place.clone(), server));
        }
        if let Some(key) = install::around(place).plugin {
            *good = false;
            told.warn(format!(
                "the plugin {key} is on in {} and stays: `claude plugin uninstall {key}`",
                place.path().display()
            ));
        }
    }
    if args.scope.is_none() {
        plan.service = service::installed();
    }
    if args.purge {
        let survey = install::survey(home)?;
        if let Some(first) = survey.foreign.first() {
            return Err(Failure::new(format!(
                "{} holds {} that Sinker did not put there, {} among them; nothing was removed",
                home.root().display(),
                survey.foreign.len(),
                first.display()
            ))
            .hint("move what is yours out of the data directory, and run this again")
            .exit(Exit::Refused));
        }
        plan.data = survey.ours;
    }
    Ok(plan)
}

/// Settings in doubt: is our name in them at all?
fn mentions_us(place: &Place) -> bool {
    std::fs::read(place.target()).is_ok_and(|bytes| memchr::memmem::find(&bytes, b"sinker").is_some())
}

impl Plan {
    fn tell(&self, args: &Args, home: &Home, told: &mut Told) {
        let verb = |would: &'static str, does: &'static str| if args.dry_run { would } else { does };
        for (_, done) in &self.files {
            let path = done.path.display();
            let how = match (done.restored, done.edited.bytes.is_empty()) {
                (true, true) => "as before the install: it was not there, or empty",
                (true, false) => "byte for byte as before the install",
                (false, _) => {
                    "by the smallest edit, since it was changed after the install or never recorded"
                }
            };
            told.line(&format!(
                "{} {path}: {} entries go; {how}",
                verb("would change", "changing"),
                done.edited.removed
            ));
        }
        for (_, server) in &self.servers {
            told.line(&format!("{} `{}`", verb("would run", "running"), shell_words(&server.remove_words())));
        }
        if let Some(unit) = &self.service {
            told.line(&format!(
                "{} the service, {}",
                verb("would stop and remove", "stopping and removing"),
                unit.display()
            ));
        }
        for path in &self.data {
            told.line(&format!("{} {}", verb("would remove", "removing"), path.display()));
        }
        if args.purge
            && let Some(config) = user_config().filter(|path| path.exists())
        {
            told.line(&format!("your settings stay in {}", config.display()));
        }
        if !args.purge && home.root().is_dir() && !(self.files.is_empty() && self.servers.is_empty()) {
            told.line(&format!(
                "what was remembered stays in {}; `--purge` removes it",
                home.root().display()
            ));
        }
    }

    fn json(&self, args: &Args) -> serde_json::Value {
        let files = self.files.iter().map(|(place, done)| {
            json!({
                "scope": place.scope().name(), "path": text(&done.path), "removed": done.edited.removed,
                "restored": done.restored, "by_hand": done.edited.by_hand,
            })
        });
        let servers = self.servers.iter().map(
            |(place, server)| json!({ "scope": place.scope().name(), "command": server.remove_words() }),
        );
        json!({
            "dry_run": args.dry_run, "files": files.collect::<Vec<_>>(), "servers": servers.collect::<Vec<_>>(),
            "service": self.service.as_deref().map(text),
            "data": self.data.iter().map(|p| text(p)).collect::<Vec<_>>(),
            "config": user_config().filter(|path| path.exists()).map(|p| text(&p)),
        })
    }
}

/// Takes the servers out of the host's register. Returns false when one stays.
fn unregister(plan: &Plan, told: &mut Told) -> bool {
    let mut good = true;
    for (place, server) in &plan.servers {
        if let Err(why) = server.remove() {
            let words = shell_words(&server.remove_words());
            // The host takes the project from its working directory.
            let words = match place.scope() {
                Scope::User => words,
                _ => format!("cd {} && {words}", shell_words(&[text(place.root())])),
            };
            told.warn(format!("the MCP server is still registered: {why}; try it yourself: {words}"));
            good = false;
        }
    }
    good
}

/// Changes the settings and removes the service. Returns false when something stays that starts Sinker.
fn take_out(home: &Home, places: &[Place], plan: &Plan, told: &mut Told) -> bool {
    let mut good = true;
    // Each place, also those without entries: the record of an uninstall that was killed ends here.
    for place in places {
        match install::uninstall(home, place, false) {
            Ok(_) | Err(InstallError::Doubt { .. }) => {}
            Err(error) => {
                told.warn(error.to_string());
                good = false;
            }
        }
    }
    if let Some(unit) = &plan.service
        && let Err(failure) = service::remove(unit)
    {
        told.warn(format!(
            "the service stays: {}; `sinker service uninstall` tries it alone",
            failure.what()
        ));
        good = false;
    }
    good
}

/// Ends the drainer that still runs (what could start another is gone by now), and under `--purge` removes the data directory. Returns false when one of them failed.
fn end_drainer(home: &Home, args: &Args, plan: &Plan, told: &mut Told, silent: bool) -> bool {
    if plan.data.is_empty() && !drain::is_held(home) {
        return true;
    }
    let lock = match drain::end(home, DRAINER_ENDS) {
        Ok(lock) => lock,
        Err(error) => {
            told.warn(format!(
                "the drainer still runs: {error}; it leaves by itself when it has nothing to do"
            ));
            return false;
        }
    };
    if !args.purge {
        return true;
    }
    if !silent {
        told.warn("the data directory stays, since something still starts Sinker (see above); how settings were before is kept there".to_owned());
        return false;
    }
    let purged = install::purge(home);
    drop(lock);
    match purged {
        Ok(true) => true,
        Ok(false) => {
            told.warn(format!(
                "{} is not empty and stays; a hook of a session that still runs may have written there",
                home.root().display()
            ));
            false
        }
        Err(error) => {
            told.warn(error.to_string());
            false
        }
    }
}
