//! F25: what ends the drainer that works on it, once and for ever set aside, with its neighbours stored. Needs the feature `failpoints`.
#![cfg(feature = "failpoints")]

use crate::support::{Out, Sandbox, Transcript, payload};

/// Three sessions of which the second is poisoned: its name sorts before the third's, and its entry comes first.
struct World {
    sandbox: Sandbox,
    poisoned: Transcript,
    good: usize,
}

fn world() -> World {
    let sandbox = Sandbox::new();
    let mut one = Transcript::new(&sandbox, 1);
    one.prompt("What grows in the garden?").says("Sage and thyme.").flush();
    let mut poisoned = Transcript::new(&sandbox, 2);
    poisoned.prompt("And behind the wall?").says("There grows hemlock.").says("Leave it alone.").flush();
    let mut three = Transcript::new(&sandbox, 3);
    three.prompt("Who waters them?").says("The rain.").flush();
    World { good: one.observations + three.observations, sandbox, poisoned }
}

fn drain(world: &World, poison: &str) -> Out {
    let env = [("STEP_POISON", poison), ("STEP_PATIENCE_MS", "1000")];
    world.sandbox.sinker_with(&["drain", "--once", "--json"], b"", &env)
}

/// What the store holds: the figures in `status` are those of a drainer that could still write them.
fn observations(world: &World) -> usize {
    let rows = world.sandbox.lines(&["inspect", "--view", "source-documents"]);
    rows.iter().filter(|row| row["kind"] == "observation").count()
}

/// Two drainers die, the others' words are stored; the third sets the file aside and lives, and so do all that follow.
fn is_set_aside_after_two_deaths(how: &str, announced: bool, died: impl Fn(&Out) -> bool) {
    let world = world();
    let sandbox = &world.sandbox;
    let poison = format!("read::line={how}=hemlock");
    if announced {
        sandbox.hook("stop", &payload("Stop", sandbox, &world.poisoned)).assert_silent("stop");
    }
    for death in 1..=2 {
        let out = drain(&world, &poison);
        assert!(died(&out), "{how}, drainer {death}: {out}");
        assert_eq!(sandbox.spool("odd"), [""; 0], "{how}: two deaths may have other causes");
    }
    assert_eq!(observations(&world), world.good, "{how}: the neighbours do not wait");
    for later in 3..=5 {
        let out = drain(&world, &poison);
        assert_eq!(out.code, Some(0), "{how}, drainer {later}: {out}");
        let odd = sandbox.spool("odd");
        let why = odd.iter().find(|name| name.ends_with(".why")).unwrap_or_else(|| panic!("{how}: {odd:?}"));
        let why = std::fs::read_to_string(sandbox.at("spool/odd").join(why)).unwrap();
        assert!(why.contains("again and again") && why.contains(&world.poisoned.session), "{why}");
        assert_eq!(odd.len(), if announced { 2 } else { 1 }, "{how}: {odd:?}");
        assert_eq!(sandbox.json(&["status"])["spool"]["odd"], 1, "{how}");
        assert_eq!(sandbox.spool("cur"), [""; 0]);
    }
    assert_eq!(observations(&world), world.good, "{how}");
    // It goes on growing, and its events do not end anybody either.
    sandbox.hook("session-end", &payload("SessionEnd.other", sandbox, &world.poisoned)).assert_silent("end");
    assert_eq!(drain(&world, &poison).code, Some(0), "{how}");
    assert_eq!(sandbox.json(&["status"])["spool"]["odd"], 2, "{how}");
    // A person names it, and what was fatal is so no longer.
    sandbox.import(&[&world.poisoned.path]);
    assert_eq!(observations(&world), world.good + world.poisoned.observations, "{how}");
    assert!(!sandbox.at("state/suspects").exists(), "{how}: nothing is held against it any more");
    sandbox.verify();
}

#[test]
fn f25_a_transcript_that_aborts_its_reader_is_set_aside() {
    is_set_aside_after_two_deaths("abort", true, |out| out.signal == Some(6));
}

