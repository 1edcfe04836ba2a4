//! Rules of a person's own, from the user's settings; a project's file may not set them.
//!
//! ```toml
//! [redact]
//! rules = [{ name = "acme-token", pattern = "acme_[a-z0-9]{32}", keywords = ["acme_"] }]
//! allow = ["^acme_0{32}$"]
//! ```
//!
//! A rule that is wrong is a [`Problem`] and is left out; the built-in rules and the other ones hold.

use super::rules::{self, Rule};
use super::scan;
use crate::config::{Origin, Problem, Settings, Value};
use crate::id;
use regex::bytes::Regex;

/// More than anybody writes by hand.
const MOST: usize = 200;
/// A shorter keyword would have the rule tried at every other word.
const KEYWORD: std::ops::RangeInclusive<usize> = 2..=64;

/// What a person added to the built-in rules.
#[derive(Debug, Default)]
pub struct OwnRules {
    pub(super) rules: Vec<Rule>,
    pub(super) allow: Vec<Regex>,
    /// What is wrong in the settings; those entries are not in force.
    pub problems: Vec<Problem>,
    written: String,
}

impl OwnRules {
    /// Reads them from the user's settings. Never fails: see `problems`.
    pub fn read() -> Self {
        Self::of(&Settings::read(None))
    }

    /// Takes them from settings that are read already.
    pub fn of(settings: &Settings) -> Self {
        let mut own = Self::default();
        if let Some(value) = settings.setting("redact.rules") {
            own.take(value, "redact.rules", |own, entry| own.rule(entry));
        }
        if let Some(value) = settings.setting("redact.allow") {
            own.take(value, "redact.allow", |own, entry| own.allow(entry));
        }
        // A file that cannot be read holds rules that cannot be read: whoever wrote some must hear of it.
        let broken = settings.problems.iter().filter(|p| p.key.is_empty() || p.key.starts_with("redact"));
        own.problems.extend(broken.cloned());
        own
    }

    /// Changes with the built-in rules and with these.
    pub(super) fn version(&self) -> u32 {
        let hash = id::hash(&[&rules::VERSION.to_le_bytes(), self.written.as_bytes()]);
        u32::from_str_radix(id::short(&hash, 8), 16).unwrap_or(rules::VERSION)
    }

    fn take(
        &mut self,
        value: &Value,
        key: &str,
        one: impl Fn(&mut Self, &toml::Value) -> Result<(), String>,
    ) {
        let path = match &value.origin {
            Origin::User(path) | Origin::Project(path) => path.clone(),
            Origin::Default | Origin::Env(_) => std::path::PathBuf::new(),
        };
        for (n, entry) in value.value.as_array().into_iter().flatten().enumerate() {
            let taken = if n < MOST { one(self, entry) } else { Err(format!("more than {MOST} entries")) };
            match taken {
                Ok(()) => self.written.push_str(&format!("{key} {entry}\n")),
                Err(what) => {
                    self.problems.push(Problem { path: path.clone(), key: format!("{key}[{n}]"), what });
                }
            }
        }
    }

    fn rule(&mut self, entry: &toml::Value) -> Result<(), String> {
        let table =
            entry.as_table().ok_or("it must be a table: { name = …, pattern = …, keywords = […] }")?;
        if let Some(key) = table.keys().find(|k| !matches!(k.as_str(), "name" | "pattern" | "keywords")) {
            return Err(format!("it has no field `{key}`"));
        }
        let text = |field: &str| {
            table.get(field).and_then(toml::Value::as_str).ok_or(format!("`{field}` must be a text"))
        };
        let name = text("name")?;
        let plain = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        if !plain || !(1..=40).contains(&name.len()) {
            return Err("`name` must be 1 to 40 of a-z, 0-9 and `-`".to_owned());
        }
        let ours = [rules::PRIVATE, rules::UNSCANNED, rules::OWN_CONTEXT];
        if ours.contains(&name)
            || rules::built_in().copied().chain(self.rules.iter().copied()).any(|rule| rule.name == name)
        {
            return Err(format!("there is a rule `{name}` already"));
        }
        let pattern = text("pattern")?;
        let compiled =
            scan::compile(pattern).ok_or("`pattern` is no regular expression, or too large a one")?;
        if compiled.is_match(b"") {
            return Err("`pattern` matches the empty text".to_owned());
        }
        let keywords = table
            .get("keywords")
            .and_then(toml::Value::as_array)
            .ok_or("`keywords` must be a list of texts")?;
        let mut words = Vec::new();
        for word in keywords {
            let word = word.as_str().filter(|w| w.is_ascii() && KEYWORD.contains(&w.len()));
            words.push(leak(word.ok_or("each of `keywords` must be 2 to 64 ASCII characters")?));
        }
        if words.is_empty() {
            return Err("`keywords` is empty: the pattern is tried where one of them begins".to_owned());
        }
        self.rules.push(Rule::own(leak(name), words.leak(), leak(pattern)));
        Ok(())
    }

