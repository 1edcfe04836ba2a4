//! Packs: the bodies of observations, many in one compressed frame. Texts of one session repeat each other, so together they take about
//! half of what they take one by one.
//!
//! A body lies at (pack, start, length). Bytes of a pack never change once a row points at them; the newest pack grows at its end. A body
//! that has to go is left out of a new pack under a new number, so that no reader ever finds other bytes at a place it knows.

use super::body::{compress_pack, unpack};
use super::{StoreError, Write};
use rusqlite::{Connection, OptionalExtension, params};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A pack that has this size grows no more: more would take less disk, less is read faster. Units: bytes, before compression.
const PACK_BYTES: usize = 64 * 1024;
/// Packs that a reader keeps unpacked.
const KEPT: usize = 8;
/// A larger one is not kept.
const KEPT_BYTES: usize = 1024 * 1024;

/// Where a body lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub pack: i64,
    pub start: i64,
    pub length: i64,
}

impl Place {
    /// Columns `pack, start, length`, from `first` on.
    pub(super) fn read(row: &rusqlite::Row<'_>, first: usize) -> rusqlite::Result<Self> {
        Ok(Self { pack: row.get(first)?, start: row.get(first + 1)?, length: row.get(first + 2)? })
    }

    fn cut(self, pack: &[u8]) -> Option<&[u8]> {
        let start = usize::try_from(self.start).ok()?;
        let end = start.checked_add(usize::try_from(self.length).ok()?)?;
        pack.get(start..end)
    }
}

/// The pack that grows: its number (0 before the first), what it holds, and whether its row is behind.
#[derive(Debug, Clone, Default)]
pub(super) struct Open {
    number: i64,
    bytes: Vec<u8>,
    behind: bool,
}

impl Open {
    /// Goes on with the newest pack of a store, or after it.
    pub(super) fn of(connection: &Connection) -> Result<Self, StoreError> {
        let newest: Option<(i64, Vec<u8>)> = connection
            .query_row("SELECT n, body FROM packs ORDER BY n DESC LIMIT 1", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        let last: i64 =
            connection.query_row("SELECT value FROM meta WHERE key = 'packs'", [], |row| row.get(0))?;
        let Some((number, packed)) = newest.filter(|(number, _)| *number >= last) else {
            return Ok(Self { number: last, bytes: Vec::new(), behind: false }.next());
        };
        let open = Self { number, bytes: unpack(1, packed)?, behind: false };
        Ok(if open.bytes.len() >= PACK_BYTES { open.next() } else { open })
    }

    /// The number of the newest pack.
    pub(super) fn number(&self) -> i64 {
        self.number
    }

    fn next(&self) -> Self {
        Self { number: self.number + 1, bytes: Vec::new(), behind: false }
    }

    fn write(&mut self, connection: &Connection) -> Result<(), StoreError> {
        if !self.behind {
            return Ok(());
        }
        let packed =
            compress_pack(&self.bytes).ok_or_else(|| StoreError::Body("a pack cannot be made".to_owned()))?;
        connection
            .prepare_cached("INSERT OR REPLACE INTO packs (n, body) VALUES (?1, ?2)")?
            .execute(params![self.number, packed])?;
        self.behind = false;
        Ok(())
    }
}

impl Write<'_> {
    /// Adds a body to the newest pack.
    pub(super) fn add_body(&mut self, body: &[u8]) -> Result<Place, StoreError> {
        if self.open.bytes.len() >= PACK_BYTES {
            self.write_pack()?;
            self.open = self.open.next();
        }
        let size = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let place =
            Place { pack: self.open.number, start: size(self.open.bytes.len()), length: size(body.len()) };
        self.open.bytes.extend_from_slice(body);
        self.open.behind = true;
        Ok(place)
    }

    /// Writes the newest pack and goes on in another one: it may have to go.
    pub(super) fn leave_pack(&mut self) -> Result<(), StoreError> {
        self.write_pack()?;
        self.open = self.open.next();
        Ok(())
    }

    /// Writes the newest pack as it is now: before a commit, and before it is left.
    pub(super) fn write_pack(&mut self) -> Result<(), StoreError> {
        self.open.write(&self.transaction)
    }

