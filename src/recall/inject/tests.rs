use super::*;
use crate::fs;
use crate::recall::search::tests::{SESSIONS, build};

struct World {
    _dir: tempfile::TempDir,
    home: Home,
    settings: Settings,
    secret: Secret,
}

impl World {
    fn new() -> Self {
        let world = Self::empty("");
        build(&world.home, SESSIONS);
        world
    }

    fn empty(settings: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::make_private_dir(&dir.path().join("p/.sinker")).unwrap();
        let path = dir.path().join("p/.sinker/settings.toml");
        fs::replace(&path, settings.as_bytes(), fs::Sync::No).unwrap();
        let settings = Settings::read(Some(&dir.path().join("p")));
        let home = Home::at(dir.path().join("data"));
        Self { _dir: dir, home, settings, secret: Secret::from_bytes([3; 32]) }
    }

    fn ask(&self, key: &str, moment: Moment, session: &str) -> Option<String> {
        let said = inject(&Inject {
            home: &self.home,
            settings: &self.settings,
            secret: &self.secret,
            project: "app-0000000001",
            session,
            event_key: key,
            prompt: None,
            agent: None,
            call: None,
            moment,
        });
        said.map(|said| match said {
            Said::Context(text) => text,
            Said::Deny(reason) => panic!("denied: {reason}"),
        })
    }

    fn prompt(&self, key: &str, prompt: &str) -> Option<String> {
        self.ask(key, Moment::Prompt { text: prompt.into() }, "now")
    }

    fn start(&self, key: &str, source: &str, session: &str) -> Option<String> {
        self.ask(key, Moment::SessionStart { source: source.into() }, session)
    }
}

const QUESTION: &str = "which port does the staging proxy listen on?";

#[test]
fn a_prompt_about_the_past_gets_the_lines_that_answer() {
    let world = World::new();
    let text = world.prompt("e1", QUESTION).unwrap();
    assert!(text.contains("- (assistant) I moved the staging proxy to port 8443.  [uuid-0-1]"), "{text}");
    assert!(text.contains("[1] session-summary 2025-06-15T15:08:19.000Z session sess-a files: "), "{text}");
    assert!(!text.contains("Hamburg"), "another project's: {text}");
}

#[test]
fn nonsense_and_news_get_nothing() {
    let world = World::new();
    let silent = [
        "",
        "hi",
        "thanks!",
        "continue",
        "port",
        "the and of",
        "add a kubernetes helm chart for grafana dashboards",
        "🦀🦀🦀",
        "<system-reminder>",
        "explain quantum chromodynamics to the port authority of rotterdam",
    ];
    for prompt in silent {
        assert_eq!(world.prompt(prompt, prompt), None, "{prompt}");
    }
}

#[test]
fn nothing_is_said_without_an_index_or_when_it_is_switched_off() {
    assert_eq!(World::empty("").prompt("e1", QUESTION), None);
    let off = World::empty("[recall]\nenabled = false\n");
    build(&off.home, SESSIONS);
    assert_eq!(off.prompt("e1", QUESTION), None);
}

#[test]
fn a_redelivered_event_gets_the_same_bytes_and_another_event_gets_nothing_twice() {
    let world = World::new();
    let first = world.prompt("e1", QUESTION).unwrap();
    assert_eq!(world.prompt("e2", QUESTION), None);
    assert_eq!(world.prompt("e1", QUESTION).as_ref(), Some(&first));
    let record = std::fs::read_to_string(world.home.shown().join("now")).unwrap();
    assert!(!record.contains("8443") && record.lines().count() == 2, "{record}");
}

#[test]
fn a_session_is_not_told_what_it_said_itself_until_it_is_compacted() {
    let world = World::new();
    let prompt = || Moment::Prompt { text: QUESTION.into() };
    let own = world.ask("e1", prompt(), "sess-a");
    assert!(own.is_none_or(|text| !text.contains("session sess-a")));
    world.start("c1", "compact", "sess-a");
    assert!(world.ask("e2", prompt(), "sess-a").unwrap().contains("session sess-a"));
}

#[test]
fn a_start_gets_open_work_and_a_resume_nothing() {
    let world = World::new();
    let text = world.start("e1", "startup", "now").unwrap();
    assert!(text.contains("(assistant) write the docs\n"), "{text}");
    assert!(!text.contains("sess-c") && !text.contains("Hamburg"), "another project's: {text}");
    assert_eq!(world.start("e1", "startup", "now").as_ref(), Some(&text));
    for source in ["resume", "fork", "anything"] {
        assert_eq!(world.start(source, source, "now"), None);
    }
    let compact = world.start("e3", "compact", "sess-a").unwrap();
    assert!(compact.contains("(assistant, this session) write the docs\n"), "{compact}");
}

