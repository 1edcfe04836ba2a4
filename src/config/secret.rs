//! The local secret: redaction markers, the path salt of project ids and the fence of injected text derive from it.

use super::Home;
use crate::{fs, id};
use std::io;

/// 32 random bytes, kept in `secret` as 64 hex digits and a newline; made by the first process that needs it.
#[derive(Clone)]
pub struct Secret([u8; 32]);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// The secret could not be read or made. The user's: permissions or a damaged file.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// A file operation failed.
    #[error(transparent)]
    Fs(#[from] fs::FsError),
    /// The file is there, but does not hold 64 hex digits.
    #[error("the local secret {path} is damaged")]
    Damaged {
        /// Where it lies.
        path: String,
    },
    /// The system gave no random bytes.
    #[error("cannot make a local secret: no random bytes from the system")]
    Random,
}

impl Secret {
    /// Takes 32 given bytes: for tests and for imports of an export.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Reads it; `Ok(None)` when none was made yet. Errors: [`SecretError`].
    pub fn read(home: &Home) -> Result<Option<Self>, SecretError> {
        let path = home.secret();
        let Some(bytes) = fs::read_small(&path, 1024)? else { return Ok(None) };
        match parse(&bytes) {
            Some(secret) => Ok(Some(Self(secret))),
            None => Err(SecretError::Damaged { path: path.display().to_string() }),
        }
    }

    /// Reads it, or makes it when there is none. Errors: [`SecretError`].
    pub fn open(home: &Home) -> Result<Self, SecretError> {
        if let Some(secret) = Self::read(home)? {
            return Ok(secret);
        }
        fs::make_private_dir(home.root())?;
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|_| SecretError::Random)?;
        // 1. Two processes find no secret. 2. Both write one of their own. 3. The first publishes it.
        // 4. The second must not replace it, since markers may already derive from it: so link, which
        // fails where the name exists, and read what won.
        let path = home.secret();
        let tmp = home.root().join(format!(".secret.{}.tmp", std::process::id()));
        fs::remove(&tmp)?;
        fs::publish_once(&tmp, &path, format!("{}\n", id::hex(&bytes)).as_bytes())?;
        match Self::read(home)? {
            Some(secret) => Ok(secret),
            None => Err(SecretError::Damaged { path: path.display().to_string() }),
        }
    }

    /// The key for `what` (`redact`, `project`, `fence`): none tells anything about another.
    pub fn key(&self, what: &str) -> [u8; 32] {
        let derived = id::keyed(&self.0, &[b"derive", what.as_bytes()]);
        parse(derived.as_bytes()).unwrap_or(self.0)
    }

    /// What every fence of this installation begins with: 8 hex digits that tell our own injected text when it comes back.
    pub fn fence_prefix(&self) -> String {
        id::short(&id::keyed(&self.key("fence"), &[b"prefix"]), 8).to_owned()
    }

    /// The second half of a fence: 8 hex digits of the content under our key, so that the content cannot hold it.
    pub fn fence_suffix(&self, content: &str) -> String {
        id::short(&id::keyed(&self.key("fence"), &[b"content", content.as_bytes()]), 8).to_owned()
    }
}

fn parse(text: &[u8]) -> Option<[u8; 32]> {
    let text = std::str::from_utf8(text).ok()?.trim_end();
    if text.len() != 64 {
        return None;
    }
    let mut out = [0; 32];
    for (slot, pair) in out.iter_mut().zip(text.as_bytes().chunks(2)) {
        *slot = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(out)
}

impl From<SecretError> for io::Error {
    fn from(error: SecretError) -> Self {
        io::Error::other(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_made_once_and_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().join("data"));
        assert!(Secret::read(&home).unwrap().is_none());
        let first = Secret::open(&home).unwrap();
        assert_eq!(Secret::open(&home).unwrap().0, first.0);
        assert_ne!(first.key("redact"), first.key("fence"));
    }

    #[test]
    fn a_damaged_secret_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        fs::replace(&home.secret(), b"short\n", fs::Sync::No).unwrap();
        assert!(matches!(Secret::open(&home), Err(SecretError::Damaged { .. })));
    }
}
