//! The table of what a secret looks like, a file a family. A new kind is a row there, and a row of `samples` with what it must catch and what it
//! must leave.
//!
//! Keywords are found without regard to case, all in one sweep; a pattern is tried only where one of its keywords begins, anchored
//! there (or a fixed number of bytes before it), on bytes and ASCII only. What must go is the first group that took part, else the
//! whole match. No pattern may be able to reach further than `reach` bytes to decide that there is a secret; the rest of a
//! longer one goes with it.

/// From a name to its value: closing quote of the name, sign of assignment (also after a type, in XML, as a second argument), opening quote.
macro_rules! assign {
    () => {
        r#"\\*["'`]?\]?[ \t]{0,8}(?:=>|:=|[!=]?==?|\?=|:[ \t]?[&A-Za-z<>' ]{2,20}=|[:>]|(?:,|\|\||\?\?)(?:[ \t]?\\*["'`]))[ \t]{0,8}(?:[bfr]?\\*["'`])?"#
    };
}

/// The name of a service, some more of a name, a sign of assignment, and a value of the service's shape.
macro_rules! named {
    ($name:literal, $value:literal) => {
        concat!("(?i:", $name, r")(?-i:[\w .-]{0,32})", assign!(), "(", $value, ")")
    };
}

mod ai;
mod chat;
mod cloud;
mod database;
mod forge;
mod generic;
mod network;
mod payment;
mod registry;
mod service;
mod web;

/// Raised with every change of the built-in rules or of how they judge: what was kept by an older one is due to be scanned again.
pub(super) const VERSION: u32 = 4;

/// Marker of spans that a person called private.
pub(super) const PRIVATE: &str = "private";
/// Marker of texts that were too costly to scan.
pub(super) const UNSCANNED: &str = "unscanned";
/// Count of our own context that came back; it leaves no marker.
pub(super) const OWN_CONTEXT: &str = "own-context";

/// One kind of secret.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    /// In the marker and the report: lower case, digits and `-`, at most 40.
    pub(super) name: &'static str,
    /// Where a match may begin.
    pub(super) keywords: &'static [&'static str],
    /// Whether a keyword must stand there letter for letter.
    pub(super) exact: bool,
    /// What may stand beside the match.
    pub(super) edges: Edges,
    /// How it is recognised from its keyword on.
    pub(super) shape: Shape,
    /// How far before the keyword the match begins. Units: bytes.
    pub(super) back: usize,
    /// How far from the keyword it looks. Units: bytes.
    pub(super) reach: usize,
    /// Below this it is no secret. Units: bits of entropy a byte.
    pub(super) floor: f64,
    /// Which look-alikes it leaves.
    pub(super) leave: Leave,
}

/// What may stand beside a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edges {
    /// Anything: its beginning is like nothing else.
    Open,
    /// No letter or digit before it.
    Left,
    /// No letter or digit behind it.
    Right,
    /// No letter or digit before or behind it.
    Closed,
}

/// How a match is recognised.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// An expression, anchored at the keyword.
    Pattern(&'static str),
    /// An expression that ends where the keyword begins, and begins at most the rule's reach before it.
    Before(&'static str),
    /// A private key block.
    KeyBlock,
}

/// Which look-alikes are left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leave {
    /// None.
    Nothing,
    /// Examples of documentation.
    Examples,
    /// Examples, references and words, for what stands behind an announcement.
    Opaque,
    /// For values of names: also uuids, dates, digests, code.
    Values,
    /// For values of plain `key`: also hex and names of lookups.
    Keys,
    /// For values of passwords: short ones count, words do not.
    Passwords,
    /// For passwords in a place where nothing else stands: placeholders and references only.
    Urls,
    /// Everything that does not decode to `user:password`.
    Basic,
    /// Cookies without an opaque part.
    Cookies,
}

impl Rule {
    /// A token with a beginning of its own, which may stand anywhere.
    const fn token(name: &'static str, keywords: &'static [&'static str], pattern: &'static str) -> Self {
        Self {
            name,
            keywords,
            exact: true,
            edges: Edges::Open,
            shape: Shape::Pattern(pattern),
            back: 0,
            reach: 256,
            floor: 2.5,
            leave: Leave::Examples,
        }
    }

    /// A value that only its name makes a secret.
    const fn named(name: &'static str, keywords: &'static [&'static str], pattern: &'static str) -> Self {
        let mut rule = Self::token(name, keywords, pattern);
        rule.exact = false;
        rule.edges = Edges::Right;
        rule
    }

    const fn edges(mut self, edges: Edges) -> Self {
        self.edges = edges;
        self
    }

    /// What stands before the keyword is the secret.
    const fn before(mut self) -> Self {
        if let Shape::Pattern(source) = self.shape {
            self.shape = Shape::Before(source);
        }
        self
    }

    const fn back(mut self, bytes: usize) -> Self {
        self.back = bytes;
        self
    }

    const fn reach(mut self, bytes: usize) -> Self {
        self.reach = bytes;
        self
    }

    const fn floor(mut self, bits: f64) -> Self {
        self.floor = bits;
        self
    }

    const fn leave(mut self, leave: Leave) -> Self {
        self.leave = leave;
        self
    }

    /// A rule of a person's own: what it matches is a secret, whatever it looks like.
    pub(super) fn own(name: &'static str, keywords: &'static [&'static str], pattern: &'static str) -> Self {
        let mut rule = Self::token(name, keywords, pattern);
        (rule.exact, rule.reach, rule.floor, rule.leave) = (false, 1024, 0.0, Leave::Nothing);
        rule
    }
}

/// All families. Where two rules find the same span, the first names it.
const FAMILIES: &[&[Rule]] = &[
    network::RULES,
    cloud::RULES,
    forge::RULES,
    registry::RULES,
    chat::RULES,
    payment::RULES,
    ai::RULES,
    service::RULES,
    database::RULES,
    web::RULES,
    generic::RULES,
];

/// Every built-in rule.
pub(super) fn built_in() -> impl Iterator<Item = &'static Rule> {
    FAMILIES.iter().copied().flatten()
}
