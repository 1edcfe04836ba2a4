//! `sinker retain`.

use super::Exit;
use super::exit::Failure;
use super::output::{self, Paint};
use crate::config::{Home, RetainRule, Settings};
use crate::store::Reader;
use crate::{clock, drain};
use serde_json::json;

/// Take away what the rules under `[retain]` in the settings say is too old or too much; a running drainer does so once a day. It is no
/// forgetting: what a transcript still holds can be imported again without the rule.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Show what would go, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Never take these documents: ids; a turn or a summary stands for what it rests on
    #[arg(long, value_name = "ID", num_args = 1.., conflicts_with = "dry_run")]
    pin: Vec<String>,
    /// Let them go again
    #[arg(long, value_name = "ID", num_args = 1.., conflicts_with_all = ["dry_run", "pin"])]
    unpin: Vec<String>,
    /// List what is pinned
    #[arg(long, conflicts_with_all = ["dry_run", "pin", "unpin"])]
    pins: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(home: &Home, args: &Args) -> Result<Exit, Failure> {
    let store = Reader::open_to_show(home)?;
    if args.pins {
        return pins(&store, args.json);
    }
    if !args.pin.is_empty() || !args.unpin.is_empty() {
        return pin(home, store, args);
    }
    if let Some(what) = drain::retention_in_doubt() {
        return Err(Failure::new(what)
            .hint("mend it in the settings; `sinker config check` names the file and the key")
            .exit(Exit::Usage));
    }
    let rules = Settings::read(None).retain();
    if rules.is_empty() {
        return Err(Failure::new("nothing is to be taken away: there is no rule")
            .hint("under [retain] in the settings: rules = [{ speaker = \"tool\", max_age_days = 90 }]; `sinker config show` names the file")
            .exit(Exit::Nothing));
    }
    let expired = store.expired(&rules, clock::now().0)?;
    let documents: u64 = expired.iter().map(|one| one.documents).sum();
    let bytes: u64 = expired.iter().map(|one| one.bytes).sum();
    drop(store);
    let removed = if args.dry_run || documents == 0 { documents } else { take(home, &rules)? };
    if args.json {
        let each: Vec<_> = expired
            .iter()
            .map(|one| json!({ "rule": one.rule, "documents": one.documents, "bytes": one.bytes }))
            .collect();
        output::json(&json!({ "removed": removed, "bytes": bytes, "rules": each, "dry_run": args.dry_run }));
        return Ok(Exit::Done);
    }
    let paint = Paint::new();
    let verb = if args.dry_run { "would take away" } else { "took away" };
    output::say(&format!("{} {removed} records, {bytes} bytes of text", paint.good(verb)));
    for one in expired {
        let line = format!("  {}: {} records, {} bytes", one.rule, one.documents, one.bytes);
        output::say(&output::plain(&line));
    }
    Ok(Exit::Done)
}

fn take(home: &Home, rules: &[RetainRule]) -> Result<u64, Failure> {
    let reply = drain::order(home, "retain", &json!({ "rules": rules }), &mut output::complain)?;
    match reply.error {
        Some(error) => Err(Failure::new(error).hint("run it again: it goes on where it stopped")),
        None => Ok(reply.forgotten),
    }
}

fn pins(store: &Reader, json: bool) -> Result<Exit, Failure> {
    let pinned = store.pinned()?;
    for id in &pinned {
        if json { output::json(&json!({ "id": id })) } else { output::say(id) }
    }
    Ok(if pinned.is_empty() { Exit::Nothing } else { Exit::Done })
}

fn pin(home: &Home, store: Reader, args: &Args) -> Result<Exit, Failure> {
    let pinned = !args.pin.is_empty();
    let (found, unknown) = store.select_ids(if pinned { &args.pin } else { &args.unpin })?;
    if let Some(id) = unknown.first() {
        return Err(Failure::new(format!("there is no document {id}"))
            .hint("`sinker search WORDS --all` and `sinker timeline` print ids")
            .exit(Exit::Nothing));
    }
    drop(store);
    let what = json!({ "ids": found.doomed.documents, "pinned": pinned });
    let reply = drain::order(home, "pin", &what, &mut output::complain)?;
    if let Some(error) = reply.error {
        return Err(Failure::new(error).hint("run it again"));
    }
    let changed = reply.forgotten;
    if args.json {
        output::json(&json!({ "changed": changed, "pinned": pinned }));
    } else {
        let verb = if pinned { "pinned" } else { "unpinned" };
        output::say(&format!("{} {changed} records", Paint::new().good(verb)));
    }
    Ok(Exit::Done)
}