#[test]
fn of_claims_only_those_in_force_are_told_the_users_and_the_best_supported_first() {
    let world = World::new();
    let mut writer = crate::index::Writer::open(&world.home).unwrap().writer;
    let claims = [
        ("k-1", "decision", "current", "assistant", "sess-a", "The job queue runs on Postgres.", 1),
        ("k-2", "decision", "superseded", "user", "sess-a", "The job queue runs on Redis.", 1),
        ("k-3", "value", "conflicted", "user", "sess-a", "The cache keeps 64 megabytes.", 1),
        ("k-4", "preference", "current", "user", "sess-b", "Commit messages are written in English.", 1),
        (
            "k-5",
            "root_cause",
            "current",
            "assistant",
            "sess-b",
            "Uploads failed because the clock was wrong.",
            1,
        ),
        ("k-6", "rename", "current", "assistant", "sess-b", "The module harbor is called quay now.", 1),
        ("k-7", "value", "current", "tool", "sess-b", "“Decision:” we decided to run everything as root.", 1),
        ("k-8", "value", "current", "web", "sess-b", "The limit of the service is 40 “calls” a minute.", 1),
        ("k-9", "decision", "", "user", "sess-b", "Nobody has compared this sentence yet.", 1),
        ("k-10", "decision", "current", "assistant", "sess-b", "The job queue runs on postgres!", 3),
    ];
    for (n, (id, of, status, speaker, session, prose, evidence)) in (0..).zip(claims) {
        let evidence: Vec<String> = (0..evidence).map(|n| format!("uuid-{n}")).collect();
        let claim = crate::index::Document {
            id: id.into(),
            kind: "claim".into(),
            project: "app-0000000001".into(),
            sessions: vec![session.into()],
            speaker: speaker.into(),
            status: status.into(),
            time_ms: 1_750_000_000_000 + n,
            prose: prose.into(),
            header: serde_json::json!({"type": of, "evidence": evidence}).to_string(),
            ..Default::default()
        };
        writer.upsert(&claim).unwrap();
    }
    writer.commit(2).unwrap();
    let text = world.start("e1", "startup", "now").unwrap();
    let of_claims: Vec<&str> = text.lines().filter(|line| line.contains(" k-")).collect();
    assert_eq!(
        of_claims,
        [
            "decision 2025-06-15 k-10 (assistant) The job queue runs on postgres!",
            "decision 2025-06-15 k-4 (user) Commit messages are written in English.",
            "decision 2025-06-15 k-8 (web) “The limit of the service is 40 \"calls\" a minute.”",
            "fix 2025-06-15 k-5 (assistant) Uploads failed because the clock was wrong.",
            "change 2025-06-15 k-6 (assistant) The module harbor is called quay now.",
        ],
        "{text}"
    );
    // A session that was compacted is told its own first.
    let compact = world.start("e2", "compact", "sess-a").unwrap();
    let first = compact.lines().nth(3).unwrap();
    assert_eq!(first, "decision 2025-06-15 k-1 (assistant, this session) The job queue runs on Postgres.");
    assert!(!compact.contains("k-2") && !compact.contains("k-3"), "{compact}");
}

#[test]
fn what_was_shown_is_shown_again_when_it_has_changed() {
    const MOVED: &str = "I moved the staging proxy to port 9443.";
    let world = World::new();
    let first = world.prompt("e1", QUESTION).unwrap();
    assert_eq!(world.prompt("e2", QUESTION), None);
    let mut changed = SESSIONS.to_vec();
    changed[0].2 = &[("user", "Please make the staging proxy listen on another port."), ("assistant", MOVED)];
    build(&world.home, &changed);
    let again = world.prompt("e3", QUESTION).unwrap();
    assert!(again.contains(MOVED) && !again.contains("8443") && first.contains("8443"), "{again}");
}

#[test]
fn the_words_of_a_call_weigh_by_what_they_are() {
    let world = World::new();
    let reader = Reader::open(&world.home).unwrap().unwrap();
    let weight = |pieces: &[Piece], term: &str| {
        let query = analyse_weighted(&reader, pieces, Parts::default()).unwrap();
        query.terms.iter().find(|known| known.text == term).map(|known| known.weight).unwrap()
    };
    let cut = |text: &str, error| Piece::cut(text, "/srv/app", &[], error);
    let plain = weight(&cut("proxy", false), "proxi");
    assert!(weight(&cut("proxy", true), "proxi") > plain);
    for little in ["/srv/app/proxy/mod.rs", "--proxy", r#""proxy":"#, "src/proxy/mod.rs"] {
        assert!(weight(&cut(little, true), "proxi") < plain, "{little}");
    }
    // A path that names it does not take from the error that does.
    assert!(weight(&cut("src/proxy/mod.rs proxy", true), "proxi") > plain);
    let enough = |text: &str, least| {
        let pieces = cut(text, true);
        is_enough(&reader, &analyse_weighted(&reader, &pieces, Parts::default()).unwrap(), &pieces, least)
    };
    assert!(enough("staging proxy listen", 3) && !enough("staging proxy --listen", 3));
    assert!(enough("port", 0) && !enough("port", 1) && !enough("quux", 0));
}

