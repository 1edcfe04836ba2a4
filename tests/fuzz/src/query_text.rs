//! A question, whatever it holds: never an error; the same answer each time; excerpts are of the documents, and clean.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sinker::config::Home;
use sinker::index::{Document, Reader, Writer};
use sinker::recall::{Ask, By, Deadline, clean, search};
use std::sync::OnceLock;

const TEXTS: [&str; 6] = [
    "Why is the tide gauge off by an hour? It reports local time; we convert to UTC on arrival.",
    "src/harbor/gauge_reader.rs reads `TideGauge::next_reading` and logs v2.1.332.",
    "潮位計が一時間ずれている。原因は現地時間です。",
    "The lock gate closes at 4.2 m, opens at 1.1 m. Заслонка закрыта. השער סגור",
    "error[E0502]: cannot borrow `pool` as mutable \u{202e}because it is also borrowed",
    "{\"command\": \"date -u\", \"field:\": \"(a OR b) AND NOT \\\"c\\\"~2^3\"}",
];

struct Harbor {
    _dir: tempfile::TempDir,
    reader: Reader,
}

fn harbor() -> Harbor {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path());
    let mut writer = Writer::open(&home).unwrap().writer;
    for (n, text) in (0..).zip(TEXTS) {
        let document = Document {
            id: format!("d{n}"),
            kind: "observation".to_owned(),
            sessions: vec![format!("s{}", n % 3)],
            project: "harbor-0123456789".to_owned(),
            host: "claude".to_owned(),
            speaker: "assistant".to_owned(),
            time_ms: 1_700_000_000_000 + n,
            prose: text.to_owned(),
            seq: 1,
            ..Document::default()
        };
        writer.upsert(&document).unwrap();
    }
    writer.commit(1).unwrap();
    writer.close().unwrap();
    let reader = Reader::open(&home).unwrap().unwrap();
    Harbor { _dir: dir, reader }
}

fuzz_target!(|bytes: &[u8]| {
    static HARBOR: OnceLock<Harbor> = OnceLock::new();
    let reader = &HARBOR.get_or_init(harbor).reader;
    let flags = bytes.iter().fold(0_u8, |sum, b| sum.wrapping_mul(31).wrapping_add(*b));
    let text = String::from_utf8_lossy(bytes).into_owned();
    let limit = usize::from(flags >> 4);
    let by = if flags & 1 == 0 { By::Record } else { By::Session };
    let project = (flags & 2 != 0).then(|| text.clone());
    let file = (flags & 4 != 0).then(|| text.clone());
    let ask = Ask { text, by, project, file, limit, sessions: 3, explain: flags & 8 != 0, ..Ask::default() };
    let answer = search(reader, &ask, &Deadline::never()).expect("a question is never an error");
    let again = search(reader, &ask, &Deadline::never()).unwrap();
    assert_eq!(answer.hits, again.hits, "the same question, another answer");
    assert!(answer.hits.len() <= limit, "more than asked for");
    assert!((0.0..=1.0 + 1e-9).contains(&answer.coverage), "{}", answer.coverage);
    for line in answer.hits.iter().flat_map(|hit| &hit.excerpt) {
        assert!(clean(&line.text).chars().all(|c| !c.is_control() || c == '\n'), "{:?}", line.text);
    }
    // What is shown of the question itself is clean, too.
    let shown = clean(&ask.text);
    assert_eq!(clean(&shown), shown, "cleaned twice is not cleaned once");
});
