//! What is written without a space, and the words in it: `src/index/tokens.rs`, `parseRetryAfter`, `x-request-id`, `0.27.1`.
//!
//! A compound is kept whole and in parts, on three levels: path (joined by `/`), segment (joined by `.`, `-`, `::`),
//! identifier (joined by `_`, case and digit borders); a lone word has one form, its stem.

use super::stem::stem;

/// The longest whole form that is kept. Units: bytes; a sha256 and a deep path fit.
const WHOLE_BYTES: usize = 96;
/// More parts than this and a new compound begins: bounds the work for a line without spaces (D13).
pub(super) const MAX_ATOMS: usize = 64;
/// The same where nothing joins the parts but a change of case or a digit: base64 is cut nowhere else.
pub(super) const MAX_RUN: usize = 4096;

/// One smallest part with what stands before it.
#[derive(Debug, Clone)]
pub(super) struct Atom {
    /// Folded, not yet stemmed.
    pub text: String,
    /// What joins it to the part before: ``, `_`, `.`, `-`, `::`, `/`, `/.`.
    pub joint: String,
}

/// One form that goes into the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// The term.
    pub text: String,
    /// Number of the smallest part at which it begins, counted over the text.
    pub position: usize,
    /// How many smallest parts it spans.
    pub span: usize,
    /// Start of the compound in the normalised text. Units: bytes.
    pub from: usize,
    /// End of the compound. Units: bytes.
    pub to: usize,
}

impl Atom {
    fn level(&self) -> u8 {
        match self.joint.as_str() {
            "" => 0,
            "_" => 1,
            joint if joint.contains('/') => 3,
            _ => 2,
        }
    }
}

/// Tells if `joint` may stand between two parts of a compound.
pub(super) fn is_joint(joint: &str) -> bool {
    matches!(joint, "" | "_" | "." | "-" | "::" | "/" | "/." | "/_")
}

/// Gives the forms of a compound, wholes before their parts. `position` is that of its first part.
pub(super) fn forms(atoms: &[Atom], position: usize, bounds: (usize, usize), mut emit: impl FnMut(Form)) {
    let mut put = |text: String, at: usize, span: usize| {
        emit(Form { text, position: position + at, span, from: bounds.0, to: bounds.1 });
    };
    if let [only] = atoms {
        if only.text.len() <= WHOLE_BYTES
            && let Some(stem) = stem(&only.text)
        {
            put(stem, 0, 1);
        }
        return;
    }
    let segments = 1 + atoms.iter().skip(1).filter(|a| a.level() == 3).count();
    let mut segment = 0;
    let mut parts_until = 0;
    let (segment_ends, identifier_ends) = (ends(atoms, 3), ends(atoms, 1));
    let ends = segment_ends.into_iter().zip(identifier_ends);
    for ((at, atom), (segment_end, identifier_end)) in atoms.iter().enumerate().zip(ends) {
        let level = if at == 0 { 3 } else { atom.level() };
        if level == 3 {
            segment += 1;
            // The whole path, and its last two segments: people and tools shorten paths from the left.
            if segments > 1 && (segment == 1 || segment + 1 == segments) {
                whole(atoms, at, atoms.len(), &mut put);
            }
        }
        if level == 3 && identifier_end < segment_end {
            whole(atoms, at, segment_end, &mut put);
        }
        if level == 3 && is_uuid(atoms, at, segment_end) {
            parts_until = segment_end;
            if let Some(first) = atoms.get(at..identifier_end) {
                put(join(first), at, first.len());
            }
        }
        if level == 3 && is_version(atoms, at, segment_end) {
            parts_until = segment_end;
            if segment_end - at > 2 {
                whole(atoms, at, at + 2, &mut put);
            }
        }
        if at < parts_until {
            continue;
        }
        if level >= 1 && identifier_end - at > 1 {
            whole(atoms, at, identifier_end, &mut put);
            if is_random(atoms, at, identifier_end) {
                parts_until = identifier_end;
                continue;
            }
        }
        let lone_letter = atom.text.chars().nth(1).is_none();
        // The 256 of sha256 and the 0308 of E0308 mean nothing alone.
        let tail = level == 0 && is_number(atom);
        if !lone_letter
            && !tail
            && atom.text.len() <= WHOLE_BYTES
            && let Some(stem) = stem(&atom.text)
        {
            put(stem, at, 1);
        }
    }
}

/// For each part the first one behind it that is joined at `level` or above. One pass: a text without spaces has a hundred thousand parts.
fn ends(atoms: &[Atom], level: u8) -> Vec<usize> {
    let mut next = atoms.len();
    let mut ends = Vec::with_capacity(atoms.len());
    for (at, atom) in atoms.iter().enumerate().rev() {
        ends.push(next);
        if atom.level() >= level {
            next = at;
        }
    }
    ends.reverse();
    ends
}

fn join(atoms: &[Atom]) -> String {
    let mut text = String::new();
    for (n, atom) in atoms.iter().enumerate() {
        if n > 0 {
            text.push_str(&atom.joint);
        }
        text.push_str(&atom.text);
    }
    text
}

fn whole(atoms: &[Atom], from: usize, to: usize, put: &mut impl FnMut(String, usize, usize)) {
    let Some(range) = atoms.get(from..to) else { return };
    let bytes: usize = range.iter().map(|a| a.text.len() + a.joint.len()).sum();
    if bytes <= WHOLE_BYTES {
        put(join(range), from, range.len());
    }
}

/// Hashes, keys and base64: their parts are chance, and would fill the dictionary.
fn is_random(atoms: &[Atom], from: usize, to: usize) -> bool {
    let Some(range) = atoms.get(from..to) else { return false };
    let bytes: usize = range.iter().map(|a| a.text.len()).sum();
    let hex = range.iter().all(|a| a.text.bytes().all(|b| b.is_ascii_hexdigit()));
    (bytes >= 7 && hex) || (bytes >= 12 && range.len() * 4 > bytes)
}

fn is_number(atom: &Atom) -> bool {
    atom.text.bytes().all(|b| b.is_ascii_digit())
}

/// `0.27.1`: kept whole and by its first two numbers, not number by number.
fn is_version(atoms: &[Atom], from: usize, to: usize) -> bool {
    let Some(range) = atoms.get(from..to) else { return false };
    range.len() > 1 && range.iter().all(is_number) && range.iter().skip(1).all(|a| a.joint == ".")
}

/// `1a2b3c4d-…`: kept whole and by its first group, which is how people quote one.
fn is_uuid(atoms: &[Atom], from: usize, to: usize) -> bool {
    let Some(range) = atoms.get(from..to) else { return false };
    let text = join(range);
    text.len() == 36
        && text.bytes().filter(|b| *b == b'-').count() == 4
        && text.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit())
}
