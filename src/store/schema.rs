//! The tables, by version. A released migration is never edited; a change is a new one.
//!
//! Inside, rows are joined by integers (`documents.n`, `sessions.n`, `files.n`); outside, only ids and paths are known.

/// `MIGRATIONS[v]` brings a store of version `v` to `v + 1`; the version is `PRAGMA user_version`.
pub(super) const MIGRATIONS: &[&str] = &[V1];

const V1: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES ('seq', 0), ('documents', 0), ('observations', 0), ('turns', 0);

CREATE TABLE projects (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, remote TEXT, directory TEXT NOT NULL
) WITHOUT ROWID;
-- Where a project was seen: the map that hooks look into.
CREATE TABLE directories (directory TEXT PRIMARY KEY, project TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE sessions (
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, host TEXT NOT NULL, project TEXT NOT NULL DEFAULT '',
  started TEXT, started_ms INTEGER, last TEXT, last_ms INTEGER,
  ended TEXT, reason TEXT, trigger TEXT,
  -- With the place it was read at: the latest one holds.
  title TEXT, title_given INTEGER NOT NULL DEFAULT 0, title_ms INTEGER NOT NULL DEFAULT 0, title_at INTEGER NOT NULL DEFAULT 0,
  cwd TEXT, branch TEXT, version TEXT
);

CREATE TABLE files (
  n INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE,
  offset INTEGER NOT NULL DEFAULT 0,
  head_len INTEGER NOT NULL DEFAULT 0, head_hash TEXT NOT NULL DEFAULT '',
  tail_len INTEGER NOT NULL DEFAULT 0, tail_hash TEXT NOT NULL DEFAULT '',
  -- The latest record time before the offset: order never runs backwards inside a file.
  clock_ms INTEGER NOT NULL DEFAULT 0,
  -- Size when read last, and how much of it is stored: the offset, or the end of a last line without a newline.
  size INTEGER NOT NULL DEFAULT 0, settled INTEGER NOT NULL DEFAULT 0, gone INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE file_sessions (
  file INTEGER NOT NULL, session INTEGER NOT NULL, PRIMARY KEY (file, session)
) WITHOUT ROWID;
CREATE INDEX file_sessions_session ON file_sessions (session);
-- What the lines of a file were, so that an account of it adds up.
CREATE TABLE line_counts (
  file INTEGER NOT NULL, class TEXT NOT NULL, kind TEXT NOT NULL, lines INTEGER NOT NULL,
  PRIMARY KEY (file, class, kind)
) WITHOUT ROWID;
CREATE TABLE line_totals (
  class TEXT NOT NULL, kind TEXT NOT NULL, lines INTEGER NOT NULL, PRIMARY KEY (class, kind)
) WITHOUT ROWID;
-- Records that nobody said: size and hash only.
CREATE TABLE silent (
  file INTEGER NOT NULL, at INTEGER NOT NULL, kind TEXT NOT NULL, bytes INTEGER NOT NULL, sha256 TEXT NOT NULL,
  PRIMARY KEY (file, at)
) WITHOUT ROWID;

CREATE TABLE documents (
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, seq INTEGER NOT NULL, revision INTEGER NOT NULL DEFAULT 1,
  kind TEXT NOT NULL, host TEXT NOT NULL, session INTEGER NOT NULL, agent TEXT NOT NULL DEFAULT '',
  speaker TEXT NOT NULL DEFAULT '', time TEXT, time_ms INTEGER,
  record TEXT, parent TEXT, message TEXT, prompt TEXT,
  is_prompt INTEGER NOT NULL DEFAULT 0, scored INTEGER NOT NULL DEFAULT 1,
  command TEXT, args TEXT, status TEXT,
  -- Observations: where the current revision was read. Derived documents: their place in the session, milliseconds.
  at INTEGER NOT NULL DEFAULT 0,
  content TEXT NOT NULL, bytes INTEGER NOT NULL, codec INTEGER NOT NULL, body BLOB NOT NULL
);
CREATE UNIQUE INDEX documents_seq ON documents (seq);
CREATE INDEX documents_session ON documents (session, kind);
CREATE TABLE removed (seq INTEGER PRIMARY KEY, id TEXT NOT NULL);
CREATE TABLE revisions (
  document INTEGER NOT NULL, content TEXT NOT NULL, at INTEGER NOT NULL,
  bytes INTEGER NOT NULL, codec INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (document, content)
);

-- Which sessions hold an observation, and where in their order: a fork is a second link, not a second row.
CREATE TABLE links (
  n INTEGER PRIMARY KEY, session INTEGER NOT NULL, document INTEGER NOT NULL,
  agent TEXT NOT NULL, is_prompt INTEGER NOT NULL, at_ms INTEGER NOT NULL, at INTEGER NOT NULL
);
CREATE UNIQUE INDEX links_once ON links (session, document);
CREATE INDEX links_order ON links (session, agent, at_ms, at);
CREATE INDEX links_document ON links (document);
CREATE INDEX links_prompts ON links (session, at_ms, at) WHERE is_prompt = 1 AND agent = '';

-- What derived documents rest on.
CREATE TABLE evidence (
  document INTEGER NOT NULL, observation INTEGER NOT NULL, PRIMARY KEY (document, observation)
) WITHOUT ROWID;
-- Which sessions hold a derived document; for observations, links say it.
CREATE TABLE document_sessions (
  document INTEGER NOT NULL, session INTEGER NOT NULL, PRIMARY KEY (document, session)
) WITHOUT ROWID;
CREATE INDEX document_sessions_session ON document_sessions (session);
CREATE TABLE tools (
  session INTEGER NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (session, id)
) WITHOUT ROWID;
CREATE TABLE touches (
  document INTEGER NOT NULL, path TEXT NOT NULL, action TEXT NOT NULL, PRIMARY KEY (document, path, action)
) WITHOUT ROWID;
CREATE INDEX touches_path ON touches (path);
CREATE TABLE commands (
  session INTEGER NOT NULL, tool_use TEXT NOT NULL, document INTEGER NOT NULL, command TEXT NOT NULL,
  PRIMARY KEY (session, tool_use)
) WITHOUT ROWID;
-- What came of each tool call: its result may be read before the call.
CREATE TABLE results (
  session INTEGER NOT NULL, tool_use TEXT NOT NULL, document INTEGER NOT NULL,
  exit INTEGER, failed INTEGER NOT NULL, interrupted INTEGER NOT NULL, PRIMARY KEY (session, tool_use)
) WITHOUT ROWID;
CREATE TABLE boundaries (
  session INTEGER NOT NULL, id TEXT NOT NULL, at_ms INTEGER NOT NULL, at INTEGER NOT NULL, time TEXT,
  PRIMARY KEY (session, id)
) WITHOUT ROWID;

-- Derived documents that are behind their observations; empty when all is done.
CREATE TABLE dirty (
  session INTEGER NOT NULL, part TEXT NOT NULL, item TEXT NOT NULL, PRIMARY KEY (session, part, item)
) WITHOUT ROWID;
-- Distinct terms of a session, and the newest link counted in.
CREATE TABLE profiles (session INTEGER PRIMARY KEY, upto INTEGER NOT NULL, terms BLOB NOT NULL);
";
