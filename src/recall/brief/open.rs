//! Open work: what was to come next and was not taken up, and what was asked and broken off.

use super::line::{Kind, Line, stripped};
use super::past::Past;
use crate::index::tokens;
use crate::recall::todo::Work;
use crate::work;
use std::collections::{BTreeMap, HashSet};

/// What a later turn was about holds this share of a step's words when it took the step up.
const TAKEN_UP: f64 = 0.66;
/// Shorter steps say nothing. Units: characters.
const LEAST_CHARS: usize = 8;
/// Shorter requests say nothing without what stood before them (`commit this`). Units: words.
const LEAST_WORDS: usize = 3;

/// What the newest turns and the last session left to do and nothing took up later, the newest first.
pub(in crate::recall) fn left<'a>(sessions: &'a [Past], turns: &'a [Past]) -> Vec<(&'a Past, String)> {
    let words: Vec<HashSet<String>> = turns.iter().map(dealt_with).collect();
    let mut all = Vec::new();
    if let Some(last) = sessions.first() {
        all.extend(steps(last).map(|step| (last, step.to_owned())));
    }
    for (n, turn) in turns.iter().enumerate() {
        let later = words.get(..n).unwrap_or_default();
        let open = steps(turn).filter(|step| !is_taken_up(step, later));
        all.extend(open.map(|step| (turn, step.to_owned())));
    }
    all
}

/// Was a turn about what is to be done?
pub(in crate::recall) fn taken_up(text: &str, turn: &Past) -> bool {
    let terms = tokens::terms(text).collect::<HashSet<_>>().len();
    terms >= LEAST_WORDS && is_taken_up(text, &[dealt_with(turn)])
}

/// What was written down first, then of the last session, then of all turns that can be seen, newest first.
pub(super) fn open(
    sessions: &[Past],
    turns: &[Past],
    items: &BTreeMap<String, Work>,
) -> (Vec<Line>, Vec<Line>) {
    let mut next = Vec::new();
    let mut left = Vec::new();
    let mut listed: Vec<&Work> = items.values().filter(|item| item.state.is_open()).collect();
    // What is being done first.
    listed.sort_by_key(|item| (item.state, std::cmp::Reverse(item.time_ms()), &item.id));
    for item in listed {
        if item.is_listed() { left.push(Line::of(item)) } else { next.push(Line::of(item)) }
    }
    // What somebody said of a step since holds.
    let is_over = |past: &Past, step: &str| {
        items
            .get(&work::key(step))
            .is_some_and(|item| !item.state.is_open() && item.time_ms() >= past.doc.time_ms)
    };
    if let Some(last) = sessions.first() {
        let steps = steps(last).filter(|step| !is_over(last, step));
        next.extend(steps.map(|step| Line::new(Kind::Open, last, "assistant", step)));
    }
    let words: Vec<HashSet<String>> = turns.iter().map(dealt_with).collect();
    let mut ended: HashSet<&str> = HashSet::new();
    for (n, turn) in turns.iter().enumerate() {
        // Newest first, so the first turn seen of a session is its last.
        let is_last = ended.insert(turn.session());
        let later = words.get(..n).unwrap_or_default();
        let broken = is_last.then(|| broken_off(turn)).flatten().into_iter();
        let said = steps(turn).filter(|step| !is_over(turn, step));
        let open = said.map(|step| Line::new(Kind::Open, turn, "assistant", step)).chain(broken);
        let open = open.filter(|line| !is_taken_up(&line.words, later));
        if sessions.first().is_some_and(|last| last.session() == turn.session()) && is_last {
            next.extend(open);
        } else {
            left.extend(open);
        }
    }
    (next, left)
}

/// The lines of what was to come next that say something.
fn steps(past: &Past) -> impl Iterator<Item = &str> {
    past.said.next_steps.lines().filter_map(|line| {
        let done = line.contains("[x]") || line.contains("[X]") || line.contains('✅');
        let markup = line.trim_start().starts_with(['<', '|', '`']);
        let step = stripped(line);
        let empty = step.chars().count() < LEAST_CHARS || step.ends_with(':');
        let none = ["none", "nothing"].iter().any(|word| {
            step.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word)) && step.len() < 40
        });
        (!done && !markup && !empty && !none).then_some(step)
    })
}

/// What was asked last and broken off, or never answered.
fn broken_off(turn: &Past) -> Option<Line> {
    let said = &turn.said;
    let interrupted = said.notes.lines().any(|line| line == "interrupted by the user");
    // What is left to do is an answer, too.
    let unanswered = said.completed.is_empty()
        && said.next_steps.is_empty()
        && said.files_edited.is_empty()
        && !said.request.starts_with('/');
    let request =
        said.request.lines().map(stripped).find(|line| line.split_whitespace().count() >= LEAST_WORDS)?;
    let why = match (interrupted, unanswered) {
        (true, _) => "interrupted",
        (_, true) => "unanswered",
        _ => return None,
    };
    Some(Line::new(Kind::Open, turn, "user", &format!("{why}: {request}")))
}

fn dealt_with(turn: &Past) -> HashSet<String> {
    tokens::terms(&turn.said.request).chain(tokens::terms(&turn.said.completed)).collect()
}

fn is_taken_up(step: &str, later: &[HashSet<String>]) -> bool {
    let terms: HashSet<String> = tokens::terms(step).collect();
    let held = |words: &HashSet<String>| terms.iter().filter(|term| words.contains(*term)).count() as f64;
    !terms.is_empty() && later.iter().any(|words| held(words) >= TAKEN_UP * terms.len() as f64)
}
