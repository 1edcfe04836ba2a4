//! Short forms of what every row repeats: ids, uuids, kinds, speakers and times. A row costs as little beside its text as it can.
//!
//! | outside | in a row |
//! |---|---|
//! | id of ours, uuid of the host | 17 bytes; as it is where it has another shape |
//! | kind, speaker | a number |
//! | time as the host wrote it | nothing where it is what its milliseconds read as |

use crate::clock::{self, Millis};
use crate::id;
use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlResult, ToSqlOutput, ValueRef};

/// The id of a session's own document where the plain one is taken.
pub(super) fn own_id(id: &str, session: &str) -> String {
    format!("o-{}", id::short(&id::hash(&[id.as_bytes(), session.as_bytes()]), 32))
}

/// An id of ours or of the host's, on its way into a row or out of one: see [`id::pack`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Id(Vec<u8>);

impl Id {
    pub(super) fn of(text: &str) -> Self {
        Self(id::pack(text))
    }

    /// The id as the outside knows it.
    pub(super) fn text(&self) -> String {
        id::unpack(&self.0)
    }

    /// The least and the greatest id of ours that begin with a text; `None` when it begins none.
    pub(super) fn range(beginning: &str) -> Option<(Self, Self)> {
        let digits = beginning.get(2..)?.len();
        let pad =
            |with: &str| Self::of(&format!("{beginning}{}", with.repeat(32_usize.saturating_sub(digits))));
        let (least, greatest) = (pad("0"), pad("f"));
        (least.0.len() == id::PACKED_BYTES && least.0 <= greatest.0).then_some((least, greatest))
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

/// Kinds by number. A number is never given to another kind.
const KINDS: [&str; 9] = [
    "observation",
    "outcome",
    "checkpoint",
    "session-summary",
    "session",
    "claim",
    "note",
    "work",
    "failure",
];
/// [`KINDS`] by name, for statements.
pub(super) const OBSERVATION: i64 = 0;
/// See [`OBSERVATION`].
pub(super) const OUTCOME: i64 = 1;

/// See [`OBSERVATION`].
pub(super) const NOTE: i64 = 6;

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
