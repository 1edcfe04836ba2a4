//! Short forms of what every row repeats: ids, uuids, kinds, speakers and times. A row costs as little beside its text as it can.
//!
//! | outside | in a row |
//! |---|---|
//! | id `o-<32 hex>` | 17 bytes: the letter and 16 bytes; they sort like the texts |
//! | uuid of the host | 16 bytes; as it is where it is no lower-case uuid |
//! | kind, speaker | a number |
//! | time as the host wrote it | nothing where it is what its milliseconds read as |

use crate::clock::{self, Millis};
use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use std::fmt::Write as _;

/// Marks an id that has no short form.
const PLAIN: u8 = 0;

/// A document's id on its way into a row or out of one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Id(Vec<u8>);

impl Id {
    /// Packs an id. Shape: a letter, `-`, 32 lower-case hex digits; any other text is kept as it is.
    pub(super) fn of(id: &str) -> Self {
        let packed = match id.as_bytes() {
            [letter, b'-', digits @ ..] if *letter != PLAIN => bytes16(digits).map(|tail| (*letter, tail)),
            _ => None,
        };
        Self(match packed {
            Some((letter, tail)) => [&[letter], tail.as_slice()].concat(),
            None => [&[PLAIN], id.as_bytes()].concat(),
        })
    }

    /// The least and the greatest id that begin with a text; `None` when the text begins none.
    pub(super) fn range(beginning: &str) -> Option<(Self, Self)> {
        let digits = beginning.get(2..)?.len();
        let pad =
            |with: &str| Self::of(&format!("{beginning}{}", with.repeat(32_usize.saturating_sub(digits))));
        let (least, greatest) = (pad("0"), pad("f"));
        (least.0.first() != Some(&PLAIN) && greatest.0.first() != Some(&PLAIN)).then_some((least, greatest))
    }

    /// The id as the outside knows it.
    pub(super) fn text(&self) -> String {
        match self.0.split_first() {
            Some((&PLAIN, text)) => String::from_utf8_lossy(text).into_owned(),
            Some((letter, tail)) => {
                let mut out = String::with_capacity(2 + tail.len() * 2);
                out.push(char::from(*letter));
                out.push('-');
                push_hex(&mut out, tail);
                out
            }
            None => String::new(),
        }
    }
}

impl ToSql for Id {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.0.as_slice()))
    }
}

impl FromSql for Id {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Ok(Self(value.as_blob()?.to_vec()))
    }
}

/// An id of the host's, mostly a uuid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Uuid {
    Packed([u8; 16]),
    Plain(String),
}

/// Where the hyphens of a uuid lie.
const HYPHENS: [usize; 4] = [8, 13, 18, 23];

impl Uuid {
    pub(super) fn of(text: &str) -> Self {
        let hyphenated = text.len() == 36 && HYPHENS.iter().all(|at| text.as_bytes().get(*at) == Some(&b'-'));
        let digits: Vec<u8> =
            if hyphenated { text.bytes().filter(|b| *b != b'-').collect() } else { Vec::new() };
        match bytes16(&digits) {
            Some(bytes) => Self::Packed(bytes),
            None => Self::Plain(text.to_owned()),
        }
    }

    pub(super) fn text(self) -> String {
        match self {
            Self::Plain(text) => text,
            Self::Packed(bytes) => {
                let mut digits = String::with_capacity(36);
                push_hex(&mut digits, &bytes);
                HYPHENS.iter().for_each(|at| digits.insert(*at, '-'));
                digits
            }
        }
    }
}

impl ToSql for Uuid {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Packed(bytes) => ToSqlOutput::from(bytes.as_slice()),
            Self::Plain(text) => ToSqlOutput::from(text.as_str()),
        })
    }
}

impl FromSql for Uuid {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value {
            ValueRef::Blob(bytes) => {
                let bytes = bytes.try_into().map_err(|_| FromSqlError::InvalidType)?;
                Ok(Self::Packed(bytes))
            }
            other => Ok(Self::Plain(other.as_str()?.to_owned())),
        }
    }
}

/// Thirty-two lower-case hex digits as sixteen bytes.
fn bytes16(digits: &[u8]) -> Option<[u8; 16]> {
    let nibble = |b: u8| match b {
        b'0'..=b'9' => Some(b - b'0'),
        b'a'..=b'f' => Some(b - b'a' + 10),
        _ => None,
    };
    if digits.len() != 32 {
        return None;
    }
    let mut bytes = [0; 16];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let &[high, low] = pair else { return None };
        *byte = nibble(high)? << 4 | nibble(low)?;
    }
    Some(bytes)
}

