//! The host's settings as text: entries go in and out by the smallest edit; every other byte, key order, indentation and line end stays.
//!
//! Pure: from bytes to bytes. On any doubt (comments, trailing commas, a key twice, another shape than the host's) it refuses.

use super::entries::Entry;
use super::ours::{self, Form, Found};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const BOM: &str = "\u{feff}";

/// Why settings are left as they are. The user's to look at.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Doubt {
    /// Not UTF-8, or not JSON.
    #[error("it is not JSON: {0}")]
    Invalid(String),
    /// JSON with comments or trailing commas: what the host makes of it is not ours to guess.
    #[error("it has {0}, which JSON does not know")]
    Loose(&'static str),
    /// A key stands twice in one object: which of them holds?
    #[error("the key {0} stands in it twice")]
    Twice(String),
    /// The place where hooks stand has another shape.
    #[error("{0}")]
    Shape(String),
}

/// Settings that were read and understood.
#[derive(Debug, Clone)]
pub struct Document {
    bom: bool,
    text: String,
    value: Value,
    /// Binaries of ours under other names than `sinker`.
    programs: Vec<String>,
}

/// What an edit did. `bytes` are the very bytes that were read when nothing had to change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edited {
    /// The new file.
    pub bytes: Vec<u8>,
    /// Entries that were not there.
    pub added: usize,
    /// Entries that stood there in an older form.
    pub replaced: usize,
    /// Entries of ours that went: doubled, no longer wanted, or all of them.
    pub removed: usize,
    /// Entries that were right.
    pub kept: usize,
    /// Commands of the user's own that call us; left as they are.
    pub by_hand: Vec<String>,
}

impl Edited {
    /// Something has changed.
    pub fn is_change(&self) -> bool {
        self.added + self.replaced + self.removed > 0
    }
}

impl Document {
    /// The settings of a file that does not exist.
    pub fn absent() -> Self {
        Self::new(false, "{}\n", Value::Object(serde_json::Map::new()))
    }

