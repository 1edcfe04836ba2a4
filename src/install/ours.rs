//! Which hooks in the host's settings are ours, and in what form: current, older, doubled, or a command of the user's own that calls us.

use super::entries::{Entry, Half};
use serde_json::Value;
use std::path::Path;

/// How a hook of ours stands in the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    /// Exactly the entry with this number in the list that was asked about.
    Current(usize),
    /// Ours, but not as it would be written now: a shell line, another path, other arguments, matcher or limits, or no longer wanted.
    Older,
    /// The same as one before it: the event would be answered twice.
    Doubled,
    /// A command that a person made around our binary (`cd /x && sinker hook …`, `env A=b sinker hook …`): never changed.
    ByHand,
}

/// A hook of ours in the settings, with its place: `hooks.<key>[group].hooks[hook]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The host's event, as the settings have it.
    pub key: String,
    /// Number of its group in the event's list.
    pub group: usize,
    /// Number of it in the group's list.
    pub hook: usize,
    /// The program, as written; the whole line when it is by hand.
    pub command: String,
    /// Our name of the event on its command line; empty when it is by hand.
    pub event: String,
    /// The half it asks for; [`Half::Whole`] when it asks for none.
    pub half: Half,
    /// The form.
    pub form: Form,
}

/// Finds the hooks of ours in a settings file that was read as JSON; what has another shape is passed over.
///
/// `wanted` and `command` say what is current; `command` is the absolute path of the binary.
pub fn find(settings: &Value, wanted: &[Entry], command: &str) -> Vec<Found> {
    find_by(settings, wanted, command, &[])
}

/// The same, where binaries of ours were installed under other names than `sinker`, too: `programs`, absolute paths.
pub(super) fn find_by(settings: &Value, wanted: &[Entry], command: &str, programs: &[String]) -> Vec<Found> {
    let own = |program: &str| program == command || programs.iter().any(|known| known == program);
    let mut found = Vec::new();
    let mut met = vec![false; wanted.len()];
    let events = settings.get("hooks").and_then(Value::as_object);
    for (key, groups) in events.into_iter().flatten() {
        for (g, group) in groups.as_array().into_iter().flatten().enumerate() {
            let hooks = group.get("hooks").and_then(Value::as_array);
            for (h, hook) in hooks.into_iter().flatten().enumerate() {
                let Some(call) = read(hook, &own) else { continue };
                let matcher = group.get("matcher").and_then(Value::as_str);
                let is_current =
                    |e: &Entry| e.host_event == key && e.matches(matcher) && e.hook(command) == *hook;
                let form = match wanted.iter().position(is_current) {
                    _ if call.by_hand => Form::ByHand,
                    None => Form::Older,
                    Some(n) => match met.get_mut(n) {
                        Some(met) if !*met => {
                            *met = true;
                            Form::Current(n)
                        }
                        _ => Form::Doubled,
                    },
                };
                let Call { command, event, half, .. } = call;
                found.push(Found { key: key.clone(), group: g, hook: h, command, event, half, form });
            }
        }
    }
    found
}

/// The entries of `wanted` that are not there as they should be.
pub fn missing<'a>(found: &[Found], wanted: &'a [Entry]) -> Vec<&'a Entry> {
    let there = |n: usize| found.iter().any(|f| f.form == Form::Current(n));
    wanted.iter().enumerate().filter(|(n, _)| !there(*n)).map(|(_, entry)| entry).collect()
}

struct Call {
    command: String,
    event: String,
    half: Half,
    by_hand: bool,
}

/// Reads a hook object; `None` when it is not ours.
fn read(hook: &Value, own: &dyn Fn(&str) -> bool) -> Option<Call> {
    let command = hook.get("command")?.as_str()?;
    let words = match hook.get("args") {
        Some(args) => {
            let args = args.as_array()?.iter().map(|a| a.as_str().map(str::to_owned));
            std::iter::once(Some(command.to_owned())).chain(args).collect::<Option<Vec<_>>>()?
        }
        None => shlex::split(command).unwrap_or_else(|| command.split(' ').map(str::to_owned).collect()),
    };
    let calls = |at: &[String]| match at {
        [program, hook, host, ..] => is_binary(program, own) && hook == "hook" && host == "claude",
        _ => false,
    };
    if calls(&words) {
        let plain =
            hook.get("args").is_some() || !command.contains(['|', ';', '&', '<', '>', '(', '`', '\n']);
        if let (true, Some((event, half))) = (plain, arguments(words.get(3..).unwrap_or_default())) {
            let command = words.first().cloned().unwrap_or_default();
            return Some(Call { command, event, half, by_hand: false });
        }
    }
    // Somewhere behind other words, or inside the text of a shell's `-c`.
    let inside = words.windows(3).any(calls) || words.iter().any(|word| mentions(word, own));
    let line = words.join(" ");
    inside.then(|| Call { command: line, event: String::new(), half: Half::Whole, by_hand: true })
}

