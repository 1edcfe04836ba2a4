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
    use std::fmt::Write as _;
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a String cannot fail.
        if write!(out, "{byte:02x}").is_err() {
            break;
        }
    }
    out
}

/// Cuts a hex hash to its first `digits` characters; the whole when it is shorter.
pub fn short(hash: &str, digits: usize) -> &str {
    hash.get(..digits).unwrap_or(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

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
