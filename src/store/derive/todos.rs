//! The host's lists of things to do: the items of a turn, and what a session's items come to.

use super::extract::SOURCE_CHARS;
use crate::store::body::{Block, Todo};
use crate::work::State;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Items of a turn or a session, at most.
const MOST: usize = 40;
/// A longer text is no item. Units: characters.
const TEXT_CHARS: usize = 300;

/// Collects the items of a turn, record by record. The host writes the whole list each time (`TodoWrite`), or makes tasks one by one
/// (`TaskCreate`, `TaskUpdate`).
#[derive(Default)]
pub(super) struct Collector {
    items: Vec<Todo>,
    /// Tasks that are being made, by call: their subject.
    making: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Listed {
    #[serde(default)]
    content: String,
    #[serde(default)]
    status: String,
}

impl Collector {
    /// Takes a record; `id` tells where it is found again.
    pub(super) fn add(&mut self, id: &str, blocks: &[Block]) {
        let record = id.get(..SOURCE_CHARS).unwrap_or(id);
        for block in blocks {
            match block {
                Block::Use { id: call, name, t, .. } => match name.as_str() {
                    "TodoWrite" => self.list(record, t),
                    "TaskCreate" => {
                        if let Some(subject) = value(t, "subject") {
                            self.making.insert(call.clone(), subject.to_owned());
                        }
                    }
                    "TaskUpdate" => self.update(record, t),
                    _ => {}
                },
                Block::Result { id: call, t, failed, .. } => {
                    if let Some(subject) = self.making.remove(call).filter(|_| !failed) {
                        let number = t.split_once('#').map(|(_, rest)| digits(rest));
                        let task = number.filter(|n| !n.is_empty()).map(str::to_owned);
                        self.put(Todo { text: subject, state: State::Open, task, record: record.to_owned() });
                    }
                }
                _ => {}
            }
        }
    }

    fn list(&mut self, record: &str, input: &str) {
        let json = value(input, "todos").unwrap_or_default();
        let Ok(listed) = serde_json::from_str::<Vec<Listed>>(json) else { return };
        let listed: Vec<Listed> = listed.into_iter().filter(|item| !item.content.is_empty()).collect();
        // The list is written whole: what is no longer in it was given up, unless it was done.
        for item in self.items.iter_mut().filter(|item| item.task.is_none() && item.state.is_open()) {
            if !listed.iter().any(|l| l.content == item.text) {
                item.state = State::Dropped;
                record.clone_into(&mut item.record);
            }
        }
        for item in listed {
            let state = State::parse(&item.status).unwrap_or(State::Open);
            self.put(Todo { text: item.content, state, task: None, record: record.to_owned() });
        }
    }

    fn update(&mut self, record: &str, input: &str) {
        let Some(task) = value(input, "taskId").map(|n| n.trim_start_matches('#').to_owned()) else { return };
        let state = value(input, "status").and_then(State::parse);
        let text = value(input, "subject").map(str::to_owned);
        let known = self.items.iter_mut().find(|item| item.task.as_deref() == Some(&task));
        match (known, state) {
            (Some(item), state) => {
                item.state = state.unwrap_or(item.state);
                item.text = text.unwrap_or_else(|| item.text.clone());
                record.clone_into(&mut item.record);
            }
            (None, Some(state)) => {
                // Made in an earlier turn, which has its text.
                let text = text.unwrap_or_default();
                self.put(Todo { text, state, task: Some(task), record: record.to_owned() });
            }
            (None, None) => {}
        }
    }

    fn put(&mut self, item: Todo) {
        put(&mut self.items, item);
    }

