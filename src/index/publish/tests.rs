use super::*;
use crate::index::Reader;
use std::os::unix::fs::PermissionsExt;
use tantivy::Term;
use tantivy::collector::{Count, TopDocs};
use tantivy::query::TermQuery;
use tantivy::schema::{Field, IndexRecordOption};

pub(crate) fn home() -> (tempfile::TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path().join("data"));
    (dir, home)
}

pub(crate) fn document(n: u64, prose: &str) -> Document {
    Document {
        id: format!("o-{n}"),
        kind: "observation".into(),
        sessions: vec!["s1".into(), "s2".into()],
        project: "app-0123456789".into(),
        host: "claude".into(),
        speaker: "user".into(),
        time_ms: 1_700_000_000_000 + i64::try_from(n).unwrap(),
        record: format!("uuid-{n}"),
        prose: prose.into(),
        files: vec!["src/a.rs".into()],
        ..Document::default()
    }
}

fn count(reader: &Reader, field: impl Fn(&Fields) -> Field, term: &str) -> usize {
    let term = Term::from_field_text(field(reader.fields()), term);
    reader.searcher().search(&TermQuery::new(term, IndexRecordOption::Basic), &Count).unwrap()
}

fn published(home: &Home, prose: &[&str], seq: u64) -> Writer {
    let mut writer = Writer::open(home).unwrap().writer;
    for (n, text) in prose.iter().enumerate() {
        writer.upsert(&document(n as u64, text)).unwrap();
    }
    writer.commit(seq).unwrap();
    writer
}

fn put(path: &std::path::Path, bytes: &[u8]) {
    fs::replace(path, bytes, fs::Sync::No).unwrap();
}

#[test]
fn a_document_comes_back_as_it_was_written() {
    let (_dir, home) = home();
    assert!(Reader::open(&home).unwrap().is_none());
    let opened = Writer::open(&home).unwrap();
    assert!(opened.fresh && opened.seq == 0);
    let mut writer = opened.writer;
    let mut written = document(7, "Use port 8443 for the staging proxy.");
    written.tool = "ls".into();
    written.header = "{}".into();
    writer.upsert(&written).unwrap();
    assert!(Reader::open(&home).unwrap().is_none(), "nothing is published before a commit");
    writer.commit(42).unwrap();
    assert_eq!(writer.documents(), 1);
    let reader = Reader::open(&home).unwrap().unwrap();
    assert_eq!((reader.seq(), reader.documents()), (42, 1));
    let term = Term::from_field_text(reader.fields().prose, "8443");
    let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
    let hits = reader.searcher().search(&query, &TopDocs::with_limit(5).order_by_score()).unwrap();
    assert_eq!(reader.stored(hits[0].1).unwrap(), written);
    writer.close().unwrap();
    let again = Writer::open(&home).unwrap();
    assert_eq!((again.seq, again.fresh, again.writer.documents()), (42, false, 1));
}

#[test]
fn upsert_replaces_and_remove_removes() {
    let (_dir, home) = home();
    let mut writer = published(&home, &["alpha", "beta"], 1);
    writer.upsert(&document(0, "gamma")).unwrap();
    writer.upsert(&document(0, "delta")).unwrap();
    writer.remove("o-1").unwrap();
    writer.remove("o-99").unwrap();
    writer.commit(2).unwrap();
    assert_eq!(writer.documents(), 1);
    let reader = Reader::open(&home).unwrap().unwrap();
    for (word, expected) in [("alpha", 0), ("beta", 0), ("gamma", 0), ("delta", 1)] {
        assert_eq!(count(&reader, |f| f.prose, word), expected, "{word}");
    }
}

#[test]
fn what_was_not_committed_is_not_there_and_the_payload_tells() {
    let (_dir, home) = home();
    let mut writer = published(&home, &["alpha"], 5);
    writer.upsert(&document(1, "beta")).unwrap();
    drop(writer);
    let opened = Writer::open(&home).unwrap();
    assert_eq!((opened.seq, opened.writer.documents()), (5, 1));
}

#[test]
fn a_damaged_meta_file_begins_a_generation_while_the_old_name_stays() {
    let (_dir, home) = home();
    drop(published(&home, &["alpha"], 5));
    let current = home.index().join("current");
    let old = std::fs::read(&current).unwrap();
    put(&home.index().join("g000001/meta.json"), "{".as_ref());
    let opened = Writer::open(&home).unwrap();
    assert!(opened.fresh);
    assert_eq!(std::fs::read(&current).unwrap(), old);
    let mut writer = opened.writer;
    writer.upsert(&document(0, "alpha")).unwrap();
    writer.commit(6).unwrap();
    assert_eq!(std::fs::read_to_string(&current).unwrap(), "g000002\n");
    assert!(!home.index().join("g000001").exists());
    assert_eq!(Reader::open(&home).unwrap().unwrap().seq(), 6);
}

#[test]
fn a_missing_segment_file_begins_a_generation() {
    let (_dir, home) = home();
    drop(published(&home, &["alpha"], 5));
    let dir = home.index().join("g000001");
    let store = std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().path());
    let store = store.into_iter().find(|p| p.extension().is_some_and(|e| e == "store")).unwrap();
    fs::remove(&store).unwrap();
    assert!(Reader::open(&home).is_err());
    assert!(Writer::open(&home).unwrap().fresh);
}

