//! Projects that are another one: a remote was renamed, a checkout moved, or a person said so.
//!
//! An alias maps what a directory is identified as to the project that its sessions belong to. Each session keeps what it was identified as, so that
//! an alias can be taken back.

use super::{Reader, StoreError, Write};
use crate::config::Project;
use rusqlite::{OptionalExtension, params};
use std::path::Path;

/// What an alias did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Linked {
    /// So many sessions belong to the other project now.
    Moved(u64),
    /// There is no such project, or it is the same one.
    Nothing,
}

impl Write<'_> {
    /// The project that a project is; itself without an alias.
    pub(super) fn real_project(&self, project: &Project) -> Result<Project, StoreError> {
        let mut query = self.transaction.prepare_cached(
            "SELECT a.new, p.name, p.remote, p.directory FROM aliases a LEFT JOIN projects p ON p.id = a.new WHERE a.old = ?1",
        )?;
        let found = query
            .query_row([&project.id], |row| {
                let name: Option<String> = row.get(1)?;
                let root: Option<String> = row.get(3)?;
                Ok(Project {
                    id: row.get(0)?,
                    name: name.unwrap_or_else(|| project.name.clone()),
                    remote: row.get(2)?,
                    root: root.map_or_else(|| project.root.clone(), Into::into),
                    mark: project.mark.clone(),
                })
            })
            .optional()?;
        Ok(found.unwrap_or_else(|| project.clone()))
    }

    /// Makes a project an alias of another: its sessions, notes and items of work belong to that one from now on, as those that come.
    ///
    /// Errors: [`StoreError`].
    pub fn link_project(&mut self, old: &str, new: &Project) -> Result<Linked, StoreError> {
        let new = self.real_project(new)?;
        if old == new.id {
            return Ok(Linked::Nothing);
        }
        self.transaction.execute(
            "INSERT INTO projects (id, name, remote, directory) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
            params![new.id, new.name, new.remote, new.root.to_string_lossy()],
        )?;
        self.transaction.execute(
            "UPDATE sessions SET own_project = project WHERE project = ?1 AND own_project = ''",
            [old],
        )?;
        self.transaction.execute("UPDATE aliases SET new = ?2 WHERE new = ?1", params![old, new.id])?;
        // Taken back by its opposite.
        self.transaction.execute("DELETE FROM aliases WHERE old = ?1", [&new.id])?;
        self.transaction
            .execute("INSERT OR REPLACE INTO aliases (old, new) VALUES (?1, ?2)", params![old, new.id])?;
        self.transaction
            .execute("UPDATE directories SET project = ?2 WHERE project = ?1", params![old, new.id])?;
        let sessions = self.sessions_of("project", old)?;
        for session in &sessions {
            self.move_session(*session, &new.id)?;
        }
        Ok(Linked::Moved(sessions.len() as u64))
    }

    /// Takes an alias back: what was identified as that project belongs to it again. Errors: [`StoreError`].
    pub fn unlink_project(&mut self, old: &Project) -> Result<Linked, StoreError> {
        if self.transaction.execute("DELETE FROM aliases WHERE old = ?1", [&old.id])? == 0 {
            return Ok(Linked::Nothing);
        }
        let sessions = self.sessions_of("own_project", &old.id)?;
        if !sessions.is_empty() {
            self.transaction.execute(
                "INSERT INTO projects (id, name, remote, directory) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
                params![old.id, old.name, old.remote, old.root.to_string_lossy()],
            )?;
        }
        for session in &sessions {
            self.move_session(*session, &old.id)?;
        }
        // Where they were seen is found again by looking.
        self.transaction.execute(
            "DELETE FROM directories WHERE directory IN (SELECT claim_directory FROM sessions WHERE own_project = ?1)",
            [&old.id],
        )?;
        Ok(Linked::Moved(sessions.len() as u64))
    }

    /// A directory that is identified as a project now, but is a checkout that was known as another one: under this very path (its remote was renamed,
    /// or came later), or under one that is gone (it moved). The mark of a checkout is that of its first commit or clone; one that has none is
    /// never taken for another.
    pub fn known_as(&self, directory: &str, project: &Project) -> Result<Option<String>, StoreError> {
        let Some(mark) = project.mark.as_deref().filter(|mark| !mark.is_empty()) else { return Ok(None) };
        let real = self.real_project(project)?;
        let mut query = self.transaction.prepare_cached(
            "SELECT directory, project FROM directories WHERE mark = ?1 AND project <> ?2 ORDER BY directory",
        )?;
        let mut rows = query.query([mark, &real.id])?;
        while let Some(row) = rows.next()? {
            let (known, other): (String, String) = (row.get(0)?, row.get(1)?);
            if known == directory || !Path::new(&known).exists() {
                return Ok(Some(other));
            }
        }
        Ok(None)
    }

    fn sessions_of(&self, column: &str, project: &str) -> Result<Vec<i64>, StoreError> {
        let mut query =
            self.transaction.prepare(&format!("SELECT n FROM sessions WHERE {column} = ?1 ORDER BY n"))?;
        let rows = query.query_map([project], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

impl Reader {
    /// Every alias: what is identified so, and the project that it is. A store of an older version has none.
    pub fn aliases(&self) -> Result<Vec<(String, String)>, StoreError> {
        let there = self
            .connection
            .prepare_cached("SELECT 1 FROM sqlite_schema WHERE name = 'aliases'")?
            .exists([])?;
        if !there {
            return Ok(Vec::new());
        }
        let mut query = self.connection.prepare_cached("SELECT old, new FROM aliases ORDER BY old")?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
