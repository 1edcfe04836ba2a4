//! Which project a directory belongs to: `<name>-<10 hex>` (design, section 3).
//!
//! The hash is over the git remote without credentials, else the real path of the git common directory (worktrees share it), else the
//! directory; where it is over a path it is salted with the local secret, so that an id tells nothing about the path.
//! Reads `.git` files only; never runs git.

use super::{Home, Secret};
use crate::{fs, id};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A project: its id, the name a person uses, and where it was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// `<name>-<10 hex>`.
    pub id: String,
    /// The last part of the remote, else the folder that holds the common directory.
    pub name: String,
    /// The remote without credentials, `host/path`; `None` without one.
    pub remote: Option<String>,
    /// The directory that was asked about, walked up to the work tree's root where there is one.
    pub root: PathBuf,
    /// Names the checkout, whatever its place and remote: a hash of how it began. `None` where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
}

impl Project {
    /// Hands out the texts of it that came from a path or a remote, to be changed in place. The id is ours.
    pub fn each_text(&mut self, say: &mut dyn FnMut(&mut String)) {
        say(&mut self.name);
        self.remote.iter_mut().for_each(&mut *say);
        let mut root = self.root.to_string_lossy().into_owned();
        say(&mut root);
        if *root != *self.root.to_string_lossy() {
            self.root = root.into();
        }
    }
}

/// Identifies the project of a directory. A directory that does not exist here (an imported session of another machine) is taken as text.
pub fn identify(directory: &Path, secret: &Secret) -> Project {
    let real = directory.canonicalize().unwrap_or_else(|_| directory.to_path_buf());
    let Some(tree) = real.ancestors().find(|dir| dir.join(".git").symlink_metadata().is_ok()) else {
        return by_path(&real, &real, secret);
    };
    let whole = of_tree(tree, secret);
    match part(tree, &real) {
        // A folder that the settings make a project of its own; in each worktree the same one.
        Some(part) => {
            let name = clean_name(part.rsplit('/').next().unwrap_or(&part));
            let hash = id::hash(&[b"part", whole.id.as_bytes(), part.as_bytes()]);
            // A part has no history of its own to be known by.
            Project {
                id: format!("{name}-{}", id::short(&hash, 10)),
                name,
                root: tree.join(&part),
                mark: None,
                remote: whole.remote.map(|remote| format!("{remote}/{part}")),
            }
        }
        None => whole,
    }
}

/// The folder of a work tree that is a project of its own by the settings, and holds a directory.
fn part(tree: &Path, directory: &Path) -> Option<String> {
    let inside = directory.strip_prefix(tree).ok()?;
    let parts: Vec<&str> = inside.components().filter_map(|part| part.as_os_str().to_str()).collect();
    if parts.is_empty() {
        return None;
    }
    let splits = super::Settings::read(Some(tree)).split();
    let fitting = splits.iter().filter_map(|split| {
        let wanted: Vec<&str> = split.split('/').filter(|part| !part.is_empty()).collect();
        let fits = wanted.len() <= parts.len() && wanted.iter().zip(&parts).all(|(w, p)| *w == "*" || w == p);
        fits.then(|| parts.iter().take(wanted.len()).copied().collect::<Vec<_>>().join("/"))
    });
    // The innermost.
    fitting.max_by_key(String::len)
}

fn of_tree(tree: &Path, secret: &Secret) -> Project {
    let git = git_directory(&tree.join(".git"));
    let common = common_directory(&git);
    match remote(&common.join("config")) {
        Some(remote) => {
            let last = remote.rsplit('/').next().unwrap_or(&remote);
            let name = clean_name(last);
            let hash = id::hash(&[b"remote", remote.as_bytes()]);
            Project {
                id: format!("{name}-{}", id::short(&hash, 10)),
                name,
                remote: Some(remote),
                root: tree.to_path_buf(),
                mark: mark(&common),
            }
        }
        None => {
            let holder = if common.ends_with(".git") { common.parent().unwrap_or(&common) } else { &common };
            let mut project = by_path(&common, holder, secret);
            project.root = tree.to_path_buf();
            project.mark = mark(&common);
            project
        }
    }
}

fn by_path(hashed: &Path, named: &Path, secret: &Secret) -> Project {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = named.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let name = clean_name(&folder);
    let hash = id::keyed(&secret.key("project"), &[hashed.as_os_str().as_bytes()]);
    Project {
        id: format!("{name}-{}", id::short(&hash, 10)),
        name,
        remote: None,
        root: named.to_path_buf(),
        mark: None,
    }
}

