//! Bringing a store to the version this binary knows, one step a transaction.

use super::StoreError;
use super::schema::MIGRATIONS;
use crate::step::step;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::path::Path;

/// The tables of a version, and what fills them with what SQL alone cannot read out of packed bodies.
pub(super) type Migration = (&'static str, fn(&Transaction<'_>) -> Result<(), StoreError>);

/// The tables are filled by whoever writes.
pub(super) fn nothing(_: &Transaction<'_>) -> Result<(), StoreError> {
    Ok(())
}

/// The version this binary writes.
pub(super) const VERSION: i64 = MIGRATIONS.len() as i64;

/// Migrates. Errors: [`StoreError::Newer`] for a store of a newer version, which is left unchanged; SQLite's.
pub(super) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    migrate_by(MIGRATIONS, connection, path)
}

/// The same by any list: version `v` becomes `v + 1` by `migrations[v]`, each in a transaction with its version.
fn migrate_by(migrations: &[Migration], connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let known = i64::try_from(migrations.len()).unwrap_or(0);
    // Nothing to do needs no lock: another process may hold it for minutes.
    let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found == known {
        return Ok(());
    }
    loop {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let found: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if found > known {
            return Err(StoreError::Newer { path: path.to_path_buf(), found, known });
        }
        let Some((sql, fill)) = usize::try_from(found).ok().and_then(|v| migrations.get(v)) else {
            return Ok(());
        };
        step("store::migrate")?;
        transaction.execute_batch(sql)?;
        fill(&transaction)?;
        transaction.pragma_update(None, "user_version", found + 1)?;
        step("store::migrated")?;
        transaction.commit()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Home;
    use crate::store::Store;

    /// F44: each step is a transaction of its own; what was cut short is done again, what was done is not.
    #[test]
    fn f44_a_migration_cut_short_goes_on_where_it_stood() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        let open = || Connection::open(&path).unwrap();
        let version = || open().query_row("PRAGMA user_version", [], |r| r.get::<_, i64>(0)).unwrap();
        let first: Migration = ("CREATE TABLE a (x); INSERT INTO a VALUES (1);", nothing);
        let second: Migration = ("ALTER TABLE a ADD COLUMN y; UPDATE a SET y = x + 1;", nothing);
        migrate_by(&[first], &mut open(), &path).unwrap();
        // The second one fails in its middle: nothing of it stays, the first holds.
        let broken: Migration = ("ALTER TABLE a ADD COLUMN y; INSERT INTO nowhere VALUES (1);", nothing);
        assert!(migrate_by(&[first, broken], &mut open(), &path).is_err());
        assert_eq!(version(), 1);
        assert!(open().prepare("SELECT y FROM a").is_err());
        for _ in 0..2 {
            migrate_by(&[first, second], &mut open(), &path).unwrap();
            assert_eq!(version(), 2);
            let row: (i64, i64) =
                open().query_row("SELECT x, y FROM a", [], |r| Ok((r.get(0)?, r.get(1)?))).unwrap();
            assert_eq!(row, (1, 2), "applied once");
        }
        assert!(matches!(migrate_by(&[first], &mut open(), &path), Err(StoreError::Newer { .. })));
    }

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
