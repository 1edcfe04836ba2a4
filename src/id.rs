//! Names made from content: sha256 in hex, whole or cut.

use sha2::{Digest, Sha256};
use std::borrow::Cow;

/// Hashes the parts, each preceded by its length, so that no two different lists of parts give one hash.
///
/// Shape: 64 lower-case hex digits.
pub fn hash(parts: &[&[u8]]) -> String {
    let mut sha = Sha256::new();
    for part in parts {
        sha.update((part.len() as u64).to_le_bytes());
        sha.update(part);
    }
    hex(&sha.finalize())
}

/// Hashes bytes as they are. Shape: 64 lower-case hex digits.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Hashes the parts under a key (HMAC-SHA256, RFC 2104). Shape: 64 lower-case hex digits.
pub fn keyed(key: &[u8; 32], parts: &[&[u8]]) -> String {
    let pad = |byte: u8| {
        let mut block = [byte; 64];
        for (slot, k) in block.iter_mut().zip(key) {
            *slot ^= k;
        }
        block
    };
    let mut inner = Sha256::new();
    inner.update(pad(0x36));
    for part in parts {
        inner.update((part.len() as u64).to_le_bytes());
        inner.update(part);
    }
    let mut outer = Sha256::new();
    outer.update(pad(0x5c));
    outer.update(inner.finalize());
    hex(&outer.finalize())
}

/// Makes a foreign id safe as a part of a file name: itself when it is `[A-Za-z0-9_-]{1,64}`, else `_` and 40 hex of its sha256.
pub fn safe_name(id: &str) -> Cow<'_, str> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    if (1..=64).contains(&id.len()) && id.bytes().all(plain) {
        return Cow::Borrowed(id);
    }
    hashed_name(id)
}

/// The form that an unsafe id takes as a name.
pub fn hashed_name(id: &str) -> Cow<'_, str> {
    Cow::Owned(format!("_{}", short(&sha256(id.as_bytes()), 40)))
}

/// Writes bytes as lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Cuts a hex hash to its first `digits` characters; the whole when it is shorter.
pub fn short(hash: &str, digits: usize) -> &str {
    hash.get(..digits).unwrap_or(hash)
}

/// Size of the short form of an id that has one.
pub const PACKED_BYTES: usize = 17;
/// Begins an id that has none.
const PLAIN: u8 = 0;
/// Begins a uuid.
const UUID: u8 = 1;
/// Where the hyphens of a uuid lie.
const HYPHENS: [usize; 4] = [8, 13, 18, 23];

/// Packs an id: ours (a letter, `-`, 32 lower-case hex digits) as its letter and 16 bytes, a lower-case uuid as a mark and 16 bytes, any
/// other text as a mark and its bytes. Ids of ours sort like their texts.
pub fn pack(id: &str) -> Vec<u8> {
    let bytes = id.as_bytes();
    let packed = match bytes {
        [letter, b'-', digits @ ..] if letter.is_ascii_alphabetic() => {
            bytes16(digits).map(|tail| (*letter, tail))
        }
        _ if bytes.len() == 36 && HYPHENS.iter().all(|at| bytes.get(*at) == Some(&b'-')) => {
            let digits: Vec<u8> = bytes.iter().copied().filter(|b| *b != b'-').collect();
            bytes16(&digits).map(|tail| (UUID, tail))
        }
        _ => None,
    };
    match packed {
        Some((mark, tail)) => [&[mark], tail.as_slice()].concat(),
        None => [&[PLAIN], bytes].concat(),
    }
}

/// The id that [`pack`] was given.
pub fn unpack(packed: &[u8]) -> String {
    match packed.split_first() {
        None => String::new(),
        Some((&PLAIN, text)) => String::from_utf8_lossy(text).into_owned(),
        Some((&UUID, tail)) => {
            let mut text = hex(tail);
            HYPHENS.iter().filter(|at| **at <= tail.len() * 2).for_each(|at| text.insert(*at, '-'));
            text
        }
        Some((letter, tail)) => format!("{}-{}", char::from(*letter), hex(tail)),
    }
}

/// Is it an id of ours: this letter, `-`, 32 lower-case hex digits?
pub fn is_ours(id: &str, letter: char) -> bool {
    let digits = id.strip_prefix(letter).and_then(|rest| rest.strip_prefix('-'));
    digits.is_some_and(|digits| bytes16(digits.as_bytes()).is_some())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_uuids_are_packed_and_come_back() {
        for id in ["o-0123456789abcdef0123456789abcdef", "3f1c9a52-77b0-4a0e-9c1d-0123456789ab"] {
            assert_eq!((pack(id).len(), unpack(&pack(id)).as_str()), (PACKED_BYTES, id));
        }
        let plain = [
            "o-0123",
            "",
            "o-0123456789ABCDEF0123456789ABCDEF",
            "msg-001",
            "3F1C9A52-77B0-4A0E-9C1D-0123456789AB",
            "3f1c9a52077b0-4a0e-9c1d-0123456789ab",
            "\0-0123456789abcdef0123456789abcdef",
            "é-0123456789abcdef0123456789abcdef",
        ];
        for id in plain {
            assert_eq!((pack(id).len(), unpack(&pack(id)).as_str()), (id.len() + 1, id));
        }
        let (a, b) = ("o-0f000000000000000000000000000000", "o-f0000000000000000000000000000000");
        assert!(pack(a) < pack(b) && pack(b) < pack(&a.replace('o', "p")));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_of_a_row_make_unpacking_fail(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..40)) {
            let text = unpack(&bytes);
            proptest::prop_assert_eq!(unpack(&pack(&text)), text);
        }
    }

    #[test]
    fn different_splits_of_the_same_bytes_have_different_names() {
        assert_ne!(hash(&[b"ab", b"c"]), hash(&[b"a", b"bc"]));
        assert_eq!(sha256(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_ne!(keyed(&[0; 32], &[b"x"]), keyed(&[1; 32], &[b"x"]));
    }

    #[test]
    fn no_foreign_id_names_a_path_outside() {
        assert_eq!(safe_name("a-B_9"), "a-B_9");
        for odd in ["../x", "", "a/b", "é", &"x".repeat(65)] {
            let name = safe_name(odd);
            assert!(name.len() == 41 && name.starts_with('_'), "{name}");
        }
    }
}