    /// Reads settings; an empty file is an empty object. Errors: [`Doubt`].
    pub fn parse(bytes: &[u8]) -> Result<Self, Doubt> {
        let text = std::str::from_utf8(bytes).map_err(|e| Doubt::Invalid(e.to_string()))?;
        let (bom, text) = text.strip_prefix(BOM).map_or((false, text), |rest| (true, rest));
        if text.trim().is_empty() {
            return Ok(Self::new(bom, text, Value::Object(serde_json::Map::new())));
        }
        let value: Value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(error) => return Err(loose(text).unwrap_or_else(|| Doubt::Invalid(error.to_string()))),
        };
        let root = tree(text)?;
        root.value().map_or(Ok(()), |node| no_key_twice(&node))?;
        shape(&value)?;
        Ok(Self::new(bom, text, value))
    }

    fn new(bom: bool, text: &str, value: Value) -> Self {
        Self { bom, text: text.to_owned(), value, programs: Vec::new() }
    }

    /// The same settings, in which entries of these programs are ours, whatever their names are.
    pub fn known_by(self, programs: &[String]) -> Self {
        Self { programs: programs.to_vec(), ..self }
    }

    /// The settings as JSON.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Puts the entries in: the current ones stay where they are, older forms are replaced in their place, doubled ones go, missing ones
    /// come last in the list of their event. Errors: as [`Document::parse`], which has excluded them.
    pub fn with(&self, wanted: &[Entry], command: &str) -> Result<Edited, Doubt> {
        let found = self.find(wanted, command);
        let mut edited = self.account(&found);
        let mut there = vec![false; wanted.len()];
        for f in &found {
            if let Form::Current(n) = f.form {
                edited.kept += 1;
                mark(&mut there, n);
            }
        }
        let (root, nodes) = self.nodes(&found)?;
        for (f, node) in &nodes {
            let is_due = |(n, e): &(usize, &Entry)| {
                there.get(*n) == Some(&false)
                    && e.host_event == f.key
                    && e.event == f.event
                    && (f.half == e.half || f.half == super::Half::Whole)
            };
            let due = match f.form {
                Form::Older => wanted.iter().enumerate().find(is_due),
                Form::Doubled => None,
                Form::Current(_) | Form::ByHand => continue,
            };
            let put = due.is_some_and(|(_, entry)| node.put(entry, command));
            if let (true, Some((n, _))) = (put, due) {
                mark(&mut there, n);
                edited.replaced += 1;
            } else {
                node.remove();
                edited.removed += 1;
            }
        }
        for (entry, _) in wanted.iter().zip(&there).filter(|(_, there)| !**there) {
            let events = root.object_value_or_set().object_value_or_set("hooks");
            events.array_value_or_set(entry.host_event).append(input(&entry.group(command)));
            edited.added += 1;
        }
        // Behind the additions: a list that only gets another entry keeps its place.
        tidy_up(&nodes, &Kept::default());
        edited.bytes = self.bytes(edited.is_change().then_some(&root));
        Ok(edited)
    }

    /// Takes all entries of ours out, and the groups, lists and the object that become empty by it; but those that `before`, the
    /// settings from before the install, had already. Errors: as [`Document::with`].
    pub fn without(&self, before: Option<&Document>) -> Result<Edited, Doubt> {
        let found = self.find(&[], "");
        let mut edited = self.account(&found);
        let (root, nodes) = self.nodes(&found)?;
        for (f, node) in &nodes {
            if f.form != Form::ByHand {
                node.remove();
                edited.removed += 1;
            }
        }
        tidy_up(&nodes, &before.map(Document::kept).unwrap_or_default());
        edited.bytes = self.bytes(edited.is_change().then_some(&root));
        Ok(edited)
    }

    /// The hooks of ours in it.
    pub fn find(&self, wanted: &[Entry], command: &str) -> Vec<Found> {
        ours::find_by(&self.value, wanted, command, &self.programs)
    }

    fn account(&self, found: &[Found]) -> Edited {
        let by_hand = found.iter().filter(|f| f.form == Form::ByHand).map(|f| f.command.clone()).collect();
        Edited { by_hand, ..Edited::default() }
    }

    fn bytes(&self, root: Option<&CstRootNode>) -> Vec<u8> {
        let text = root.map_or_else(|| self.text.clone(), ToString::to_string);
        [if self.bom { BOM.as_bytes() } else { b"" }, text.as_bytes()].concat()
    }

    fn kept(&self) -> Kept {
        let events = self.value.get("hooks").and_then(Value::as_object);
        Kept {
            hooks: events.is_some(),
            events: events.into_iter().flatten().map(|(k, _)| k.clone()).collect(),
        }
    }

    /// The tree, and in it the place of each hook found. All are taken before the first edit moves the numbers.
    fn nodes<'a>(&self, found: &'a [Found]) -> Result<(CstRootNode, Vec<(&'a Found, Place)>), Doubt> {
        let root = tree(&self.text)?;
        let mut nodes = Vec::new();
        if let Some(hooks) = root.object_value().and_then(|o| o.object_value("hooks")) {
            let mut lists: BTreeMap<&str, Vec<CstNode>> = BTreeMap::new();
            for f in found {
                let Some(list) = hooks.array_value(&f.key) else { continue };
                let groups = lists.entry(&f.key).or_insert_with(|| list.elements());
                let Some(group) = groups.get(f.group).and_then(CstNode::as_object) else { continue };
                let Some(members) = group.array_value("hooks") else { continue };
                let Some(hook) = members.elements().get(f.hook).and_then(CstNode::as_object) else {
                    continue;
                };
                let alone = members.elements().len() == 1;
                nodes.push((f, Place { hook, members, group, list, events: hooks.clone(), alone }));
            }
        }
        Ok((root, nodes))
    }
}

fn mark(there: &mut [bool], n: usize) {
    if let Some(slot) = there.get_mut(n) {
        *slot = true;
    }
}

/// What stood in the settings before us, and stays when it is empty.
#[derive(Default)]
struct Kept {
    hooks: bool,
    events: BTreeSet<String>,
}

/// A hook in the tree.
struct Place {
    hook: CstObject,
    members: CstArray,
    group: CstObject,
    list: CstArray,
    events: CstObject,
    /// It is the only hook of its group.
    alone: bool,
}

impl Place {
    /// Writes the entry in the place of the hook. False, and nothing done, where the group's matcher is another and the group not ours alone.
    fn put(&self, entry: &Entry, command: &str) -> bool {
        let matcher = self.group.get("matcher").and_then(|p| p.value());
        let matcher = matcher.and_then(|v| v.as_string_lit()).and_then(|s| s.decoded_value().ok());
        // Put in beside the old one, which goes then: so it is laid out like its neighbours.
        if entry.matches(matcher.as_deref()) {
            let at = CstNode::from(self.hook.clone()).element_index().unwrap_or(0);
            self.members.insert(at, input(&entry.hook(command)));
            self.remove();
            return true;
        }
        if self.alone {
            let at = CstNode::from(self.group.clone()).element_index().unwrap_or(0);
            self.list.insert(at, input(&entry.group(command)));
            self.group.clone().remove();
        }
        self.alone
    }