fn push_hex(out: &mut String, bytes: &[u8]) {
    for byte in bytes {
        // Writing to a String cannot fail.
        write!(out, "{byte:02x}").ok();
    }
}

/// Kinds by number. A number is never given to another kind.
const KINDS: [&str; 8] =
    ["observation", "outcome", "checkpoint", "session-summary", "session", "claim", "note", "work"];
/// [`KINDS`] by name, for statements.
pub(super) const OBSERVATION: i64 = 0;
/// See [`OBSERVATION`].
pub(super) const OUTCOME: i64 = 1;

/// Speakers by number, the empty one for derived documents. A number is never given to another.
const SPEAKERS: [&str; 7] = ["", "assistant", "tool", "user", "agent", "host", "web"];
/// [`SPEAKERS`] by name, for statements.
pub(super) const TOOL: i64 = 2;
/// See [`TOOL`].
pub(super) const WEB: i64 = 6;

fn number(list: &[&str], name: &str) -> i64 {
    list.iter().position(|known| *known == name).and_then(|n| i64::try_from(n).ok()).unwrap_or(-1)
}

fn name(list: &[&'static str], number: i64) -> &'static str {
    usize::try_from(number).ok().and_then(|n| list.get(n)).copied().unwrap_or("unknown")
}

/// The number of a kind; one that there is not has none of its rows.
pub(super) fn kind(name: &str) -> i64 {
    number(&KINDS, name)
}

/// The name of a kind.
pub(super) fn kind_name(number: i64) -> &'static str {
    name(&KINDS, number)
}

/// The number of a speaker.
pub(super) fn speaker(name: &str) -> i64 {
    number(&SPEAKERS, name)
}

/// The name of a speaker.
pub(super) fn speaker_name(number: i64) -> &'static str {
    name(&SPEAKERS, number)
}

/// A time as the host wrote it, where its milliseconds do not say it.
pub(super) fn spelled(time: Option<&str>, time_ms: Option<i64>) -> Option<&str> {
    time.filter(|text| time_ms.is_none_or(|ms| clock::format(Millis(ms)) != **text))
}

/// The time as the host wrote it.
pub(super) fn time(spelled: Option<String>, time_ms: Option<i64>) -> Option<String> {
    spelled.or_else(|| time_ms.map(|ms| clock::format(Millis(ms))))
}

/// The first 64 bits of a hash in hex, as a row holds them; they sort as signed numbers.
pub(super) fn short_hash(hex: &str) -> i64 {
    let bits = hex.get(..16).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or_default();
    i64::from_le_bytes(bits.to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_uuids_round_trip_and_are_short() {
        let id = "o-0123456789abcdef0123456789abcdef";
        assert_eq!((Id::of(id).text().as_str(), Id::of(id).0.len()), (id, 17));
        for odd in
            ["o-0123", "", "O-0123456789ABCDEF0123456789ABCDEF", "é", "\0-0123456789abcdef0123456789abcdef"]
        {
            assert_eq!(Id::of(odd).text(), odd);
        }
        let uuid = "3f1c9a52-77b0-4a0e-9c1d-0123456789ab";
        assert!(matches!(Uuid::of(uuid), Uuid::Packed(_)));
        for text in [
            uuid,
            "msg-001",
            "",
            "3F1C9A52-77B0-4A0E-9C1D-0123456789AB",
            "3f1c9a52077b0-4a0e-9c1d-0123456789ab",
        ] {
            assert_eq!(Uuid::of(text).text(), text);
        }
    }

    #[test]
    fn a_beginning_spans_the_ids_that_begin_with_it() {
        let id = |digits: &str| Id::of(&format!("o-{digits:0<32}"));
        let (least, greatest) = Id::range("o-3f2").unwrap();
        assert!(least <= id("3f2") && id("3f2f") <= greatest);
        assert!(id("3f1f") < least && greatest < id("3f3"));
        assert_eq!(Id::range("o-xyz"), None);
        assert_eq!(Id::range(""), None);
    }

    #[test]
    fn a_time_is_spelled_out_only_where_its_milliseconds_do_not_say_it() {
        let plain = "2026-11-30T13:54:13.854Z";
        let ms = clock::parse(plain).map(|t| t.0);
        assert_eq!(spelled(Some(plain), ms), None);
        assert_eq!(time(None, ms).as_deref(), Some(plain));
        for odd in ["2026-11-30T15:54:13.854+02:00", "yesterday"] {
            let ms = clock::parse(odd).map(|t| t.0);
            assert_eq!(time(spelled(Some(odd), ms).map(str::to_owned), ms).as_deref(), Some(odd));
        }
        assert_eq!((spelled(None, ms), time(None, None)), (None, None));
    }
}
