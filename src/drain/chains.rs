//! Names for subagents that have none: clients before 2.0.28 wrote them into the session's own file, and only the chain of parents tells one
//! run from the next.
//!
//! A name is a function of the file up to the record, so any split of the reading gives the same one (D4). A run begins with a record
//! whose parent is no inline record of the file.

use super::read::examine;
use crate::id;
use crate::transcript::{INLINE, Parsed, Reader};
use std::collections::HashMap;
use std::io;
use std::path::Path;

/// More records of one file than this are not followed: what comes then shares one name. Units: records, 16 bytes each.
const MAX_KNOWN: usize = 200_000;

/// Record → first record of its run, by hash.
#[derive(Default)]
pub(super) struct Chains {
    known: HashMap<u64, u64>,
    /// What lies before the stretch that is read now was looked through.
    looked: bool,
}

impl Chains {
    /// The name of the run that a record belongs to. `before` is where the stretch that is read now begins: what lies before it is looked
    /// through when the first such record is met. Errors: the system's.
    pub(super) fn name(
        &mut self,
        path: &Path,
        before: u64,
        (uuid, parent): (&str, Option<&str>),
    ) -> io::Result<String> {
        if !self.looked {
            self.looked = true;
            self.look_through(path, before)?;
        }
        let full = self.known.len() >= MAX_KNOWN;
        Ok(match self.add(uuid, parent) {
            Some(root) if !full => format!("{INLINE}-{root:016x}"),
            _ => INLINE.to_owned(),
        })
    }

    fn add(&mut self, uuid: &str, parent: Option<&str>) -> Option<u64> {
        let own = key(uuid);
        let root = match parent.and_then(|parent| self.known.get(&key(parent))) {
            Some(root) => *root,
            None => *self.known.get(&own).unwrap_or(&own),
        };
        if self.known.len() < MAX_KNOWN {
            self.known.insert(own, root);
        }
        Some(root)
    }

    fn look_through(&mut self, path: &Path, before: u64) -> io::Result<()> {
        if before == 0 {
            return Ok(());
        }
        let mut reader = Reader::open(path, 0)?;
        while let Some(line) = reader.next_line()? {
            if line.from >= before || !line.complete {
                break;
            }
            // What reading in one go adds, and nothing else.
            let context = match examine(&reader, &line)?.0.parsed {
                Parsed::Said(context, observation) if observation.agent == INLINE => context,
                Parsed::Silent(context, _) => context,
                _ => continue,
            };
            if let Some((uuid, parent)) = &context.inline {
                self.add(uuid, parent.as_deref());
            }
        }
        Ok(())
    }
}

fn key(uuid: &str) -> u64 {
    let hash = id::hash(&[uuid.as_bytes()]);
    u64::from_str_radix(id::short(&hash, 16), 16).unwrap_or(0)
}