/// Nobody announced it: every sweep would find it again.
#[test]
fn f25_a_transcript_that_a_sweep_finds_and_that_kills_is_set_aside() {
    is_set_aside_after_two_deaths("kill", false, Out::killed);
}

#[test]
fn f25_a_transcript_that_is_never_done_is_ended_and_set_aside() {
    is_set_aside_after_two_deaths("spin", true, |out| {
        out.code == Some(1) && out.stderr.contains("reasonable time")
    });
}

/// A panic is caught where it happens: one line is odd, and not even its neighbours in the file wait.
#[test]
fn f25_a_line_that_panics_is_odd_and_costs_no_neighbour() {
    let world = world();
    world.sandbox.hook("stop", &payload("Stop", &world.sandbox, &world.poisoned)).assert_silent("stop");
    let out = drain(&world, "read::line=panic=hemlock");
    assert_eq!(out.code, Some(0), "{out}");
    assert_eq!(observations(&world), world.good + world.poisoned.observations - 1);
    let odd = world.sandbox.spool("odd");
    assert!(odd.len() == 1 && odd[0].starts_with("line."), "{odd:?}");
    let log = world.sandbox.log();
    assert!(log.contains("panic") && !log.contains("hemlock"), "it says where, not what: {log}");
    assert!(!out.stderr.contains("hemlock"), "{out}");
}

/// A panic while its rows are stored: the transaction is shared, the blame is not.
#[test]
fn f25_a_transcript_that_panics_the_writer_is_set_aside_by_the_same_drainer() {
    let world = world();
    world.sandbox.hook("stop", &payload("Stop", &world.sandbox, &world.poisoned)).assert_silent("stop");
    let out = drain(&world, &format!("write::apply=panic={}", world.poisoned.session));
    assert_eq!(out.code, Some(0), "{out}");
    assert_eq!(observations(&world), world.good);
    assert_eq!(world.sandbox.spool("odd").len(), 2, "the entry and its reason");
    assert_eq!(world.sandbox.spool("cur"), [""; 0]);
    world.sandbox.verify();
}

/// Somebody ended the drainer, again and again, while it read or while another process tried: that is no fault of the file.
#[cfg(target_os = "linux")]
#[test]
fn f25_a_transcript_whose_drainers_were_ended_by_others_loses_nothing() {
    use crate::support::{Running, eventually};
    let world = world();
    let slot = || std::fs::read_to_string(world.sandbox.at("state/reading")).unwrap_or_default();
    let tries = || {
        let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let args = |p: std::fs::DirEntry| std::fs::read(p.path().join("cmdline")).unwrap_or_default();
        let own = world.poisoned.path.to_str().unwrap();
        processes.map(args).any(|args| {
            let args = String::from_utf8_lossy(&args).into_owned();
            args.contains("--probe") && args.contains(own)
        })
    };
    let hash = {
        use sha2::Digest as _;
        let digest = sha2::Sha256::digest(world.poisoned.path.as_os_str().as_encoded_bytes());
        digest.iter().take(16).map(|b| format!("{b:02x}")).collect::<String>()
    };
    let deaths = |n: u32| {
        let page = std::fs::read_to_string(world.sandbox.at("state/suspects")).unwrap_or_default();
        n == 0 || page.contains(&format!("\"deaths\":{n}"))
    };
    for death in 1..=5 {
        let mut command = world.sandbox.command(&["drain"]);
        command.env("STEP_POISON", "read::line=spin=hemlock");
        let drainer = Running::start(command);
        eventually("it is at what it cannot end", || match death {
            1 | 2 => deaths(death - 1) && slot().starts_with(&hash),
            _ => tries(),
        });
        drainer.signal(rustix::process::Signal::KILL);
        drop(drainer);
        eventually("its try ends with it", || !tries());
    }
    let out = drain(&world, "nowhere=kill=hemlock");
    assert_eq!(out.code, Some(0), "{out}");
    assert_eq!(observations(&world), world.good + world.poisoned.observations);
    assert_eq!(world.sandbox.spool("odd"), [""; 0]);
}
