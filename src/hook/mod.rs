//! `sinker hook claude <event>`: capture drops a pointer, recall answers from the index. The host is never slowed, blocked or confused (D9).
//!
//! The capture path opens no database and no index (D1). Whatever happens, the exit code is 0 and stdout holds nothing or exactly one reply of
//! the shape legal for the event; the one exception is `--strict`, under which an understood event that could not be spooled exits 1.

mod args;
mod capture;
mod care;
mod event;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzz;
mod input;
mod notice;
mod reply;
mod speak;
mod starter;
mod tool;
mod voice;
mod watchdog;
mod wire;

pub use event::Event;

use crate::clock::Stopwatch;
use crate::config::{Home, Look, Settings, Unsafe};
use crate::{fs, log};
use args::{Args, Only};
use reply::Intents;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use voice::Voice;
use wire::Payload;

/// A capture hook ends within this, whatever state stdin and disk are in.
const CAPTURE_DEADLINE: Duration = Duration::from_millis(500);
/// A payload that has not come by then is used as far as it came: what is left of the deadline is for writing the pointer.
const STDIN_DEADLINE: Duration = Duration::from_millis(350);

/// Looking at the data directory, and repairing it, is not waited for any longer.
const NOTICE_DEADLINE: Duration = Duration::from_millis(400);

/// Runs a hook; `args` are those behind `hook`. Returns the exit code: 0, or 1 under `--strict`.
pub fn run(args: impl Iterator<Item = OsString> + std::panic::UnwindSafe) -> u8 {
    let watch = Stopwatch::start();
    let args: Vec<OsString> = args.collect();
    if args.iter().any(|arg| arg == "--help" || arg == "-h") {
        return speak::help();
    }
    let args = args.into_iter();
    let Some(home) = Home::find() else {
        log::error("hook", &[], "Neither SINKER_HOME nor HOME is set; set one of them.");
        return 0;
    };
    fs::private_umask();
    let args = Args::parse(args);
    let recalls = args.as_ref().is_ok_and(Args::recalls);
    // Recall reads what others may have put there: it looks at each name.
    let look = if recalls { Look::Whole } else { Look::Hook };
    // Not said: what is not ours is no place for a log, and the host has no use for the word. `doctor` and `status` tell.
    let home = match home.clone().trusted(look) {
        Ok(home) => home,
        // The user's own mistake, such as a file in the place of a folder: that is said in the log, where it stands in the way.
        Err(Unsafe::Kind { .. }) => home,
        Err(_) => return 0,
    };
    log::open(&home, "hook");
    // A panic is our fault and must not become the host's: the hook did nothing, and says so in the log.
    log::panics("hook");
    std::panic::catch_unwind(|| answer(&home, args, watch)).unwrap_or(0)
}

fn answer(home: &Home, args: Result<Args, String>, watch: Stopwatch) -> u8 {
    let args = match args {
        Ok(args) => args,
        Err(what) => {
            log::warn(
                "hook",
                &[("argument", &what)],
                "The hook was called in a way it does not know; nothing is done.",
            );
            return 0;
        }
    };
    let recalls = args.recalls();
    // Capture has no use for what a tool was given.
    let texts = args.event.is_of_tool() && recalls;
    let mut payload = match wire::read_stdin(&watch, STDIN_DEADLINE, texts) {
        Ok(payload) => payload,
        Err(error) => {
            log::warn(
                "hook",
                &[("event", &args.event.name())],
                &format!("The payload cannot be used: {error}."),
            );
            return 0;
        }
    };
    let mut settings = SettingsOf::default();
    let code = capture_half(home, &args, &payload, watch, &mut settings);
    if recalls {
        let voice = Voice::take();
        payload.hide_private();
        voice.print(recall_half(home, &args, &payload, &mut settings));
    }
    code
}

/// The settings of the directory that was asked about last: both halves of a hook ask, mostly about the same one.
#[derive(Default)]
struct SettingsOf(Option<(PathBuf, Settings)>);

impl SettingsOf {
    fn read(&mut self, directory: &Path) -> &Settings {
        let known = self.0.take().filter(|(known, _)| known == directory);
        let read = || (directory.to_path_buf(), Settings::read(Some(directory)));
        &self.0.insert(known.unwrap_or_else(read)).1
    }
}

fn capture_half(
    home: &Home,
    args: &Args,
    payload: &Payload,
    watch: Stopwatch,
    settings: &mut SettingsOf,
) -> u8 {
    if !args.event.captures() || args.only.is_some_and(|only| only != Only::Capture) {
        return 0;
    }
    // Of this half alone: recall has a deadline of its own, which the user may set.
    let _watchdog = watchdog::set(watch.left(CAPTURE_DEADLINE));
    match capture::capture(home, args.event, payload, settings) {
        Ok(false) => 0,
        Ok(true) => {
            starter::start_drainer_if_none(home);
            0
        }
        Err(error) => {
            log::error(
                "hook",
                &[("event", &args.event.name())],
                &format!("The event was not spooled: {error}."),
            );
            // A home that takes no pointer has no use for a drainer, and one line about it is enough.
            if !error.is_ours() {
                starter::start_drainer_if_none(home);
            }
            u8::from(args.strict && error.is_ours())
        }
    }
}

/// What a handler intends, as the one reply that the host is to get; it prints nothing itself.
fn recall_half(home: &Home, args: &Args, payload: &Payload, settings: &mut SettingsOf) -> Option<String> {
    let recalls = args.event.recalls(payload.reason());
    let told = if recalls { speak::compose(home, args, payload, settings) } else { None };
    let word = match args.event {
        Event::SessionStart => word_in_time(home, |home| notice::due(home, care::mend(home))),
        Event::Setup => word_in_time(home, care::check),
        _ => None,
    };
    let told = told.unwrap_or_default();
    // What is wrong stands first.
    let words: Vec<String> = word.into_iter().chain(told.copy).collect();
    let words = Some(words.join("\n")).filter(|words| !words.is_empty());
    let intents = Intents { context: told.context, deny: told.deny, word: words };
    reply::reply(args.event, &intents)
}

/// A disk that does not answer costs the user the line about it, not the session its context.
fn word_in_time(home: &Home, look: fn(&Home) -> Option<String>) -> Option<String> {
    let (tell, told) = std::sync::mpsc::channel();
    let home = home.clone();
    // Where no thread can be made, nothing is said. One that is stuck ends with the process.
    std::thread::Builder::new().name("notice".to_owned()).spawn(move || tell.send(look(&home)).ok()).ok()?;
    told.recv_timeout(NOTICE_DEADLINE).ok().flatten()
}