    /// The items of the turn, each with its last state.
    pub(super) fn items(self) -> Vec<Todo> {
        self.items
    }
}

fn put(items: &mut Vec<Todo>, item: Todo) {
    let same = |known: &Todo| match (&known.task, &item.task) {
        (None, None) => known.text == item.text,
        (known, new) => known == new,
    };
    if let Some(known) = items.iter_mut().find(|known| same(known)) {
        let text = if item.text.is_empty() { std::mem::take(&mut known.text) } else { item.text };
        *known = Todo { text, ..item };
    } else if items.len() < MOST && item.text.chars().count() <= TEXT_CHARS {
        items.push(item);
    }
}

/// What the items of a session's turns come to, in the order of the turns.
pub(super) fn fold<'a>(turns: impl Iterator<Item = &'a [Todo]>) -> Vec<Todo> {
    let mut all: Vec<Todo> = Vec::new();
    for items in turns {
        // As in a turn: a later list that does not hold an item gives it up.
        if let Some(list) = items.iter().find(|item| item.task.is_none()) {
            for known in all.iter_mut().filter(|known| known.task.is_none() && known.state.is_open()) {
                if !items.iter().any(|item| item.text == known.text) {
                    known.state = State::Dropped;
                    known.record.clone_from(&list.record);
                }
            }
        }
        items.iter().for_each(|item| put(&mut all, item.clone()));
    }
    all.retain(|item| !item.text.is_empty());
    all
}

/// The value of a key in a flattened input: up to the end of its line.
fn value<'a>(input: &'a str, key: &str) -> Option<&'a str> {
    let is_it = |line: &'a str| line.strip_prefix(key)?.strip_prefix(": ");
    // Keys are sorted: of a text with line ends in it that looks like a key, the real one comes later.
    input.lines().rev().find_map(is_it).map(str::trim).filter(|value| !value.is_empty())
}

fn digits(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, input: &serde_json::Value) -> Vec<Block> {
        let t = crate::transcript::flatten_input(input);
        vec![Block::Use { id: "c".into(), name: name.into(), t, file: None, cmd: None }]
    }

    fn todos(items: &[(&str, &str)]) -> Vec<Block> {
        let list: Vec<_> = items
            .iter()
            .map(|(content, status)| serde_json::json!({"content": content, "status": status, "activeForm": "x"}))
            .collect();
        call("TodoWrite", &serde_json::json!({"todos": list}))
    }

    fn states(items: &[Todo]) -> Vec<(&str, &str)> {
        items.iter().map(|item| (item.text.as_str(), item.state.name())).collect()
    }

    #[test]
    fn a_list_that_no_longer_holds_an_item_gives_it_up_unless_it_was_done() {
        let mut first = Collector::default();
        first.add("o-1", &todos(&[("a", "completed"), ("b", "in_progress"), ("c", "pending")]));
        first.add("o-2", &todos(&[("c", "pending"), ("d", "pending")]));
        let first = first.items();
        assert_eq!(states(&first), [("a", "done"), ("b", "dropped"), ("c", "open"), ("d", "open")]);
        let mut second = Collector::default();
        second.add("o-3", &todos(&[("d", "completed")]));
        let second = second.items();
        let all = fold([first.as_slice(), &[], &second].into_iter());
        assert_eq!(states(&all), [("a", "done"), ("b", "dropped"), ("c", "dropped"), ("d", "done")]);
        assert_eq!(all[2].record, "o-3");
    }

    #[test]
    fn a_task_keeps_its_text_when_only_its_state_changes_later() {
        let mut first = Collector::default();
        first.add(
            "o-1",
            &call("TaskCreate", &serde_json::json!({"subject": "Write it", "description": "x\nsubject: no"})),
        );
        let made = Block::Result {
            id: "c".into(),
            t: "Task #7 created successfully: Write it".into(),
            failed: false,
            exit: None,
            interrupted: false,
        };
        first.add("o-2", &[made]);
        let mut second = Collector::default();
        second.add("o-3", &call("TaskUpdate", &serde_json::json!({"taskId": "7", "status": "completed"})));
        second.add("o-4", &call("TaskUpdate", &serde_json::json!({"taskId": "8", "status": "completed"})));
        let (first, second) = (first.items(), second.items());
        assert_eq!(states(&first), [("Write it", "open")]);
        assert_eq!(states(&fold([first.as_slice(), &second].into_iter())), [("Write it", "done")]);
    }

    #[test]
    fn what_is_no_list_is_none() {
        let mut collector = Collector::default();
        collector.add("o-1", &call("TodoWrite", &serde_json::json!({"todos": "x"})));
        collector.add("o-2", &call("TodoWrite", &serde_json::json!({"todos": [1]})));
        assert_eq!(collector.items(), []);
    }
}
