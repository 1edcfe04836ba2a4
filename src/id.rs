//! Names made from content: sha256 in hex, whole or cut.

use sha2::{Digest, Sha256};

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
}