    /// Reads a body; it may have been added by this transaction. Errors: [`StoreError::Body`].
    pub(super) fn body(&self, place: Place) -> Result<Vec<u8>, StoreError> {
        if place.pack == self.open.number {
            return place.cut(&self.open.bytes).map(<[u8]>::to_vec).ok_or_else(missing);
        }
        self.packs.body(&self.transaction, place)
    }
}

/// The packs that were read last, unpacked.
#[derive(Default)]
pub(super) struct Packs(RefCell<Vec<(i64, Arc<Vec<u8>>)>>);

impl Packs {
    /// Lets go of packs from a number on: a transaction that was rolled back may have left its own bytes here.
    pub(super) fn let_go(&self, from: i64) {
        self.0.borrow_mut().retain(|(n, _)| *n < from);
    }

    /// Lets go of packs that are no more.
    pub(super) fn lose(&self, packs: &BTreeSet<i64>) {
        self.0.borrow_mut().retain(|(n, _)| !packs.contains(n));
    }

    /// Reads a body. Errors: [`StoreError::Body`] when its pack is damaged, missing or shorter than the place says.
    pub(super) fn body(&self, connection: &Connection, place: Place) -> Result<Vec<u8>, StoreError> {
        let known = self.0.borrow().iter().find(|(n, _)| *n == place.pack).map(|(_, pack)| Arc::clone(pack));
        // A kept pack may have grown since.
        if let Some(body) = known.as_deref().and_then(|pack| place.cut(pack)) {
            return Ok(body.to_vec());
        }
        let packed: Option<Vec<u8>> = connection
            .prepare_cached("SELECT body FROM packs WHERE n = ?1")?
            .query_row([place.pack], |row| row.get(0))
            .optional()?;
        let pack = Arc::new(unpack(1, packed.ok_or_else(missing)?)?);
        let body = place.cut(&pack).map(<[u8]>::to_vec).ok_or_else(missing)?;
        let mut kept = self.0.borrow_mut();
        kept.retain(|(n, _)| *n != place.pack);
        if pack.len() <= KEPT_BYTES {
            if kept.len() >= KEPT {
                kept.remove(0);
            }
            kept.push((place.pack, pack));
        }
        Ok(body)
    }
}

fn missing() -> StoreError {
    StoreError::Body("it is not in its pack".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Home;
    use crate::store::Store;

    #[test]
    fn what_a_transaction_wrote_that_was_rolled_back_is_not_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::open(&Home::at(dir.path())).unwrap();
        let (first, second) = (vec![b'a'; PACK_BYTES], vec![b'b'; PACK_BYTES]);
        let mut write = store.begin().unwrap();
        let place = write.add_body(&first).unwrap();
        write.add_body(b"the next pack").unwrap();
        assert_eq!(write.body(place).unwrap(), first);
        drop(write);
        let mut write = store.begin().unwrap();
        assert_eq!(write.add_body(&second).unwrap(), place);
        write.add_body(b"the next pack").unwrap();
        assert_eq!(write.body(place).unwrap(), second);
        write.commit().unwrap();
        let write = store.begin().unwrap();
        assert_eq!(write.body(place).unwrap(), second);
    }

    #[test]
    fn a_pack_that_grows_keeps_its_places() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        let mut store = Store::open(&home).unwrap();
        let bodies: Vec<Vec<u8>> =
            (0..200_u32).map(|n| format!("body {n} ").repeat(60).into_bytes()).collect();
        let mut places = Vec::new();
        for (n, body) in bodies.iter().enumerate() {
            if n % 50 == 0 {
                drop(store);
                store = Store::open(&home).unwrap();
            }
            let mut write = store.begin().unwrap();
            places.push(write.add_body(body).unwrap());
            write.commit().unwrap();
        }
        let packs = Packs::default();
        for (place, body) in places.iter().zip(&bodies) {
            assert_eq!(packs.body(&store.connection, *place).unwrap(), *body);
        }
        assert!(places.last().unwrap().pack < 5, "{places:?}");
    }
}
