//! The tables, by version. A released migration is never edited; a change is a new one.
//!
//! Inside, rows are joined by integers (`documents.n`, `sessions.n`, `files.n`); outside, only ids and paths are known.

use super::migrate::Migration;
use super::{branches, migrate};

/// `MIGRATIONS[v]` brings a store of version `v` to `v + 1`; the version is `PRAGMA user_version`.
pub(super) const MIGRATIONS: &[Migration] = &[
    (V1, migrate::nothing),
    (V2, branches::fill),
    (V3, migrate::nothing),
    (V4, migrate::nothing),
    (V5, migrate::nothing),
];

const V1: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES ('seq', 0), ('documents', 0), ('observations', 0), ('turns', 0), ('packs', 0);

CREATE TABLE projects (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, remote TEXT, directory TEXT NOT NULL
) WITHOUT ROWID;
-- Where a project was seen: the map that hooks look into.
CREATE TABLE directories (directory TEXT PRIMARY KEY, project TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE sessions (
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, host TEXT NOT NULL, project TEXT NOT NULL DEFAULT '',
  -- What gave it its project: who said so, when, and the directory. A better claim takes its place, whatever was read first.
  claim INTEGER NOT NULL DEFAULT 0, claim_ms INTEGER NOT NULL DEFAULT 0, claim_directory TEXT NOT NULL DEFAULT '',
  started TEXT, started_ms INTEGER, last TEXT, last_ms INTEGER,
  ended TEXT, reason TEXT, trigger TEXT,
  -- With who gave it (0 a summary, 1 a model, 2 a person) and the place it was read at: the latest one holds.
  title TEXT, title_given INTEGER NOT NULL DEFAULT 0, title_ms INTEGER NOT NULL DEFAULT 0, title_at INTEGER NOT NULL DEFAULT 0,
  -- The earliest, the newest and the newest, each with the time of the record that says so.
  cwd TEXT, cwd_ms INTEGER, branch TEXT, branch_ms INTEGER, version TEXT, version_ms INTEGER
);
-- Titles that name no session but a record: they belong to the sessions that hold it, whenever it is read.
CREATE TABLE summaries (leaf BLOB NOT NULL, title TEXT NOT NULL, PRIMARY KEY (leaf, title)) WITHOUT ROWID;

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
-- Records that nobody said, by size and hash; and lines too long to be held, beside what is kept of them.
CREATE TABLE silent (
  file INTEGER NOT NULL, at INTEGER NOT NULL, kind TEXT NOT NULL, bytes INTEGER NOT NULL, sha256 TEXT NOT NULL,
  PRIMARY KEY (file, at)
) WITHOUT ROWID;

-- Bodies of observations, many in one frame: see `packs`.
CREATE TABLE packs (n INTEGER PRIMARY KEY, body BLOB NOT NULL);

-- Subagents; 0 is the main line.
CREATE TABLE agents (n INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
INSERT INTO agents VALUES (0, '');

-- Ids, kinds, speakers and times in their short forms: see `compact`.
CREATE TABLE documents (
  n INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, seq INTEGER NOT NULL, revision INTEGER NOT NULL DEFAULT 1,
  kind INTEGER NOT NULL, session INTEGER NOT NULL, agent INTEGER NOT NULL DEFAULT 0, speaker INTEGER NOT NULL DEFAULT 0,
  time TEXT, time_ms INTEGER, record BLOB, is_prompt INTEGER NOT NULL DEFAULT 0, scored INTEGER NOT NULL DEFAULT 1,
  command TEXT, status TEXT,
  -- Observations: where the current revision was read. Derived documents: their place in the session, milliseconds.
  at INTEGER NOT NULL DEFAULT 0,
  content INTEGER NOT NULL, bytes INTEGER NOT NULL,
  -- The body of an observation lies in a pack; that of a derived document, which changes often, here.
  pack INTEGER, start INTEGER, length INTEGER, codec INTEGER, body BLOB
);
-- The whole of results of which the transcript holds the beginning: see `outputs`.
CREATE TABLE outputs (
  document INTEGER NOT NULL, call TEXT NOT NULL, bytes INTEGER NOT NULL, sha256 TEXT NOT NULL,
  pack INTEGER NOT NULL, start INTEGER NOT NULL, length INTEGER NOT NULL, PRIMARY KEY (document, call)
) WITHOUT ROWID;
CREATE UNIQUE INDEX documents_seq ON documents (seq);
-- A person or a record names another by its uuid. Its first bytes are enough to find the few that it can be.
CREATE INDEX documents_record ON documents (substr(record, 1, 5)) WHERE record IS NOT NULL;
CREATE INDEX documents_outcomes ON documents (time_ms) WHERE kind = 1;
CREATE TABLE removed (seq INTEGER PRIMARY KEY, id BLOB NOT NULL);
CREATE TABLE revisions (
  document INTEGER NOT NULL, content INTEGER NOT NULL, at INTEGER NOT NULL, bytes INTEGER NOT NULL,
  pack INTEGER NOT NULL, start INTEGER NOT NULL, length INTEGER NOT NULL, PRIMARY KEY (document, content)
) WITHOUT ROWID;

-- Which sessions hold an observation, and where in their order: a fork is a second link, not a second row.
CREATE TABLE links (
  session INTEGER NOT NULL, agent INTEGER NOT NULL, at_ms INTEGER NOT NULL, at INTEGER NOT NULL, document INTEGER NOT NULL,
  is_prompt INTEGER NOT NULL, PRIMARY KEY (session, agent, at_ms, at, document)
) WITHOUT ROWID;
CREATE UNIQUE INDEX links_document ON links (document, session);
CREATE INDEX links_prompts ON links (session, at_ms, at) WHERE is_prompt = 1 AND agent = 0;

-- What derived documents rest on.
CREATE TABLE evidence (
  document INTEGER NOT NULL, observation INTEGER NOT NULL, PRIMARY KEY (document, observation)
) WITHOUT ROWID;
-- Which sessions hold a derived document; for observations, links say it.
CREATE TABLE document_sessions (
  document INTEGER NOT NULL, session INTEGER NOT NULL, PRIMARY KEY (document, session)
) WITHOUT ROWID;
CREATE INDEX document_sessions_session ON document_sessions (session);
CREATE TABLE paths (n INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);
CREATE TABLE touches (
  document INTEGER NOT NULL, path INTEGER NOT NULL, action TEXT NOT NULL, PRIMARY KEY (document, path, action)
) WITHOUT ROWID;
CREATE INDEX touches_path ON touches (path);
-- Calls to the web, and the results of all calls: either may be read before the other. A call is known by a hash of its id.
CREATE TABLE web_calls (session INTEGER NOT NULL, call INTEGER NOT NULL, PRIMARY KEY (session, call)) WITHOUT ROWID;
CREATE TABLE results (
  session INTEGER NOT NULL, call INTEGER NOT NULL, document INTEGER NOT NULL, PRIMARY KEY (session, call)
) WITHOUT ROWID;
CREATE TABLE boundaries (
  session INTEGER NOT NULL, id TEXT NOT NULL, at_ms INTEGER NOT NULL, at INTEGER NOT NULL, time TEXT,
  PRIMARY KEY (session, id)
) WITHOUT ROWID;

-- Derived documents that are behind their observations; empty when all is done.
CREATE TABLE dirty (
  session INTEGER NOT NULL, part TEXT NOT NULL, item TEXT NOT NULL, PRIMARY KEY (session, part, item)
) WITHOUT ROWID;
-- Distinct terms of a session; one that is not there is made anew from the observations.
CREATE TABLE profiles (session INTEGER PRIMARY KEY, terms BLOB NOT NULL);
";

const V2: &str = "
-- The record that a prompt of the main line follows in a session, as a hash: see `branches`, which also fills it for older rows.
CREATE TABLE follows (
  session INTEGER NOT NULL, document INTEGER NOT NULL, parent INTEGER NOT NULL, PRIMARY KEY (session, document)
) WITHOUT ROWID;
-- Stretches of a session that a person took back.
CREATE TABLE rewound (
  session INTEGER NOT NULL, from_ms INTEGER NOT NULL, from_at INTEGER NOT NULL, to_ms INTEGER NOT NULL, to_at INTEGER NOT NULL,
  PRIMARY KEY (session, from_ms, from_at)
) WITHOUT ROWID;
";

const V3: &str = "
-- How much of the forget ledger the store obeys, bytes; by which rules the rows were redacted, 0 when by older ones; how many documents
-- `retain` took away.
INSERT INTO meta VALUES ('ledger', 0), ('rules', 0), ('retained', 0);
-- What `retain` leaves alone.
CREATE TABLE pinned (document INTEGER PRIMARY KEY);
-- Notes of a project; and the newest of all.
CREATE INDEX documents_notes ON documents (session, time_ms) WHERE kind = 6;
";

const V4: &str = "
-- What user and assistant stated: see `derive::claims`, also for what refutes a claim and is none. By `term` those are found that share some:
-- two, or one where one of both has no more than `needs`. `around` are the words of its turn, hashed, 4 bytes each.
CREATE TABLE claims (
  n INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, turn BLOB NOT NULL, observation INTEGER NOT NULL, session INTEGER NOT NULL,
  project TEXT NOT NULL, time_ms INTEGER NOT NULL, key TEXT NOT NULL, around BLOB NOT NULL, needs INTEGER NOT NULL, stated TEXT NOT NULL
);
CREATE INDEX claims_turn ON claims (turn);
CREATE INDEX claims_observation ON claims (observation);
CREATE INDEX claims_session ON claims (session);
CREATE TABLE claim_terms (term INTEGER NOT NULL, claim INTEGER NOT NULL, PRIMARY KEY (term, claim)) WITHOUT ROWID;
CREATE TABLE claim_relations (
  earlier INTEGER NOT NULL, later INTEGER NOT NULL, how INTEGER NOT NULL, PRIMARY KEY (earlier, later)
) WITHOUT ROWID;
CREATE INDEX claim_relations_later ON claim_relations (later);
-- Turns that were stored before there were claims.
INSERT OR IGNORE INTO dirty (session, part, item)
  SELECT session, 'turn', CAST(document AS TEXT) FROM links WHERE is_prompt = 1 AND agent = 0
  UNION SELECT DISTINCT session, 'turn', '0' FROM links;
";

const V5: &str = "
-- What was run in a turn, and how it ended (`derive::failures`): `key` is a hash of what was run, `error` one of what went wrong, `stated` the rest
-- of a run that did not work.
CREATE TABLE runs (
  turn BLOB NOT NULL, n INTEGER NOT NULL, key INTEGER NOT NULL, end INTEGER NOT NULL, time_ms INTEGER NOT NULL, session INTEGER NOT NULL,
  observation INTEGER NOT NULL, error INTEGER, stated TEXT, PRIMARY KEY (turn, n)
) WITHOUT ROWID;
CREATE INDEX runs_key ON runs (key, end, time_ms);
-- Documents that rest on the rows of a key.
CREATE TABLE keyed (kind TEXT NOT NULL, key INTEGER NOT NULL, id BLOB NOT NULL, PRIMARY KEY (kind, key, id)) WITHOUT ROWID;
-- A file is read within a turn whose prompt is wholly private. Of which prompts and subagents of a session nothing is stored, as hashes.
ALTER TABLE files ADD COLUMN private INTEGER NOT NULL DEFAULT 0;
-- Projects that are another one: what a session is identified as stays beside what it belongs to. `mark` names the checkout of a directory.
CREATE TABLE aliases (old TEXT PRIMARY KEY, new TEXT NOT NULL) WITHOUT ROWID;
ALTER TABLE sessions ADD COLUMN own_project TEXT NOT NULL DEFAULT '';
ALTER TABLE directories ADD COLUMN mark TEXT NOT NULL DEFAULT '';
CREATE TABLE private (session INTEGER NOT NULL, what INTEGER NOT NULL, PRIMARY KEY (session, what)) WITHOUT ROWID;
-- Turns and runs that were stored before.
INSERT OR IGNORE INTO dirty (session, part, item)
  SELECT session, 'turn', CAST(document AS TEXT) FROM links WHERE is_prompt = 1 AND agent = 0
  UNION SELECT DISTINCT session, 'turn', '0' FROM links
  UNION SELECT DISTINCT session, 'agent', CAST(agent AS TEXT) FROM links WHERE agent <> 0;
";