#[test]
fn a_newer_format_is_refused_and_left_as_it_is() {
    let (_dir, home) = home();
    drop(published(&home, &["alpha"], 5));
    let meta = home.index().join("g000001/meta.json");
    let newer = std::fs::read_to_string(&meta).unwrap().replace("\\\"format\\\":2", "\\\"format\\\":3");
    put(&meta, newer.as_ref());
    assert!(matches!(Writer::open(&home), Err(IndexError::Newer { found: 3, known: 2, .. })));
    assert!(matches!(Reader::open(&home), Err(IndexError::Newer { .. })));
    assert_eq!(std::fs::read_to_string(&meta).unwrap(), newer);
}

#[test]
fn discard_answers_from_the_old_generation_until_the_next_commit() {
    let (_dir, home) = home();
    let writer = published(&home, &["alpha"], 5);
    let mut writer = writer.discard(&home).unwrap();
    assert_eq!(Reader::open(&home).unwrap().unwrap().seq(), 5);
    writer.commit(1).unwrap();
    let reader = Reader::open(&home).unwrap().unwrap();
    assert_eq!((reader.seq(), reader.documents()), (1, 0));
}

#[test]
fn a_reader_keeps_its_state_while_the_writer_commits_merges_and_replaces() {
    let (_dir, home) = home();
    let mut writer = published(&home, &["alpha"], 1);
    let before = Reader::open(&home).unwrap().unwrap();
    for n in 1..30 {
        writer.upsert(&document(n, "alpha beta")).unwrap();
        writer.commit(1 + n).unwrap();
        let now = Reader::open(&home).unwrap().unwrap();
        assert_eq!(count(&now, |f| f.prose, "alpha"), usize::try_from(n).unwrap() + 1);
    }
    writer.settle().unwrap();
    let segments = Reader::open(&home).unwrap().unwrap().searcher().segment_readers().len();
    assert!(segments <= SETTLED_SEGMENTS, "{segments} segments");
    let mut writer = writer.discard(&home).unwrap();
    writer.commit(99).unwrap();
    assert_eq!(count(&before, |f| f.prose, "alpha"), 1);
    assert_eq!(before.stored(tantivy::DocAddress::new(0, 0)).unwrap().prose, "alpha");
}

#[test]
fn files_are_private_and_a_reader_makes_none() {
    let (_dir, home) = home();
    drop(published(&home, &["alpha"], 1));
    let dir = home.index().join("g000001");
    let list = || {
        let mut names: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().path()).collect();
        names.sort();
        names
    };
    for path in list() {
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{path:?}");
    }
    assert_eq!(std::fs::metadata(&dir).unwrap().permissions().mode() & 0o777, 0o700);
    let before = list();
    std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o500)).unwrap();
    let reader = Reader::open(&home).unwrap().unwrap();
    assert_eq!(count(&reader, |f| f.prose, "alpha"), 1);
    std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(list(), before);
}

#[test]
fn words_of_all_kinds_are_found() {
    let (_dir, home) = home();
    let texts = ["fn parse_retry_after(h: &HeaderMap)", "データベースを再起動", "Der Größenwahn im Café"];
    drop(published(&home, &texts, 1));
    let reader = Reader::open(&home).unwrap().unwrap();
    for word in ["parse_retry_after", "retri", "headermap", "header", "タベ", "再起", "grossenwahn", "cafe"]
    {
        assert_eq!(count(&reader, |f| f.prose, word), 1, "{word}");
    }
    assert_eq!(count(&reader, |f| f.files, "a.rs"), 3);
}

/// A document is put in the place of the one with its id, whether that was added just now, committed, or left by a writer before.
#[test]
fn a_document_is_there_once_however_often_it_comes() {
    let (_dir, home) = home();
    let mut writer = Writer::open(&home).unwrap().writer;
    let held = |writer: &mut Writer, seq: u64, words: &str| {
        writer.commit(seq).unwrap();
        let reader = Reader::open(&home).unwrap().unwrap();
        assert_eq!(reader.documents(), 2, "{words}");
        assert_eq!(count(&reader, |f| f.prose, words), 1, "{words}");
    };
    writer.upsert(&document(1, "anchor")).unwrap();
    writer.upsert(&document(2, "chain")).unwrap();
    writer.upsert(&document(1, "mooring")).unwrap();
    held(&mut writer, 3, "moor");
    writer.upsert(&document(2, "rope")).unwrap();
    held(&mut writer, 4, "rope");
    writer.close().unwrap();
    let mut writer = Writer::open(&home).unwrap().writer;
    writer.upsert(&document(1, "buoy")).unwrap();
    held(&mut writer, 5, "buoy");
    writer.remove("o-2").unwrap();
    writer.upsert(&document(2, "pier")).unwrap();
    held(&mut writer, 6, "pier");
}

/// Threads may share a reader: the server's, and the fuzz target's, do.
#[test]
fn a_reader_can_be_shared() {
    fn shared<T: Send + Sync>() {}
    shared::<Reader>();
}

/// A file that lost its place on Tantivy's list gets it back when the writer ends.
#[test]
fn the_list_of_files_is_whole_when_the_writer_ends() {
    let (_dir, home) = home();
    let writer = published(&home, &["one", "two"], 2);
    let path = writer.path.clone();
    let before = file_list(&path).unwrap();
    let lost = before.iter().find(|file| file.extension().is_some_and(|e| e != "json")).unwrap().clone();
    let left: Vec<_> = before.iter().filter(|file| **file != lost).collect();
    put(&path.join(".managed.json"), &serde_json::to_vec(&left).unwrap());
    assert_eq!(crate::index::damaged_files(&home).unwrap(), [".managed.json"]);
    writer.close().unwrap();
    assert_eq!(crate::index::damaged_files(&home).unwrap(), Vec::<String>::new());
    assert!(file_list(&path).unwrap().contains(&lost));
}
