//! Every byte of a data directory, as it lies on disk and as whoever reads it would see it.

use super::Sandbox;
use rusqlite::types::ValueRef;
use std::path::{Path, PathBuf};

/// The places in a data directory where a text is found, raw or decoded, whatever its case.
pub fn places_of(sandbox: &Sandbox, text: &str) -> Vec<String> {
    let needle = text.to_lowercase().into_bytes();
    let mut found = Vec::new();
    each(sandbox.home(), &mut |place, bytes| {
        let lower = bytes.to_ascii_lowercase();
        if memchr::memmem::find(&lower, &needle).is_some() {
            found.push(place.to_owned());
        }
    });
    found
}

/// Hands out every file, every value of every row (unpacked), and every document and term of the index.
fn each(home: &Path, take: &mut dyn FnMut(&str, &[u8])) {
    for path in files(home) {
        let place = path.strip_prefix(home).unwrap().display().to_string();
        take(&format!("name {place}"), place.as_bytes());
        take(&format!("file {place}"), &std::fs::read(&path).unwrap_or_default());
    }
    rows(&home.join("store.db"), take);
    documents(home, take);
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { all.extend(files(&path)) } else { all.push(path) }
    }
    all
}

fn rows(store: &Path, take: &mut dyn FnMut(&str, &[u8])) {
    let Ok(connection) = rusqlite::Connection::open(store) else { return };
    let mut query = connection.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").unwrap();
    let tables: Vec<String> = query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    for table in tables {
        let mut query = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns: Vec<String> = query.column_names().map(str::to_owned).collect();
        let mut rows = query.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            for (i, column) in columns.iter().enumerate() {
                let (ValueRef::Text(bytes) | ValueRef::Blob(bytes)) = row.get_ref(i).unwrap() else {
                    continue;
                };
                take(&format!("{table}.{column}"), bytes);
                if let Ok(unpacked) = zstd::decode_all(bytes) {
                    take(&format!("{table}.{column}, unpacked"), &unpacked);
                }
            }
        }
    }
}

fn documents(home: &Path, take: &mut dyn FnMut(&str, &[u8])) {
    use tantivy::schema::Value as _;
    for dir in std::fs::read_dir(home.join("index")).into_iter().flatten().flatten().map(|e| e.path()) {
        let Ok(index) = tantivy::Index::open_in_dir(&dir) else { continue };
        let schema = index.schema();
        for segment in index.searchable_segments().unwrap() {
            let segment = tantivy::SegmentReader::open(&segment).unwrap();
            // The deleted ones lie there, too, until their segment is written anew.
            let store = segment.get_store_reader(1).unwrap();
            for doc in 0..segment.max_doc() {
                let doc: tantivy::TantivyDocument = store.get(doc).unwrap();
                for (field, value) in doc.field_values() {
                    let name = schema.get_field_name(field);
                    if let Some(text) = value.as_str() {
                        take(&format!("index {name}"), text.as_bytes());
                    }
                    if let Some(bytes) = value.as_bytes() {
                        take(&format!("index {name}"), bytes);
                        if let Ok(unpacked) = zstd::decode_all(bytes) {
                            take(&format!("index {name}, unpacked"), &unpacked);
                        }
                    }
                }
            }
            for (field, entry) in schema.fields().filter(|(_, entry)| entry.is_indexed()) {
                let inverted = segment.inverted_index(field).unwrap();
                let mut terms = inverted.terms().stream().unwrap();
                while terms.advance() {
                    take(&format!("term of {}", entry.name()), terms.key());
                }
            }
        }
    }
}
