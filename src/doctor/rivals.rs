//! Proves that no other memory answers the same prompts. Mend: keep one of them.

use super::settings::hooks;
use super::{Finding, Patient};
use serde_json::Value;
use std::collections::BTreeSet;

/// Names that stand in the commands of other memory tools' hooks, and in the names of their plugins.
const RIVALS: &[&str] = &[
    "agentmemory",
    "basic-memory",
    "cass",
    "ccrecall",
    "claude-mem",
    "claude-remember",
    "claude-subconscious",
    "cognee",
    "engram",
    "episodic-memory",
    "hindsight",
    "icm",
    "mcp-memory-service",
    "membrick",
    "mempalace",
    "memsearch",
    "shieldcortex",
    "supermemory",
    "truememory",
];

pub(super) fn look(patient: &Patient) -> Finding {
    let mut found: BTreeSet<String> = BTreeSet::new();
    for file in &patient.files {
        let Some(value) = &file.value else { continue };
        let plugins = value.get("enabledPlugins").and_then(Value::as_object).into_iter().flatten();
        let plugins = plugins.filter(|(_, on)| on.as_bool() == Some(true)).map(|(key, _)| key.clone());
        for text in hooks(value).iter().map(super::settings::Hook::text).chain(plugins) {
            let named = RIVALS.iter().filter(|name| holds(&text, name));
            found.extend(named.map(|name| format!("{name} in {}", file.path.display())));
        }
    }
    if found.is_empty() {
        return Finding::good("no hook of another memory tool is known here");
    }
    Finding::bad(
        found.into_iter().collect::<Vec<_>>().join(", "),
        "two memories answer each prompt and cost twice; remove the hooks or the plugin of the one that is not wanted",
    )
}

/// The name stands in the text as a word of its own: `cass` is not in `cassandra`.
fn holds(text: &str, name: &str) -> bool {
    let text = text.to_lowercase();
    let part_of_word = |c: char| c.is_alphanumeric();
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|t| t.chars().next());
        !before.is_some_and(part_of_word) && !after.is_some_and(part_of_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_as_words() {
        for text in ["/opt/cass/bin/hook", "npx -y claude-mem hook", "claude-mem@thedotmack", "CASS index"] {
            assert!(RIVALS.iter().any(|name| holds(text, name)), "{text}");
        }
        for text in ["python cassandra.py", "lcicm", "/opt/sinker hook claude stop", "encompass"] {
            assert!(!RIVALS.iter().any(|name| holds(text, name)), "{text}");
        }
    }
}
