//! Bringing a store to the version this binary knows, one step a transaction.

use super::StoreError;
use super::schema::MIGRATIONS;
use crate::step::step;
use rusqlite::{Connection, TransactionBehavior};
use std::path::Path;

/// The version this binary writes.
pub(super) const VERSION: i64 = MIGRATIONS.len() as i64;

/// Migrates. Errors: [`StoreError::Newer`] for a store of a newer version, which is left unchanged; SQLite's.
pub(super) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    loop {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let found: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if found > VERSION {
            return Err(StoreError::Newer { path: path.to_path_buf(), found, known: VERSION });
        }
        let Some(sql) = usize::try_from(found).ok().and_then(|v| MIGRATIONS.get(v)) else { return Ok(()) };
        step("store::migrate")?;
        transaction.execute_batch(sql)?;
        transaction.pragma_update(None, "user_version", found + 1)?;
        transaction.commit()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Home;
    use crate::store::Store;

    #[test]
    fn a_newer_store_is_refused_and_left_unchanged() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        drop(Store::open(&home).unwrap());
        let connection = Connection::open(home.store()).unwrap();
        connection.pragma_update(None, "user_version", VERSION + 1).unwrap();
        drop(connection);
        assert!(matches!(Store::open(&home), Err(StoreError::Newer { .. })));
        let connection = Connection::open(home.store()).unwrap();
        let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
        assert_eq!(found, VERSION + 1);
    }
}