/// A hash of the first line of a repository's log: its first commit or clone, with the second it was made in. A renamed remote and a move leave it.
fn mark(common: &Path) -> Option<String> {
    // The whole log may be long; its beginning is enough.
    let bytes = fs::read_head(&common.join("logs/HEAD"), 4096).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let (line, _) = text.split_once('\n')?;
    Some(id::short(&id::hash(&[b"checkout", line.as_bytes()]), 16).to_owned())
}

/// Lower-cased, other characters `-`, cut at 40; never empty.
fn clean_name(name: &str) -> String {
    let name = name.strip_suffix(".git").unwrap_or(name);
    let kept: String = name
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .take(40)
        .collect();
    let kept = kept.trim_matches('-');
    if kept.is_empty() { "project".to_owned() } else { kept.to_owned() }
}

/// `.git` is a directory, or in a worktree or submodule a file `gitdir: <path>`.
fn git_directory(dot_git: &Path) -> PathBuf {
    let Ok(Some(bytes)) = fs::read_small(dot_git, 4096) else { return dot_git.to_path_buf() };
    let text = String::from_utf8_lossy(&bytes);
    let Some(target) = text.lines().find_map(|l| l.strip_prefix("gitdir:")) else {
        return dot_git.to_path_buf();
    };
    let target = dot_git.parent().unwrap_or(dot_git).join(target.trim());
    target.canonicalize().unwrap_or(target)
}

/// A worktree's git directory holds `commondir`, a path to the one all share.
fn common_directory(git: &Path) -> PathBuf {
    let Ok(Some(bytes)) = fs::read_small(&git.join("commondir"), 4096) else { return git.to_path_buf() };
    let common = git.join(String::from_utf8_lossy(&bytes).trim());
    common.canonicalize().unwrap_or(common)
}

/// Reads the remote `origin`, else the first one by name, from a git config file.
fn remote(config: &Path) -> Option<String> {
    let bytes = fs::read_small(config, 1024 * 1024).ok()??;
    let text = String::from_utf8_lossy(&bytes);
    let mut section = None;
    let mut found = BTreeMap::new();
    for line in text.lines().map(str::trim) {
        if let Some(head) = line.strip_prefix('[') {
            section = head
                .strip_prefix("remote")
                .and_then(|rest| rest.trim().strip_prefix('"'))
                .and_then(|rest| rest.split('"').next())
                .map(str::to_owned);
        } else if let (Some(name), Some((key, url))) = (&section, line.split_once('='))
            && key.trim() == "url"
            && let Some(plain) = without_credentials(url.trim())
        {
            found.entry(name.clone()).or_insert(plain);
        }
    }
    found.remove("origin").or_else(|| found.into_values().next())
}

/// Brings a remote to `host/path`: `git@host:a/b.git`, `https://user:token@host/a/b` and `ssh://host/a/b.git` are one project.
/// `None` for a local path, which is no identity beyond this machine.
fn without_credentials(url: &str) -> Option<String> {
    let (rest, scp) = match url.split_once("://") {
        Some(("file", _)) => return None,
        Some((_, rest)) => (rest, false),
        None => (url, true),
    };
    let rest = match rest.split_once('@') {
        Some((user, rest)) if !user.contains('/') => rest,
        _ => rest,
    };
    let (host, path) = if scp { rest.split_once(':')? } else { rest.split_once('/')? };
    let host = host.split(':').next().unwrap_or(host).to_lowercase();
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    if host.is_empty() || path.is_empty() || host.contains('/') {
        return None;
    }
    Some(format!("{host}/{path}"))
}

/// Directory → project id, published by the drainer under `state/projects` so that a hook need not look at `.git` at all.
///
/// Shape on disk: a first line `sinker-projects 1`, then `<id>\t<directory>` a line; a line that is not of this shape is skipped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectMap(BTreeMap<String, String>);

/// An alias stands in the place of a directory; no directory is named so.
fn alias(id: &str) -> String {
    format!("@{id}")
}

const MAP_HEAD: &str = "sinker-projects 1";

impl ProjectMap {
    /// Reads the published map; a missing or foreign one is empty.
    pub fn read(home: &Home) -> Self {
        let Ok(Some(bytes)) = fs::read_small(&home.projects(), 4 * 1024 * 1024) else {
            return Self::default();
        };
        let text = String::from_utf8_lossy(&bytes);
        let mut lines = text.lines();
        if lines.next() != Some(MAP_HEAD) {
            return Self::default();
        }
        let pairs = lines.filter_map(|l| l.split_once('\t'));
        Self(pairs.map(|(id, dir)| (dir.to_owned(), id.to_owned())).collect())
    }

