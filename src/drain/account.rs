//! What a stretch of a transcript held, beside its observations: counts of lines, and what the records say about their sessions.

use crate::redact::{Redactor, Report};
use crate::store::SessionFacts;
use crate::transcript::Context;
use crate::{clock, store};
use std::collections::BTreeMap;

/// Counts of lines by class (`said`, `silent`, `noise`, `unknown`, `odd`, `blank`) and kind.
#[derive(Debug, Default)]
pub(super) struct Lines(BTreeMap<(&'static str, String), u64>);

impl Lines {
    /// Counts one line.
    pub(super) fn add(&mut self, class: &'static str, kind: &str) {
        *self.0.entry((class, kind.to_owned())).or_default() += 1;
    }

    /// Class, kind and number.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, &str, u64)> {
        self.0.iter().map(|((class, kind), n)| (*class, kind.as_str(), *n))
    }
}

/// The sessions met in a stretch: first and last record of each.
#[derive(Debug, Default)]
pub(super) struct Sessions(BTreeMap<String, Met>);

#[derive(Debug)]
struct Met {
    first: SessionFacts,
    last: SessionFacts,
    /// The newest record's own words: those of the next one are mostly the same, and need no second look.
    raw: Context,
}

impl Sessions {
    /// Takes a record's context over. Redacts what is free text.
    pub(super) fn meet(&mut self, id: &str, context: &Context, redactor: &Redactor, report: &mut Report) {
        let time_ms = context.timestamp.as_deref().and_then(clock::parse).map(|t| t.0);
        let time = time_ms.and(context.timestamp.clone());
        if let Some(met) = self.0.get_mut(id)
            && (&met.raw.cwd, &met.raw.branch, &met.raw.version) == (&context.cwd, &context.branch, &context.version)
        {
            return met.at(time_ms, time);
        }
        let mut say = |text: &Option<String>| text.as_ref().map(|t| redactor.clean(t, report).into_owned());
        let facts = SessionFacts {
            id: id.to_owned(),
            host: "claude".to_owned(),
            time: time.clone(),
            time_ms,
            cwd: say(&context.cwd),
            branch: say(&context.branch),
            version: say(&context.version),
        };
        match self.0.get_mut(id) {
            None => {
                let met = Met { first: facts.clone(), last: facts, raw: context.clone() };
                self.0.insert(id.to_owned(), met);
            }
            Some(met) => {
                met.at(time_ms, time);
                if met.first.cwd.is_none() {
                    met.first.cwd = facts.cwd;
                }
                met.last.branch = facts.branch.or(met.last.branch.take());
                met.last.version = facts.version.or(met.last.version.take());
                met.raw = context.clone();
            }
        }
    }

    /// Stores what was met. Returns session id → row.
    pub(super) fn store(&self, write: &mut store::Write<'_>) -> Result<BTreeMap<String, i64>, store::StoreError> {
        let mut rows = BTreeMap::new();
        for (id, met) in &self.0 {
            write.session(&met.first)?;
            rows.insert(id.clone(), write.session(&met.last)?);
        }
        Ok(rows)
    }

    /// The directory a session began in, as its records say.
    pub(super) fn directories(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.0.iter().map(|(id, met)| (id.as_str(), met.first.cwd.as_deref()))
    }
}

impl Met {
    fn at(&mut self, time_ms: Option<i64>, time: Option<String>) {
        let Some(ms) = time_ms else { return };
        if self.first.time_ms.is_none_or(|known| ms < known) {
            self.first.time_ms = Some(ms);
            self.first.time.clone_from(&time);
        }
        if self.last.time_ms.is_none_or(|known| ms >= known) {
            self.last.time_ms = Some(ms);
            self.last.time = time;
        }
    }
}
