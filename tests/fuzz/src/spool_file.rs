//! A file in the spool, whatever it holds: an entry that is read is written and read back the same, and gives the name it lies under;
//! one of a newer version is known as such; the rest is refused with a reason.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use sinker::spool::{Command, Entry, EntryError, FORMAT, SpoolName, safe_id};

fuzz_target!(|bytes: &[u8]| {
    let version = || serde_json::from_slice::<Value>(bytes).ok()?.get("v")?.as_u64();
    match Entry::parse(bytes) {
        Ok(entry) => {
            let again = Entry::parse(&serde_json::to_vec(&entry).unwrap()).unwrap();
            assert_eq!(again, entry, "written and read back is another entry");
            let tail = entry.tool_use.as_deref().or(entry.agent.as_ref().map(|a| a.id.as_str()));
            let name = SpoolName::event(&entry.session, entry.cursor, &entry.event, tail);
            let text = name.to_string();
            assert!(safe_id(&entry.session).len() <= 64);
            // The event is a word of our own table; a foreign one is refused where the name is read.
            let word = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
            if !entry.event.is_empty() && entry.event.len() <= 64 && entry.event.bytes().all(word) {
                assert!(!text.contains('/') && !text.contains('\0') && text.len() <= 255, "{text}");
                assert_eq!(SpoolName::parse(&text), Some(name), "{text}");
            }
        }
        Err(EntryError::Newer(found)) => {
            assert!(found > u64::from(FORMAT));
            if let Some(version) = version() {
                assert_eq!(version, found);
            }
        }
        Err(EntryError::Shape(why)) => assert!(!why.is_empty()),
    }
    if let Ok(command) = Command::parse(bytes) {
        assert_eq!(Command::parse(&serde_json::to_vec(&command).unwrap()), Ok(command));
    }
    // As a file name: what is read is written the same.
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Some(name) = SpoolName::parse(text)
    {
        assert!(!text.contains('/') && !text.contains(".."), "{text:?}");
        assert_eq!(SpoolName::parse(&name.to_string()), Some(name));
    }
});
