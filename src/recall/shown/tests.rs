use super::*;

fn event(key: &str) -> Looker<'_> {
    Looker { key, ..Looker::default() }
}

fn add(home: &Home, looker: Looker<'_>, why: Why, block: &str, chars: usize) -> bool {
    Shown::read(home, "s", looker).claim(home, why, &[(vec![block.to_owned()], chars)]).unwrap()
}

fn world() -> (tempfile::TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path());
    (dir, home)
}

#[test]
fn a_redelivered_event_sees_what_it_saw_first() {
    let (_dir, home) = world();
    add(&home, event("e1"), Why::Prompt, "b1", 10);
    add(&home, event("e2"), Why::Prompt, "b2", 20);
    add(&home, event("e3"), Why::Other, "b3", 30);
    assert_eq!(Shown::read(&home, "s", event("e4")).session_chars(), 60);
    let again = Shown::read(&home, "s", event("e2"));
    assert!(again.has("b1") && !again.has("b2") && !again.has("b3"));
    let before = std::fs::read(home.shown().join("s")).unwrap();
    add(&home, event("e2"), Why::Prompt, "b2", 20);
    assert_eq!(std::fs::read(home.shown().join("s")).unwrap(), before);
}

#[test]
fn a_compaction_begins_again_and_other_sessions_are_apart() {
    let (_dir, home) = world();
    add(&home, event("e1"), Why::Prompt, "b1", 10);
    let mut compact = Shown::read(&home, "s", event("c1"));
    compact.compact(&home).unwrap();
    assert!(!compact.has("b1") && compact.is_compacted());
    compact.claim(&home, Why::Other, &[(vec!["b1".to_owned()], 10)]).unwrap();
    let mut again = Shown::read(&home, "s", event("c1"));
    again.compact(&home).unwrap();
    assert!(!again.has("b1"));
    let next = Shown::read(&home, "s", event("e2"));
    assert!(next.has("b1") && next.is_compacted());
    assert_eq!(next.session_chars(), 10);
    assert!(!Shown::read(&home, "t", event("e2")).has("b1"));
}

#[test]
fn a_prompt_and_its_tools_share_a_budget_and_a_subagent_has_a_context_of_its_own() {
    let (_dir, home) = world();
    let turn = |key, agent| Looker { key, prompt: Some("p1"), agent };
    add(&home, turn("e1", None), Why::Prompt, "b1", 100);
    add(&home, turn("e2", None), Why::Tool, "b2", 10);
    add(&home, turn("e3", Some("a1")), Why::Other, "b3", 1_000);
    let main = Shown::read(&home, "s", turn("e9", None));
    assert_eq!((main.prompt_chars(), main.session_chars()), (110, 1_110));
    assert!(main.has("b2") && !main.has("b3"));
    let agent = Shown::read(&home, "s", turn("e9", Some("a1")));
    assert_eq!((agent.prompt_chars(), agent.session_chars()), (1_000, 1_110));
    assert!(agent.has("b3") && !agent.has("b1"));
    let next = Shown::read(&home, "s", Looker { prompt: Some("p2"), ..event("e9") });
    assert_eq!((next.prompt_chars(), next.has("b1")), (0, true));
    assert_eq!(Shown::read(&home, "s", event("e9")).prompt_chars(), 0, "without a prompt");
}

/// Both read the record before either has claimed: the one whose lines come second finds the first one's.
#[test]
fn of_two_at_once_one_has_the_block() {
    let (_dir, home) = world();
    let (mut one, mut two) = (Shown::read(&home, "s", event("e1")), Shown::read(&home, "s", event("e2")));
    assert!(!one.claim(&home, Why::Tool, &[(vec!["b".to_owned()], 5)]).unwrap());
    assert!(two.claim(&home, Why::Tool, &[(vec!["b".to_owned()], 5)]).unwrap());
    assert!(!one.has("b") && two.has("b"));
    // Delivered again, each sees what it saw.
    assert!(!Shown::read(&home, "s", event("e1")).has("b") && Shown::read(&home, "s", event("e2")).has("b"));
    assert!(Shown::read(&home, "s", event("e3")).has("b"));
}

#[test]
fn many_at_once_lose_no_line_and_one_has_the_block() {
    let (_dir, home) = world();
    let keys: Vec<String> = (0..8).map(|n| format!("e{n}")).collect();
    let barrier = std::sync::Barrier::new(keys.len());
    let run = |key: &String| {
        let mut shown = Shown::read(&home, "s", event(key));
        barrier.wait();
        shown.claim(&home, Why::Tool, &[(vec!["b".to_owned()], 5)]).unwrap();
        usize::from(!shown.has("b"))
    };
    let winners: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = keys.iter().map(|key| scope.spawn(|| run(key))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(winners, 1);
    assert_eq!(Shown::read(&home, "s", event("other")).session_chars(), 40);
}

#[test]
fn lines_of_older_versions_and_torn_ones_harm_nothing() {
    let (_dir, home) = world();
    fs::make_private_dir(&home.shown()).unwrap();
    let text =
        "shown 1\nc aaaa\np bbbb b1 10\ns cccc b2\np dddd b3 x\nshown 1\ns ee\nt ffff b4 7 pppp aaaa more\n";
    fs::replace(&home.shown().join("s"), text.as_bytes(), fs::Sync::No).unwrap();
    let shown = Shown::read(&home, "s", event("e1"));
    assert!(shown.has("b1") && !shown.has("b2") && !shown.has("b3") && !shown.has("b4"));
    assert_eq!(shown.session_chars(), 17);
}

#[test]
fn a_record_that_grew_too_long_is_begun_again() {
    let (_dir, home) = world();
    let blocks: Vec<_> = (0..300).map(|n| (vec![format!("block-{n}"), format!("told-{n}")], 1)).collect();
    for n in 0..6 {
        Shown::read(&home, "s", event(&format!("e{n}"))).claim(&home, Why::Tool, &blocks).unwrap();
        assert!(std::fs::metadata(home.shown().join("s")).unwrap().len() <= CAP_BYTES);
    }
    let later = Shown::read(&home, "s", event("later"));
    assert!(later.has("block-7") && later.has("told-7"));
    assert_eq!(later.session_chars(), 6 * 300, "how much was shown still counts");
}

#[test]
fn a_record_of_another_version_is_left_as_it_is() {
    let (_dir, home) = world();
    fs::make_private_dir(&home.shown()).unwrap();
    for version in ["shown 2", "shown 10", "else"] {
        let text = format!("{version}\np aaaa b1 10 - -\n");
        fs::replace(&home.shown().join("s"), text.as_bytes(), fs::Sync::No).unwrap();
        assert!(!add(&home, event("e1"), Why::Prompt, "b2", 5));
        let mut shown = Shown::read(&home, "s", event("e2"));
        assert!(!shown.has("b1"));
        shown.compact(&home).unwrap();
        assert_eq!(std::fs::read_to_string(home.shown().join("s")).unwrap(), text);
    }
}