fn is_binary(program: &str, own: &dyn Fn(&str) -> bool) -> bool {
    own(program) || Path::new(program).file_name().is_some_and(|name| name == "sinker")
}

/// A word that is itself a command line.
fn mentions(word: &str, own: &dyn Fn(&str) -> bool) -> bool {
    let parts: Vec<&str> = word.split_whitespace().collect();
    parts.windows(3).any(|at| match at {
        [program, hook, host] => {
            is_binary(program.trim_matches(['"', '\'']), own) && *hook == "hook" && *host == "claude"
        }
        _ => false,
    })
}

/// `<event> [PROJECT] [--only HALF] [--strict]`, with an event of any version.
fn arguments(words: &[String]) -> Option<(String, Half)> {
    let (event, rest) = words.split_first()?;
    let mut half = Half::Whole;
    let mut rest = rest.iter().map(String::as_str);
    while let Some(word) = rest.next() {
        let only = match word {
            "--only" => rest.next(),
            word => word.strip_prefix("--only="),
        };
        match only {
            Some("capture") => half = Half::Capture,
            Some("recall") => half = Half::Recall,
            _ => {}
        }
    }
    let plain = !event.is_empty() && event.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    plain.then(|| (event.clone(), half))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Tools;
    use crate::install::entries::wanted;
    use serde_json::json;

    const OWN: &str = "/home/dev/.local/bin/sinker";

    fn form(hook: Value) -> Option<Form> {
        let settings = json!({ "hooks": { "Stop": [{ "hooks": [hook] }] } });
        find(&settings, &wanted(Tools::Quiet), OWN).into_iter().next().map(|f| f.form)
    }

    fn exec(command: &str, args: &[&str]) -> Value {
        json!({ "type": "command", "command": command, "args": args, "async": true, "timeout": 5 })
    }

    fn line(command: &str) -> Value {
        json!({ "type": "command", "command": command })
    }

    #[test]
    fn our_hooks_are_told_from_others_in_every_form() {
        let stop = wanted(Tools::Quiet).iter().position(|e| e.event == "stop").unwrap();
        let args = ["hook", "claude", "stop", "--only", "capture"];
        let cases = [
            (exec(OWN, &args), Some(Form::Current(stop))),
            (exec("/opt/sinker-0.0/sinker", &args), Some(Form::Older)),
            (exec(OWN, &["hook", "claude", "stop"]), Some(Form::Older)),
            (exec(OWN, &["hook", "claude", "gone-event"]), Some(Form::Older)),
            (line("/opt/my tools/sinker hook claude stop"), Some(Form::ByHand)),
            (line("'/opt/my tools/sinker' hook claude stop"), Some(Form::Older)),
            (line("\"$HOME\"/.local/bin/sinker hook claude stop --only=capture"), Some(Form::Older)),
            (line("sinker hook claude stop /p --strict"), Some(Form::Older)),
            (line("sinker hook claude stop && notify"), Some(Form::ByHand)),
            (line("SINKER_HOME=/x sinker hook claude stop"), Some(Form::ByHand)),
            (line("sh -c 'exec /x/sinker hook claude stop'"), Some(Form::ByHand)),
            (exec("env", &["A=b", "sinker", "hook", "claude", "stop"]), Some(Form::ByHand)),
            (line("sinker status"), None),
            (line("notsinker hook claude stop"), None),
            (line("echo sinker"), None),
            (exec("/bin/other", &args), None),
            (json!({ "type": "http", "url": "http://localhost/sinker" }), None),
            (json!("sinker hook claude stop"), None),
        ];
        for (hook, expected) in cases {
            assert_eq!(form(hook.clone()), expected, "{hook}");
        }
    }

    #[test]
    fn another_event_key_or_matcher_is_not_current_and_the_second_is_doubled() {
        let entries = wanted(Tools::Quiet);
        let stop = exec(OWN, &["hook", "claude", "stop", "--only", "capture"]);
        let settings = json!({ "hooks": {
            "Stop": [{ "matcher": "*", "hooks": [stop, stop] }, { "matcher": "x", "hooks": [stop] }],
            "SubagentStop": [{ "hooks": [stop] }],
            "Odd": "not a list", "Odder": [7, { "hooks": 7 }],
        } });
        let forms: Vec<_> = find(&settings, &entries, OWN).into_iter().map(|f| f.form).collect();
        let n = entries.iter().position(|e| e.event == "stop").unwrap();
        assert_eq!(forms, [Form::Current(n), Form::Doubled, Form::Older, Form::Older]);
    }
}
