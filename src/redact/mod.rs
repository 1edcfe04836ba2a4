//! Redaction: the choke point that every text passes before it may reach a disk, a log, a hub or a model (D8).
//!
//! In this order, until nothing more is found:
//!
//! 1. our own injected context that comes back in a transcript is removed whole (`fence`),
//! 2. `<private>` spans become a marker (`private`),
//! 3. what the table of `rules` finds becomes a marker, the text around it stays (`scan`).
//!
//! Rules look at the text as it is, at the texts that are encoded in it (`encoded`), and at the text as a reader sees it, without escapes and
//! invisible code points.
//!
//! A marker is `[redacted:<rule>:<4 hex>]`; the digits are a hash of rule and secret under the local key, so equal secrets stay
//! equal in memory and nobody can test a guess against them. A marker that is in the text already is a wall: nothing in
//! it is looked at, and no rule looks across it. The result is a fixed point, so redacting twice is redacting once.
//!
//! The work is bounded by a count, never by a clock: the same text gives the same row on a slow machine (D4). What exceeds the bound is
//! not stored at all but as `[redacted:unscanned:<4 hex>]`.
//!
//! What it does not do: it does not parse the text it is given. Whole JSON may be passed, since markers hold no quote and no backslash, and should
//! be, since the name before a value is half of what tells a secret; but a fence or a `<private>` span that is not closed
//! takes the rest of the text with it, and with it the end of the JSON.

mod encoded;
mod fence;
mod judge;
mod marker;
mod own;
mod pem;
mod private;
mod report;
mod rules;
#[cfg(test)]
mod samples;
mod scan;
mod visible;

pub use own::OwnRules;
pub use private::{ends_private, may_begin_private, without_private};
pub use report::Report;

use crate::config::{Problem, Secret};
use std::borrow::Cow;
use std::sync::Arc;

/// Passes over one text before it is given up as unscannable. Ordinary text takes one, text with a secret two; each further one needs a
/// removal that brought together what stood apart.
const PASSES: u32 = 10;

/// Removes from texts what must not be kept. Cheap to clone, shared freely between threads.
#[derive(Debug, Clone)]
pub struct Redactor {
    markers: marker::Markers,
    fence_prefix: String,
    /// `None`: broken, and nothing may be kept.
    table: Option<Arc<scan::Table>>,
    version: u32,
    problems: Arc<[Problem]>,
}

impl Redactor {
    /// Derives the key of the markers and the prefix of our own fences from the local secret, and reads what a person added to the rules
    /// (see [`OwnRules::read`]); what of that is wrong is in [`Redactor::problems`], and the rest holds.
    pub fn new(secret: &Secret) -> Self {
        Self::with(secret, OwnRules::read())
    }

    /// The same with the built-in rules alone.
    pub fn built_in(secret: &Secret) -> Self {
        Self::with(secret, OwnRules::default())
    }

    /// The same with given rules of a person's own.
    pub fn with(secret: &Secret, own: OwnRules) -> Self {
        Self {
            markers: marker::Markers::new(secret.key("redact")),
            fence_prefix: secret.fence_prefix(),
            version: own.version(),
            table: scan::Table::with(&own.rules, own.allow),
            problems: own.problems.into(),
        }
    }

    /// What is wrong with the rules in the user's settings: those are not used, all others are.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Changes with the rules, built in and a person's own: what was kept under another version is due to be scanned again.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The secrets in a text, as places and names of rules, in order and apart; nothing is replaced. A text too costly to scan is one of `unscanned`.
    pub fn find(&self, text: &str) -> Vec<(std::ops::Range<usize>, &'static str)> {
        match self.table.as_ref().ok_or(scan::TooMuch).and_then(|table| table.secrets(text)) {
            Ok(found) => found.into_iter().map(|found| (found.span, found.rule)).collect(),
            Err(scan::TooMuch) => vec![(0..text.len(), rules::UNSCANNED)],
        }
    }

    /// Gives what may be kept of `text`, and counts in `report` what was taken out.
    ///
    /// Shape: `Cow::Borrowed` of the whole text when nothing was found. Idempotent. Cut a long text after this, never before: half of a
    /// secret is not recognised. Upholds D8; D14 for context that comes back.
    pub fn clean<'a>(&self, text: &'a str, report: &mut Report) -> Cow<'a, str> {
        let mut found = Report::default();
        let mut now = Cow::Borrowed(text);
        for _ in 0..PASSES {
            match self.pass(&now, &mut found) {
                Ok(None) => {
                    // A colour code inside a token hides it from the rules, but not from whoever is shown the text
                    // without the code: then the text is kept as it would be seen, and redacted.
                    let seen = match visible::visible(&now) {
                        Cow::Owned(seen) if !matches!(self.pass(&seen, &mut Report::default()), Ok(None)) => {
                            seen
                        }
                        _ => {
                            report.merge(&found);
                            return now;
                        }
                    };
                    now = Cow::Owned(seen);
                }
                Ok(Some(next)) => now = Cow::Owned(next),
                Err(scan::TooMuch) => break,
            }
        }
        report.add(rules::UNSCANNED);
        Cow::Owned(self.markers.make(rules::UNSCANNED, text))
    }

    /// One pass of the first kind that finds anything; `None` when none does.
    fn pass(&self, text: &str, report: &mut Report) -> Result<Option<String>, scan::TooMuch> {
        let own = fence::spans(text, &self.fence_prefix);
        if !own.is_empty() {
            let cut = own.into_iter().map(|span| (span, None)).collect::<Vec<_>>();
            return Ok(Some(self.replace(text, &cut, report)));
        }
        let private = private::spans(text);
        if !private.is_empty() {
            let cut = private.into_iter().map(|span| (span, Some(rules::PRIVATE))).collect::<Vec<_>>();
            return Ok(Some(self.replace(text, &cut, report)));
        }
        let secrets = self.table.as_ref().ok_or(scan::TooMuch)?.secrets(text)?;
        if secrets.is_empty() {
            return Ok(None);
        }
        let cut = secrets.into_iter().map(|found| (found.span, Some(found.rule))).collect::<Vec<_>>();
        Ok(Some(self.replace(text, &cut, report)))
    }

    /// Replaces spans (in order, apart, on character boundaries) by the marker of their rule; without a rule they are our own context, and go.
    fn replace(
        &self,
        text: &str,
        cut: &[(std::ops::Range<usize>, Option<&'static str>)],
        report: &mut Report,
    ) -> String {
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for (span, rule) in cut {
            out.push_str(text.get(at..span.start).unwrap_or_default());
            if let Some(rule) = rule {
                out.push_str(&self.markers.make(rule, text.get(span.clone()).unwrap_or_default()));
            }
            report.add(rule.unwrap_or(rules::OWN_CONTEXT));
            at = span.end;
        }
        out.push_str(text.get(at..).unwrap_or_default());
        out
    }
}

#[cfg(test)]
mod tests;
