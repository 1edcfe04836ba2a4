//! Whose project a session is: by what was said of it, through renamed remotes and moves.

use super::{Pending, Said, Writer};
use crate::config::{self, Home, ProjectMap};
use crate::log;
use crate::redact::Report;
use crate::store::{Claim, Claimant, StoreError, Write};

impl Writer {
    pub(super) fn assign(
        &mut self,
        write: &mut Write<'_>,
        session: i64,
        said: Said<'_>,
        given: Option<&config::Project>,
        pending: &mut Pending,
    ) -> Result<(), StoreError> {
        let Said { by, ms, directory } = said;
        let say = |text: &str| self.redactor.clean(text, &mut Report::default()).into_owned();
        let shown = directory.to_string_lossy();
        let plain = say(&shown);
        let by = if given.is_some() { Claimant::Person } else { by };
        let claim = Claim { by, ms, directory: &plain };
        if !write.claims(session, claim)? {
            return Ok(());
        }
        pending.new_project = true;
        if let Some(given) = given {
            return write.assign_project(session, claim, None, given);
        }
        let secret = &self.secret;
        let known = self.projects.entry(directory.to_path_buf());
        let mut project = known.or_insert_with(|| config::identify(directory, secret)).clone();
        project.root = say(&project.root.to_string_lossy()).into();
        project.remote = project.remote.map(|remote| say(&remote));
        project.name = say(&project.name);
        // A directory whose name is a secret is not published: hooks in it look for themselves.
        let place = (plain == shown).then_some(plain.as_str());
        // A renamed remote, or a checkout that moved: the same project under another name.
        if let Some(place) = place
            && let Some(old) = write.known_as(place, &project)?
        {
            write.link_project(&old, &project)?;
            log::info(
                "drain",
                &[("old", &old), ("new", &project.id)],
                "A checkout is known under another name; its memory is joined.",
            );
        }
        write.assign_project(session, claim, place, &project)
    }
}

/// Writes the map of directories that hooks look into.
pub(in crate::drain) fn publish_projects(home: &Home) {
    let written = crate::store::Reader::open(home)
        .and_then(|reader| Ok(ProjectMap::from_pairs(reader.directories()?).with_aliases(reader.aliases()?)))
        .map_err(|e| e.to_string())
        .and_then(|map| map.write(home).map_err(|e| e.to_string()));
    if let Err(error) = written {
        log::warn(
            "drain",
            &[("error", &error)],
            "The map of projects could not be published; hooks look for themselves.",
        );
    }
}
