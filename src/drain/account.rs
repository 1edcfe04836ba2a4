//! What a stretch of a transcript held, beside its observations: counts of lines, and what the records say about their sessions.

use crate::redact::{Redactor, Report};
use crate::store::{Dated, SessionFacts};
use crate::transcript::Context;
use crate::{clock, store};
use std::collections::BTreeMap;

/// Counts of lines by class (`said`, `private`, `silent`, `noise`, `unknown`, `odd`, `blank`) and kind.
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

/// The sessions met in a stretch, with what their records say of them.
#[derive(Debug, Default)]
pub(super) struct Sessions(BTreeMap<String, Met>);

#[derive(Debug)]
struct Met {
    facts: SessionFacts,
    /// The newest record's own words, and the same redacted: those of the next one are mostly the same, and need no second look.
    raw: [Option<String>; 3],
    said: [Option<String>; 3],
}

/// A record without a time says less than any other: it is taken for older than the newest and newer than the oldest.
const NO_TIME: (i64, i64) = (i64::MAX, i64::MIN);

impl Sessions {
    /// Takes a record's context over. Redacts what is free text.
    pub(super) fn meet(&mut self, id: &str, context: &Context, redactor: &Redactor, report: &mut Report) {
        let time_ms = context.timestamp.as_deref().and_then(clock::parse).map(|t| t.0);
        let met = match self.0.get_mut(id) {
            Some(met) => met,
            None => {
                let facts =
                    SessionFacts { id: id.to_owned(), host: "claude".to_owned(), ..Default::default() };
                let met = Met { facts, raw: Default::default(), said: Default::default() };
                self.0.entry(id.to_owned()).or_insert(met)
            }
        };
        let own = [&context.cwd, &context.branch, &context.version];
        if met.raw.each_ref() != own {
            let mut say = |text: &String| redactor.clean(text, report).into_owned();
            met.said = own.map(|text| text.as_ref().map(&mut say));
            met.raw = own.map(Clone::clone);
        }
        let (early, late) = time_ms.map_or(NO_TIME, |ms| (ms, ms));
        let [cwd, branch, version] = &met.said;
        let facts = &mut met.facts;
        Dated::least(&mut facts.cwd, early, cwd.as_deref());
        Dated::most(&mut facts.branch, late, branch.as_deref());
        Dated::most(&mut facts.version, late, version.as_deref());
        if time_ms.is_some() {
            Dated::least(&mut facts.first, early, context.timestamp.as_deref());
            Dated::most(&mut facts.last, late, context.timestamp.as_deref());
        }
    }

    /// Stores what was met. Returns session id → row, without the sessions that were forgotten.
    pub(super) fn store(
        &self,
        write: &mut store::Write<'_>,
    ) -> Result<BTreeMap<String, i64>, store::StoreError> {
        let mut known = BTreeMap::new();
        for (id, met) in &self.0 {
            if let Some(n) = write.session(&met.facts)? {
                known.insert(id.clone(), n);
            }
        }
        Ok(known)
    }

    /// The directory of the earliest record that names one, with its time.
    pub(super) fn directories(&self) -> impl Iterator<Item = (&str, Option<&Dated>)> {
        self.0.iter().map(|(id, met)| (id.as_str(), met.facts.cwd.as_ref()))
    }
}