    /// The same with aliases: what is identified so, and the project that it is.
    #[must_use]
    pub fn with_aliases(mut self, aliases: impl IntoIterator<Item = (String, String)>) -> Self {
        self.0.extend(aliases.into_iter().map(|(old, new)| (alias(&old), new)));
        self
    }

    /// Makes it of (directory, id) pairs.
    pub fn from_pairs(pairs: impl IntoIterator<Item = (String, String)>) -> Self {
        let plain = |text: &String| !text.contains(['\n', '\t']);
        Self(pairs.into_iter().filter(|(dir, id)| plain(dir) && plain(id)).collect())
    }

    /// Publishes it. Errors: as `fs::replace`.
    pub fn write(&self, home: &Home) -> Result<(), fs::FsError> {
        let mut text = format!("{MAP_HEAD}\n");
        for (dir, id) in &self.0 {
            text.push_str(&format!("{id}\t{dir}\n"));
        }
        fs::replace(&home.projects(), text.as_bytes(), fs::Sync::No)
    }

    /// The project of a directory: as it was published, else by looking at it, through the aliases.
    pub fn of(&self, directory: &Path, secret: &Secret) -> String {
        if let Some(id) = self.get(directory) {
            return id.to_owned();
        }
        let id = identify(directory, secret).id;
        self.0.get(&alias(&id)).cloned().unwrap_or(id)
    }

    /// Looks a directory up.
    pub fn get(&self, directory: &Path) -> Option<&str> {
        self.0.get(directory.to_str()?).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret() -> Secret {
        Secret::from_bytes([7; 32])
    }

    #[test]
    fn remotes_lose_credentials_and_dress() {
        let cases = [
            ("git@Example.org:team/App.git", Some("example.org/team/App")),
            ("https://user:token@example.org/team/App", Some("example.org/team/App")),
            ("ssh://git@example.org:2222/team/App.git/", Some("example.org/team/App")),
            ("https://example.org/team/App?x=1", Some("example.org/team/App")),
            ("../elsewhere", None),
            ("file:///srv/git/app.git", None),
            ("", None),
        ];
        for (url, expected) in cases {
            assert_eq!(without_credentials(url).as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn worktrees_and_subfolders_share_their_repository() {
        let dir = tempfile::tempdir().unwrap();
        let make = |path: &str| fs::make_private_dir(&dir.path().join(path)).unwrap();
        let put = |path: &str, text: &str| {
            fs::replace(&dir.path().join(path), text.as_bytes(), fs::Sync::No).unwrap();
        };
        make("My App/.git/worktrees/wt");
        make("My App/src/deep");
        make("wt");
        put("wt/.git", &format!("gitdir: {}\n", dir.path().join("My App/.git/worktrees/wt").display()));
        put("My App/.git/worktrees/wt/commondir", "../..\n");
        let main = identify(&dir.path().join("My App"), &secret());
        assert!(main.id.starts_with("my-app-"), "{}", main.id);
        assert_eq!(identify(&dir.path().join("My App/src/deep"), &secret()).id, main.id);
        assert_eq!(identify(&dir.path().join("wt"), &secret()).id, main.id);
        put("My App/.git/config", "[remote \"origin\"]\n\turl = https://a:b@example.org/x/tool.git\n");
        let remote = identify(&dir.path().join("wt"), &secret());
        assert!(remote.id.starts_with("tool-"), "{}", remote.id);
        assert_eq!(remote.remote.as_deref(), Some("example.org/x/tool"));
    }

    #[test]
    fn a_directory_that_is_not_here_is_taken_as_text() {
        let one = identify(Path::new("/nowhere/at/all/Проект"), &secret());
        assert!(one.id.starts_with("project-"), "{}", one.id);
        assert_eq!(one, identify(Path::new("/nowhere/at/all/Проект"), &secret()));
        assert_ne!(one.id, identify(Path::new("/nowhere/at/all/Проект"), &Secret::from_bytes([8; 32])).id);
    }

    #[test]
    fn the_map_reads_back() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        fs::make_private_dir(&home.state()).unwrap();
        let map = ProjectMap::from_pairs([
            ("/a b".to_owned(), "x-1".to_owned()),
            ("/c\n".to_owned(), "y".to_owned()),
        ]);
        map.write(&home).unwrap();
        assert_eq!(ProjectMap::read(&home).get(Path::new("/a b")), Some("x-1"));
        assert_eq!(ProjectMap::read(&home), map);
    }
}