    fn allow(&mut self, entry: &toml::Value) -> Result<(), String> {
        let pattern = entry.as_str().ok_or("it must be a text")?;
        let compiled = scan::compile(&format!("(?:{pattern})\\z"))
            .ok_or("it is no regular expression, or too large a one")?;
        if compiled.is_match(b"") {
            return Err("it matches the empty text".to_owned());
        }
        self.allow.push(compiled);
        Ok(())
    }
}

/// The settings are read a few times in the life of a process, and names stand in every report until its end.
fn leak(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(redact: &str) -> OwnRules {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        crate::fs::replace(&path, redact.as_bytes(), crate::fs::Sync::No).unwrap();
        OwnRules::of(&Settings::read_user(&path))
    }

    #[test]
    fn f69_a_wrong_rule_is_left_out_and_said_and_all_others_hold() {
        let good = "{ name = 'acme-token', pattern = 'acme_[a-z0-9]{8}', keywords = ['acme_'] }";
        let wrong = [
            ("rules = 5", "redact.rules"),
            ("rules = [{ name = 'A b', pattern = 'x', keywords = ['xx'] }, @]", "redact.rules[0]"),
            ("rules = [{ name = 'jwt', pattern = 'x', keywords = ['xx'] }, @]", "redact.rules[0]"),
            ("rules = [@, { name = 'b', pattern = '(x', keywords = ['xx'] }]", "redact.rules[1]"),
            ("rules = [@, { name = 'b', pattern = 'x*', keywords = ['xx'] }]", "redact.rules[1]"),
            ("rules = [@, { name = 'b', pattern = 'x' }]", "redact.rules[1]"),
            ("rules = [@, { name = 'b', pattern = 'x', keywords = [] }]", "redact.rules[1]"),
            ("rules = [@, { name = 'b', pattern = 'x', keywords = ['x'] }]", "redact.rules[1]"),
            ("rules = [@, { name = 'b', pattern = 'x', keywords = ['xx'], off = 1 }]", "redact.rules[1]"),
            ("rules = [@]\nallow = ['(']", "redact.allow[0]"),
            ("rules = [@]\nallow = ['.*']", "redact.allow[0]"),
            ("rules = [@]\nenabled = false", "redact.enabled"),
            ("rules = [", ""),
        ];
        let secret = crate::config::Secret::from_bytes([42; 32]);
        let key = ["AKI", "AQYLPMN5HFIQR7XYA"].concat();
        for (text, expected) in wrong {
            let own = of(&format!("[redact]\n{}\n", text.replace('@', good)));
            let keys: Vec<&str> = own.problems.iter().map(|p| p.key.as_str()).collect();
            assert_eq!(keys, [expected], "{text}");
            let redactor = super::super::Redactor::with(&secret, own);
            let mut report = super::super::Report::default();
            let out = redactor.clean(&format!("{key} acme_a1b2c3d4"), &mut report).into_owned();
            assert_eq!(report.count("aws-access-key"), 1, "{text}: {out}");
            assert_eq!(report.count("acme-token"), u64::from(text.contains('@')), "{text}: {out}");
        }
    }

    #[test]
    fn what_is_allowed_stands_and_the_version_changes_with_the_rules() {
        let secret = crate::config::Secret::from_bytes([42; 32]);
        let key = ["AKI", "AQYLPMN5HFIQR7XYA"].concat();
        let own = of(&format!("[redact]\nallow = ['{key}']\n"));
        assert!(own.problems.is_empty(), "{:?}", own.problems);
        let redactor = super::super::Redactor::with(&secret, own);
        let mut report = super::super::Report::default();
        assert_eq!(redactor.clean(&key, &mut report), key);
        let built_in = super::super::Redactor::built_in(&secret);
        assert_ne!(redactor.version(), built_in.version());
        assert_eq!(built_in.version(), super::super::Redactor::built_in(&secret).version());
    }
}