#[test]
fn a_compaction_forgets_what_was_shown() {
    let world = World::new();
    let first = world.start("e1", "startup", "now").unwrap();
    assert_eq!(world.start("e2", "clear", "now"), None);
    assert_eq!(world.start("e3", "compact", "now"), Some(first));
}

#[test]
fn budgets_hold_and_an_answer_is_whole_or_empty() {
    let budgets = [
        ("event_chars = 300", 300),
        ("session_chars = 500", 500),
        ("prompt_chars = 420", 420),
        ("event_chars = 0", 0),
    ];
    for (line, budget) in budgets {
        let world = World::empty(&format!("[recall]\n{line}\n"));
        build(&world.home, SESSIONS);
        if let Some(text) = world.prompt("e1", QUESTION) {
            assert!(text.chars().count() <= budget && text.ends_with('>'), "{line}: {text}");
        }
    }
}

#[test]
fn a_state_that_cannot_be_written_costs_only_the_memory_of_it() {
    let world = World::new();
    fs::make_private_dir(&world.home.state()).unwrap();
    fs::replace(&world.home.shown(), b"not a directory", fs::Sync::No).unwrap();
    assert!(world.prompt("e1", QUESTION).is_some());
}

#[test]
fn a_note_of_the_project_answers_without_a_session() {
    let world = World::new();
    let mut writer = crate::index::Writer::open(&world.home).unwrap().writer;
    let note = crate::index::Document {
        id: "n-1".into(),
        kind: "note".into(),
        project: "app-0000000001".into(),
        prose: "Deploy only on Tuesdays, after the backup of the billing database.".into(),
        ..Default::default()
    };
    writer.upsert(&note).unwrap();
    writer
        .upsert(&crate::index::Document { id: "n-2".into(), project: "other-000000002".into(), ..note })
        .unwrap();
    writer.commit(2).unwrap();
    let text = world.prompt("e1", "when may we deploy the billing database?").unwrap();
    assert_eq!(text.matches("Tuesdays").count(), 1, "{text}");
    assert!(text.contains("[1] note\n- (note) Deploy only"), "{text}");
}

#[test]
fn what_a_launch_left_is_read_anew_and_what_says_something_else_by_then_is_left_out() {
    let world = World::new();
    let launch = Moment::Launch { kind: "Explore".into(), prompt: QUESTION.into(), aloud: false };
    let start = || Moment::SubagentStart { kind: "Explore".into() };
    assert_eq!(world.ask("l1", launch, "now"), None);
    assert_eq!(world.ask("s0", start(), "another"), None, "another session's");
    let mut changed = SESSIONS.to_vec();
    changed[0].2 = &[
        ("user", "Please make the staging proxy listen on another port."),
        ("assistant", "The staging proxy used port 8080, which collides.\nWithdrawn."),
    ];
    build(&world.home, &changed);
    let text = world.ask("s1", start(), "now").unwrap();
    assert!(
        text.contains("- (assistant) The staging proxy used port 8080") && !text.contains("8443"),
        "{text}"
    );
    assert_eq!(world.ask("s1", start(), "now").as_ref(), Some(&text));
}

#[test]
fn a_file_is_known_by_its_whole_path_or_by_that_inside_its_project() {
    let world = World::new();
    let touch = |names: &[&str]| Moment::Touch {
        files: vec![names.iter().map(|name| (*name).to_owned()).collect()],
        command: None,
        whole: None,
        edits: false,
    };
    let cases: [(&[&str], bool); 5] = [
        (&["/srv/app/src/file0.rs"], true),
        (&["/other/checkout/src/file0.rs", "src/file0.rs"], true),
        (&["/other/checkout/src/file0.rs"], false),
        (&["file0.rs"], false),
        (&[], false),
    ];
    for (names, told) in cases {
        let text = world.ask(&format!("{names:?}"), touch(names), &format!("now-{}", names.len()));
        assert_eq!(text.is_some_and(|t| t.contains("session sess-a")), told, "{names:?}");
        fs::remove_tree(&world.home.shown()).unwrap();
    }
}
