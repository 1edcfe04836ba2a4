//! A transcript, whatever it holds, read from its start and from the middle: the lines put together are the file, no byte twice and
//! none left out; a last line without a newline is told as such; each line falls into one case, the same each time.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sinker::transcript::{Parsed, RawLine, Reader, look};
use std::cell::RefCell;
use std::io::{Seek, Write};

thread_local! {
    static FILE: RefCell<tempfile::NamedTempFile> = RefCell::new(tempfile::NamedTempFile::new().unwrap());
}

/// A record that names a field twice says two things at once, and no client writes one.
fn names_a_field_twice(content: &[u8]) -> bool {
    struct Twice(bool);
    impl<'de> serde::Deserialize<'de> for Twice {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Fields;
            impl<'de> serde::de::Visitor<'de> for Fields {
                type Value = Twice;
                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("an object")
                }
                fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Twice, A::Error> {
                    let mut seen = std::collections::BTreeSet::new();
                    let mut twice = false;
                    while let Some((name, _)) = map.next_entry::<String, serde::de::IgnoredAny>()? {
                        twice |= !seen.insert(name);
                    }
                    Ok(Twice(twice))
                }
            }
            deserializer.deserialize_map(Fields)
        }
    }
    serde_json::from_slice::<Twice>(content).is_ok_and(|twice| twice.0)
}

fuzz_target!(|bytes: &[u8]| {
    FILE.with_borrow_mut(|file| {
        file.as_file().set_len(0).unwrap();
        file.rewind().unwrap();
        file.write_all(bytes).unwrap();
        let mut reader = Reader::open(file.path(), 0).unwrap();
        let mut joined = Vec::new();
        let mut lines = Vec::new();
        while let Some(line) = reader.next_line().unwrap() {
            assert_eq!(line.from, joined.len() as u64, "a gap, or a byte twice");
            let RawLine::Whole(content) = &line.content else { panic!("nothing here is long") };
            assert!(!content.contains(&b'\n'));
            joined.extend_from_slice(content);
            joined.extend(line.complete.then_some(b'\n'));
            assert_eq!(line.to, joined.len() as u64);
            let parsed = look(content).parsed;
            assert_eq!(look(content).parsed, parsed, "the same line, another case");
            if let Parsed::Odd(why) = parsed {
                assert!(!why.is_empty());
                // A record that a parser reads, with a type, is not odd.
                let value: Option<serde_json::Value> = serde_json::from_slice(content).ok();
                let typed = value.is_some_and(|v| v.get("type").is_some_and(serde_json::Value::is_string));
                assert!(
                    !typed || names_a_field_twice(content),
                    "{why}: {:?}",
                    String::from_utf8_lossy(content)
                );
            }
            let complete = line.complete;
            lines.push(line);
            if !complete {
                break;
            }
        }
        assert_eq!(joined, bytes, "the lines put together are not the file");
        // Read on from each of the first cursors, it is the rest.
        for (n, line) in lines.iter().enumerate().take(8) {
            let mut reader = Reader::open(file.path(), line.from).unwrap();
            for expected in &lines[n..] {
                assert_eq!(reader.next_line().unwrap().as_ref(), Some(expected));
            }
        }
    });
});