    fn remove(&self) {
        self.hook.clone().remove();
    }
}

/// Removes the groups, lists and the object that the removals have left empty.
fn tidy_up(nodes: &[(&Found, Place)], kept: &Kept) {
    for (_, place) in nodes.iter().filter(|(f, _)| f.form != Form::ByHand) {
        let is_there = |node: &CstObject| node.parent().is_some();
        if is_there(&place.group) && place.members.parent().is_some() && place.members.elements().is_empty() {
            place.group.clone().remove();
        }
    }
    for (f, place) in nodes.iter().filter(|(f, _)| f.form != Form::ByHand) {
        if place.list.elements().is_empty()
            && !kept.events.contains(&f.key)
            && let Some(event) = place.events.get(&f.key)
        {
            event.remove();
        }
    }
    if let Some((_, place)) = nodes.iter().find(|(f, _)| f.form != Form::ByHand)
        && place.events.properties().is_empty()
        && !kept.hooks
        && let Some(hooks) = place.events.parent().and_then(|p| p.as_object_prop())
    {
        hooks.remove();
    }
}

fn tree(text: &str) -> Result<CstRootNode, Doubt> {
    CstRootNode::parse(text, &strict()).map_err(|e| Doubt::Invalid(e.to_string()))
}

fn strict() -> ParseOptions {
    ParseOptions {
        allow_comments: false,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Text that is not JSON: is it JSON with comments, or with trailing commas?
fn loose(text: &str) -> Option<Doubt> {
    let comments = ParseOptions { allow_comments: true, ..strict() };
    let both = ParseOptions { allow_trailing_commas: true, ..comments.clone() };
    let root = CstRootNode::parse(text, &both).ok()?;
    let commas = CstRootNode::parse(text, &comments).is_err();
    match (root.children().iter().any(has_comment), commas) {
        (true, true) => Some(Doubt::Loose("comments and trailing commas")),
        (true, false) => Some(Doubt::Loose("comments")),
        (false, true) => Some(Doubt::Loose("trailing commas")),
        (false, false) => None,
    }
}

fn has_comment(node: &CstNode) -> bool {
    node.is_comment() || node.children().iter().any(has_comment)
}

fn no_key_twice(node: &CstNode) -> Result<(), Doubt> {
    if let Some(object) = node.as_object() {
        let mut met = BTreeSet::new();
        for property in object.properties() {
            let name = property.decoded_name().unwrap_or_default();
            if !met.insert(name.clone()) {
                return Err(Doubt::Twice(name));
            }
            property.value().map_or(Ok(()), |value| no_key_twice(&value))?;
        }
    }
    node.as_array().into_iter().flat_map(|a| a.elements()).try_for_each(|element| no_key_twice(&element))
}

/// The shape in which the host takes hooks: `{"hooks": {"Stop": [{"matcher": "…", "hooks": [{…}]}]}}`.
fn shape(settings: &Value) -> Result<(), Doubt> {
    let wrong = |what: &str| Err(Doubt::Shape(what.to_owned()));
    let Some(settings) = settings.as_object() else { return wrong("it is not an object") };
    let Some(hooks) = settings.get("hooks") else { return Ok(()) };
    let Some(events) = hooks.as_object() else { return wrong("its `hooks` is not an object") };
    for (event, groups) in events {
        let Some(groups) = groups.as_array() else {
            return wrong(&format!("its `hooks.{event}` is not a list"));
        };
        for group in groups {
            let hooks = group.get("hooks").and_then(Value::as_array);
            let matcher = group.get("matcher").is_none_or(Value::is_string);
            if !matcher || !hooks.is_some_and(|hooks| hooks.iter().all(Value::is_object)) {
                return wrong(&format!("its `hooks.{event}` holds something that is not a group of hooks"));
            }
        }
    }
    Ok(())
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(b) => CstInputValue::Bool(*b),
        Value::Number(n) => CstInputValue::Number(n.to_string()),
        Value::String(s) => CstInputValue::String(s.clone()),
        Value::Array(all) => CstInputValue::Array(all.iter().map(input).collect()),
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().map(|(k, v)| (k.clone(), input(v))).collect();
            fields.sort_by_key(|(key, _)| ORDER.iter().position(|known| known == key));
            CstInputValue::Object(fields)
        }
    }
}

/// The fields of groups and hooks as a person reads them; a JSON object of ours has no order.
const ORDER: [&str; 7] = ["matcher", "hooks", "type", "command", "args", "async", "timeout"];

#[cfg(test)]
mod tests;
