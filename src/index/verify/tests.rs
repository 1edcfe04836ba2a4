use super::*;
use crate::fs;
use crate::index::{Document, Writer};

fn published(home: &Home, n: u64) {
    let mut writer = Writer::open(home).unwrap().writer;
    for n in 0..n {
        let id = format!("o-{n}");
        writer.upsert(&Document { id, prose: format!("word{n} again"), ..Document::default() }).unwrap();
    }
    writer.commit(1).unwrap();
    // A second commit that replaces one gives the first segment a list of deletions.
    writer.upsert(&Document { id: "o-0".into(), prose: "other".into(), ..Document::default() }).unwrap();
    writer.commit(2).unwrap();
    writer.close().unwrap();
}

fn ids(range: std::ops::Range<u64>) -> impl Iterator<Item = String> {
    range.map(|n| format!("o-{n}"))
}

fn put(path: &std::path::Path, bytes: &[u8]) {
    fs::replace(path, bytes, fs::Sync::No).unwrap();
}

#[test]
fn ids_are_counted_both_ways() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path());
    let none = verify(&home, &mut ids(0..2)).unwrap();
    assert_eq!((none.ok, none.missing), (false, 2));
    published(&home, 5);
    assert_eq!(verify(&home, &mut ids(0..5)).unwrap(), Report { ok: true, ..Report::default() });
    let other = verify(&home, &mut ids(2..7)).unwrap();
    assert_eq!((other.ok, other.missing, other.extra), (false, 2, 2));
}

#[test]
fn a_flipped_byte_and_a_missing_file_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path());
    published(&home, 5);
    let generation = home.index().join("g000001");
    let mut paths: Vec<_> = std::fs::read_dir(&generation).unwrap().map(|e| e.unwrap().path()).collect();
    paths.retain(|p| !p.file_name().unwrap().to_str().unwrap().starts_with(['.', 'm']));
    assert!(paths.len() >= 12, "{paths:?}");
    for path in paths {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let good = std::fs::read(&path).unwrap();
        let mut bad = good.clone();
        bad[0] ^= 1;
        put(&path, bad.as_ref());
        let report = verify(&home, &mut ids(0..5)).unwrap();
        assert_eq!(report.bad_files, [name.as_str()]);
        assert!(!report.ok);
        fs::remove(&path).unwrap();
        assert_eq!(verify(&home, &mut ids(0..5)).unwrap().bad_files, [name.as_str()]);
        put(&path, good.as_ref());
    }
    put(&generation.join("meta.json"), "x".as_ref());
    assert_eq!(verify(&home, &mut ids(0..5)).unwrap().bad_files, ["meta.json"]);
}
