use super::*;

fn request(path: &str, entry: &str) -> Request {
    Request { path: path.into(), entry: Some(entry.to_owned()), ..Request::default() }
}

fn requests(now_ms: i64, list: Vec<Request>) -> Event {
    Event::Requests { now_ms, list, more: false }
}

fn finished(now_ms: i64, path: &str, stored: bool) -> Event {
    Event::Finished { now_ms, path: path.into(), stored }
}

/// Runs events from a beginning at time 0 and gives the effects of the last.
fn check(mode: Mode, events: &[Event], expected: &[&str]) -> State {
    let mut state = State::begin(mode, 0);
    let mut last = Vec::new();
    for event in events {
        (state, last) = step(state, event.clone());
    }
    let shown: Vec<String> = last
        .iter()
        .map(|effect| match effect {
            Effect::Read(job) => format!("Read {} {}", job.path.display(), job.entries.join("+")),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(shown, expected, "{events:#?}");
    state
}

const SERVE: Mode = Mode::Serve { idle_exit_ms: Some(60_000) };

#[test]
fn a_start_looks_at_everything() {
    check(SERVE, &[Event::Tick(0)], &["Beat", "Scan", "Sweep"]);
    check(SERVE, &[Event::Tick(0), Event::Tick(500)], &["Beat"]);
    check(SERVE, &[Event::Tick(0), Event::Tick(2_000)], &["Beat", "Scan"]);
    check(SERVE, &[Event::Tick(0), Event::Woken], &["Scan"]);
    let never = Mode::Serve { idle_exit_ms: None };
    check(never, &[Event::Tick(0), Event::Tick(600_000)], &["Beat", "Scan", "Sweep"]);
}

#[test]
fn a_file_is_in_work_once_and_then_again_for_what_came_meanwhile() {
    let begin = [Event::Tick(0), requests(1, vec![request("a", "1")])];
    check(SERVE, &begin, &["Read a 1"]);
    let meanwhile = [begin.to_vec(), vec![requests(2, vec![request("a", "2"), request("a", "3")])]].concat();
    check(SERVE, &meanwhile, &[]);
    let done = [meanwhile, vec![finished(3, "a", true)]].concat();
    let state = check(SERVE, &done, &["Read a 2+3"]);
    assert_eq!(state.busy().collect::<Vec<_>>(), ["2", "3"]);
}

/// F25: what it may take with it is stored first.
#[test]
fn f25_a_suspect_is_read_when_nothing_else_is_in_work() {
    let suspect = Request { suspect: true, ..request("a", "1") };
    let begin = [Event::Tick(0), requests(1, vec![suspect, request("b", "2")])];
    check(SERVE, &begin, &["Read b 2"]);
    let later = [begin.to_vec(), vec![requests(2, vec![request("c", "3")])]].concat();
    check(SERVE, &later, &["Read c 3"]);
    let one_left = [later, vec![finished(3, "b", true)]].concat();
    check(SERVE, &one_left, &[]);
    let alone = [one_left, vec![finished(4, "c", true)]].concat();
    check(SERVE, &alone, &["Read a 1"]);
}

/// A suspect that has all the room there is keeps nobody waiting who could come.
#[test]
fn f25_a_suspect_with_more_entries_than_there_is_room_for_is_read() {
    let many: Vec<Request> =
        (0..MAX_CLAIMED).map(|n| Request { suspect: true, ..request("a", &n.to_string()) }).collect();
    let full = [Event::Tick(0), requests(1, vec![]), Event::Requests { now_ms: 2, list: many, more: true }];
    let mut state = State::begin(SERVE, 0);
    let mut read = 0;
    for event in full {
        let (next, effects) = step(state, event);
        read += effects.iter().filter(|effect| matches!(effect, Effect::Read(_))).count();
        state = next;
    }
    assert_eq!(read, 1);
}

#[test]
fn a_failure_waits_longer_each_time_and_keeps_its_entries() {
    let failed = [Event::Tick(0), requests(0, vec![request("a", "1")]), finished(0, "a", false)];
    check(SERVE, &failed, &[]);
    check(SERVE, &[failed.to_vec(), vec![Event::Tick(499)]].concat(), &["Beat"]);
    let second = [failed.to_vec(), vec![Event::Tick(500)]].concat();
    check(SERVE, &second, &["Beat", "Read a 1"]);
    let third = [second, vec![finished(500, "a", false), Event::Tick(1_499)]].concat();
    check(SERVE, &third, &["Beat"]);
    check(SERVE, &[third, vec![Event::Tick(1_500)]].concat(), &["Beat", "Read a 1"]);
}

#[test]
fn once_ends_when_all_looks_have_answered_and_all_is_stored() {
    let begin = [Event::Tick(0), requests(1, vec![request("a", "1")])];
    check(Mode::Once, &begin, &["Read a 1"]);
    let done = [begin.to_vec(), vec![finished(2, "a", true)]].concat();
    check(Mode::Once, &done, &[]);
    assert_eq!(check(Mode::Once, &[done, vec![requests(3, vec![])]].concat(), &["Finish"]), State::Stopped);
    let more = [Event::Tick(0), requests(1, vec![]), Event::Requests { now_ms: 2, list: vec![], more: true }];
    check(Mode::Once, &more, &["Scan"]);
}

#[test]
fn a_command_is_answered_when_the_last_of_its_files_is_stored() {
    let ask = |path: &str| Request { path: path.into(), command: Some("c".into()), ..Request::default() };
    let events = [
        Event::Tick(0),
        Event::Command { id: "c".into(), files: 2 },
        requests(1, vec![ask("a"), ask("b")]),
        finished(2, "b", true),
        finished(3, "a", true),
    ];
    check(SERVE, &events, &["Answer(\"c\")"]);
    check(SERVE, &[Event::Tick(0), Event::Command { id: "c".into(), files: 0 }], &["Answer(\"c\")"]);
}

#[test]
fn the_first_signal_finishes_the_batch_and_the_second_does_not_wait() {
    let busy = [Event::Tick(0), requests(0, vec![request("a", "1"), request("b", "2")]), Event::Signal];
    check(SERVE, &busy, &["Halt"]);
    check(SERVE, &[busy.to_vec(), vec![finished(1, "a", true)]].concat(), &[]);
    let both = [busy.to_vec(), vec![finished(1, "a", true), finished(1, "b", false)]].concat();
    assert_eq!(check(SERVE, &both, &["Finish"]), State::Stopped);
    assert_eq!(check(SERVE, &[busy.to_vec(), vec![Event::Signal]].concat(), &["Exit"]), State::Stopped);
    check(SERVE, &[Event::Tick(0), Event::Signal], &["Halt", "Finish"]);
}

#[test]
fn an_idle_drainer_leaves_after_its_time() {
    let quiet = [Event::Tick(0), requests(0, vec![]), requests(0, vec![]), Event::Tick(59_999)];
    check(SERVE, &quiet, &["Beat", "Scan"]);
    check(SERVE, &[quiet.to_vec(), vec![Event::Tick(60_000)]].concat(), &["Beat", "Finish"]);
}

proptest::proptest! {
    /// Whatever the order: no file is in work twice, no entry is forgotten before its file is stored.
    #[test]
    fn no_order_of_events_loses_an_entry(moves in proptest::collection::vec((0..6_u8, 0..4_u8), 0..80)) {
        let mut state = State::begin(SERVE, 0);
        let (mut now, mut asked, mut reading, mut stored) = (0, BTreeSet::new(), BTreeMap::new(), BTreeSet::new());
        for (n, (kind, file)) in moves.into_iter().enumerate() {
            now += 400;
            let path = format!("f{file}");
            let event = match kind {
                0 => Event::Tick(now),
                1 => Event::Woken,
                2 | 3 => {
                    asked.insert(n.to_string());
                    requests(now, vec![request(&path, &n.to_string())])
                }
                _ => {
                    if let Some(entries) = reading.remove(&path) && kind == 4 {
                        stored.extend::<Vec<String>>(entries);
                    }
                    finished(now, &path, kind == 4)
                }
            };
            let (next, effects) = step(state, event);
            state = next;
            for effect in effects {
                if let Effect::Read(job) = effect {
                    let twice = reading.insert(job.path.display().to_string(), job.entries);
                    proptest::prop_assert!(twice.is_none());
                }
            }
            let busy: BTreeSet<String> = state.busy().cloned().collect();
            let open: BTreeSet<String> = asked.difference(&stored).cloned().collect();
            proptest::prop_assert_eq!(busy, open);
        }
    }
}

#[test]
fn what_a_session_announced_goes_before_what_a_sweep_found() {
    let swept: Vec<Request> =
        (0..200).map(|n| Request { path: format!("s{n}").into(), ..Request::default() }).collect();
    let mut events = vec![Event::Tick(0), requests(1, swept), requests(2, vec![request("live", "1")])];
    check(SERVE, &events, &[]);
    events.push(finished(3, "s0", true));
    check(SERVE, &events, &["Read live 1"]);
}

#[test]
fn a_file_that_fails_holds_up_no_other_and_is_given_up_where_somebody_waits() {
    let ask = |path: &str| Request { path: path.into(), command: Some("c".into()), ..Request::default() };
    let mut events = vec![Event::Command { id: "c".into(), files: 1 }, requests(0, vec![ask("bad")])];
    let mut now = 0;
    for _ in 0..3 {
        events.push(finished(now, "bad", false));
        now += 30_000;
        events.push(Event::Tick(now));
    }
    check(Mode::Import, &events, &["Beat", "Read bad "]);
    events.push(requests(now, vec![request("good", "1")]));
    check(Mode::Import, &events, &["Read good 1"]);
    events.push(finished(now, "bad", false));
    check(Mode::Import, &events, &["GiveUp(\"bad\")", "Answer(\"c\")"]);
    events.push(finished(now, "good", true));
    check(Mode::Import, &events, &["Finish"]);
}
