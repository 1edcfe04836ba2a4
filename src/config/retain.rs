//! `[retain]`: how long and how much is kept. Off by default: a memory is for keeping.

use serde::{Deserialize, Serialize};

/// One rule: of the documents that it is about, the older ones and the ones beyond the size go.
///
/// ```toml
/// [retain]
/// rules = [
///   { speaker = "tool", max_age_days = 30 },
///   { project = "harbor-api", max_mb = 500 },
/// ]
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetainRule {
    /// Only of this project, by id or name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Only `observation` or `note`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Only what this one said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// Older ones go. Counted from now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_age_days: Option<u32>,
    /// Beyond this much text the oldest go. Units: 1,000,000 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_mb: Option<u32>,
}

/// Kinds that a rule may be about: what was said. What is derived from it goes with it.
const KINDS: [&str; 2] = ["observation", "note"];
const SPEAKERS: [&str; 6] = ["user", "assistant", "tool", "web", "agent", "host"];

impl RetainRule {
    /// Reads the rules of a settings file. Errors: one sentence that says what is wrong with which of them.
    pub fn read(value: &toml::Value) -> Result<Vec<Self>, String> {
        let toml::Value::Array(all) = value else { return Err("it must be a list of tables".to_owned()) };
        let read = |(n, value): (usize, &toml::Value)| {
            let rule: Self = value
                .clone()
                .try_into()
                .map_err(|e: toml::de::Error| format!("rule {}: {}", n + 1, e.message()))?;
            rule.check().map_err(|what| format!("rule {}: {what}", n + 1))?;
            Ok(rule)
        };
        all.iter().enumerate().map(read).collect()
    }

    fn check(&self) -> Result<(), String> {
        let one_of = |name: &str, value: &Option<String>, known: &[&str]| match value {
            Some(value) if !known.contains(&value.as_str()) => {
                Err(format!("{name} must be one of {}", known.join(", ")))
            }
            _ => Ok(()),
        };
        one_of("kind", &self.kind, &KINDS)?;
        one_of("speaker", &self.speaker, &SPEAKERS)?;
        if self.max_age_days.is_none() && self.max_mb.is_none() {
            return Err("max_age_days or max_mb must say how much is kept".to_owned());
        }
        Ok(())
    }
}

impl std::fmt::Display for RetainRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let about = [("project", &self.project), ("kind", &self.kind), ("speaker", &self.speaker)];
        let about: Vec<String> =
            about.iter().filter_map(|(name, value)| Some(format!("{name} {}", value.as_ref()?))).collect();
        f.write_str(&if about.is_empty() { "everything".to_owned() } else { about.join(", ") })?;
        if let Some(days) = self.max_age_days {
            write!(f, ": at most {days} days old")?;
        }
        if let Some(mb) = self.max_mb {
            write!(f, ": at most {mb} MB")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_and_what_is_wrong_is_told() {
        let read = |text: &str| {
            let table: toml::Table = text.parse().unwrap();
            RetainRule::read(table.get("rules").unwrap())
        };
        let rules = read(r#"rules = [{ speaker = "tool", max_age_days = 30 }, { max_mb = 500 }]"#).unwrap();
        assert_eq!(rules.len(), 2);
        assert_eq!(rules.first().unwrap().to_string(), "speaker tool: at most 30 days old");
        assert_eq!(rules.last().unwrap().to_string(), "everything: at most 500 MB");
        for (text, what) in [
            ("rules = 3", "list"),
            (r#"rules = [{ speaker = "tool" }]"#, "max_age_days"),
            (r#"rules = [{ speaker = "me", max_mb = 1 }]"#, "speaker must be"),
            (r#"rules = [{ max_mb = -1 }]"#, "rule 1"),
            (r#"rules = [{ max_mb = 1, colour = 2 }]"#, "colour"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(what), "{text}: {error}");
        }
    }
}
