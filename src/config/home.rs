//! The data directory and the names inside it (design: files on disk).

use std::path::{Path, PathBuf};

/// The data directory, `$SINKER_HOME`; every path below it has one name, here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    /// Takes a directory as it is; it need not exist yet.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Finds it: `$SINKER_HOME`, else the platform's data directory. `None` without `$SINKER_HOME` and `$HOME`.
    pub fn find() -> Option<Self> {
        if let Some(root) = set("SINKER_HOME") {
            // A relative one would mean another place for each working directory.
            return std::path::absolute(root).ok().map(Self::at);
        }
        let home = PathBuf::from(set("HOME")?);
        if cfg!(target_os = "macos") {
            return Some(Self::at(home.join("Library/Application Support/sinker")));
        }
        let data = set("XDG_DATA_HOME").map(PathBuf::from).filter(|p| p.is_absolute());
        Some(Self::at(data.unwrap_or_else(|| home.join(".local/share")).join("sinker")))
    }

    /// The directory itself.
    pub fn root(&self) -> &Path {
        &self.root
    }
    /// `spool/tmp`: half-written entries, never read.
    pub fn spool_tmp(&self) -> PathBuf {
        self.root.join("spool/tmp")
    }
    /// `spool/new`: published entries.
    pub fn spool_new(&self) -> PathBuf {
        self.root.join("spool/new")
    }
    /// `spool/cur`: entries claimed by the drainer.
    pub fn spool_cur(&self) -> PathBuf {
        self.root.join("spool/cur")
    }
    /// `spool/odd`: what could not be used, with its reason.
    pub fn spool_odd(&self) -> PathBuf {
        self.root.join("spool/odd")
    }
    /// `store.db`: the truth.
    pub fn store(&self) -> PathBuf {
        self.root.join("store.db")
    }
    /// `index`: generations and `current`.
    pub fn index(&self) -> PathBuf {
        self.root.join("index")
    }
    /// `state`: heartbeat, status, project map, what sessions were shown.
    pub fn state(&self) -> PathBuf {
        self.root.join("state")
    }
    /// `state/heartbeat`: touched by the drainer after work done.
    pub fn heartbeat(&self) -> PathBuf {
        self.root.join("state/heartbeat")
    }
    /// `state/status`: the drainer's figures, small enough to be read in any command.
    pub fn status(&self) -> PathBuf {
        self.root.join("state/status")
    }
    /// `state/starting`: made by the hook that starts a drainer.
    pub fn starting(&self) -> PathBuf {
        self.root.join("state/starting")
    }
    /// `state/reading`: the transcript that the drainer reads just now.
    pub fn reading(&self) -> PathBuf {
        self.root.join("state/reading")
    }
    /// `state/suspects`: transcripts over which a drainer died.
    pub fn suspects(&self) -> PathBuf {
        self.root.join("state/suspects")
    }
    /// `state/projects`: directory → project id.
    pub fn projects(&self) -> PathBuf {
        self.root.join("state/projects")
    }
    /// `state/shown`: a file a session, with what it was shown.
    pub fn shown(&self) -> PathBuf {
        self.root.join("state/shown")
    }
    /// `state/gate`: which whole reads were denied; hashes and numbers.
    pub fn gate(&self) -> PathBuf {
        self.root.join("state/gate")
    }
    /// `state/launches`: what waits for the subagents that a session launches; ids and numbers.
    pub fn launches(&self) -> PathBuf {
        self.root.join("state/launches")
    }
    /// `state/notice`: when the user was told last that something is wrong, and what.
    pub fn notice(&self) -> PathBuf {
        self.root.join("state/notice")
    }
    /// `state/successor`: a newer version is installed beside the drainer's; it leaves.
    pub fn successor(&self) -> PathBuf {
        self.root.join("state/successor")
    }
    /// `state/retained`: touched when retention ran last.
    pub fn retained(&self) -> PathBuf {
        self.root.join("state/retained")
    }
    /// `state/residue`: something was forgotten whose bytes may still lie in freed pages of the store or in segments of the index.
    pub fn residue(&self) -> PathBuf {
        self.root.join("state/residue")
    }
    /// `state/rescan`: all that is stored is being redacted anew; whoever finds it goes on with that.
    pub fn rescan(&self) -> PathBuf {
        self.root.join("state/rescan")
    }
    /// `state/replies`: the drainer's answers to `_cmd` entries.
    pub fn replies(&self) -> PathBuf {
        self.root.join("state/replies")
    }
    /// `state/suspect-store`: somebody met damage in the store; the drainer looks, and removes it.
    pub fn suspect_store(&self) -> PathBuf {
        self.root.join("state/suspect-store")
    }
    /// `state/suspect-index`: the same for the index.
    pub fn suspect_index(&self) -> PathBuf {
        self.root.join("state/suspect-index")
    }
    /// `state/repair`: a damaged store was moved aside and is being rebuilt; numbers only.
    pub fn repair(&self) -> PathBuf {
        self.root.join("state/repair")
    }
    /// `secret`: 32 random bytes in hex.
    pub fn secret(&self) -> PathBuf {
        self.root.join("secret")
    }
    /// `forgotten`: hashes of what was forgotten; see `ledger`.
    pub fn forgotten(&self) -> PathBuf {
        self.root.join("forgotten")
    }
    /// `log`: log files.
    pub fn log(&self) -> PathBuf {
        self.root.join("log")
    }
    /// `install`: what installs did to settings, and the bytes from before; those are the user's and may hold tokens, so not in `state`.
    pub fn install(&self) -> PathBuf {
        self.root.join("install")
    }
    /// `drain.lock`: held by the one drainer.
    pub fn lock(&self) -> PathBuf {
        self.root.join("drain.lock")
    }
}

/// Reads an environment variable; unset and empty are the same. Not UTF-8 is fine.
fn set(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name).filter(|v| !v.is_empty())
}

/// The user's config file: `$SINKER_CONFIG`, else `$XDG_CONFIG_HOME/sinker/config.toml`, else `~/.config/sinker/config.toml`.
pub fn user_config() -> Option<PathBuf> {
    if let Some(path) = set("SINKER_CONFIG") {
        return std::path::absolute(path).ok();
    }
    let base = set("XDG_CONFIG_HOME").map(PathBuf::from).filter(|p| p.is_absolute());
    let base = base.or_else(|| set("HOME").map(|h| PathBuf::from(h).join(".config")))?;
    Some(base.join("sinker/config.toml"))
}

/// The host's folder, where its settings lie: `$CLAUDE_CONFIG_DIR`, else `~/.claude`.
pub fn host_folder() -> Option<PathBuf> {
    let base = set("CLAUDE_CONFIG_DIR").and_then(|dir| std::path::absolute(dir).ok());
    base.or_else(|| set("HOME").map(|h| PathBuf::from(h).join(".claude")))
}

/// The file in which the host keeps its MCP servers and its projects: `.claude.json` in `$CLAUDE_CONFIG_DIR`, else in the home.
pub fn host_state() -> Option<PathBuf> {
    let base = set("CLAUDE_CONFIG_DIR").and_then(|dir| std::path::absolute(dir).ok());
    base.or_else(|| set("HOME").map(PathBuf::from)).map(|dir| dir.join(".claude.json"))
}

/// The host's transcript root: `projects` in its folder.
pub fn host_root() -> Option<PathBuf> {
    host_folder().map(|folder| folder.join("projects"))
}
