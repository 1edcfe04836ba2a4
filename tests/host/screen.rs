//! What only a person at a terminal reaches.

use crate::rig::*;
use rustix::process::Signal;
use serde_json::json;

/// Nobody drains while the scene is played.
const STILL: [(&str, &str); 1] = [("SINKER_AUTOSTART", "0")];

#[test]
fn clear_begins_another_session_and_compact_goes_on_in_it() {
    scenario("screen::clear_begins_another_session_and_compact_goes_on_in_it", |world| {
        world.install_in_step();
        world.api.turn("first words", &[vec![text("First answer.")]]);
        world.api.turn("second words", &[vec![text("Second answer.")]]);
        world.api.turn("CRITICAL: Respond with TEXT ONLY", &[vec![text("<summary>They spoke.</summary>")]]);
        let mut t = Terminal::start(world, &[], &STILL);
        t.enter("first words");
        t.see("First answer.");
        t.see("· done ");
        t.enter("/clear");
        t.see_no("First answer.");
        t.enter("second words");
        t.see("Second answer.");
        t.see("· done ");
        t.enter("/compact");
        t.see("Compacted");
        t.enter("/exit");
        t.ended();
        let events = world.pointers();
        assert_rang(
            &events,
            "session-start(startup) user-prompt-submit stop session-end(clear) session-start(clear) user-prompt-submit stop \
             pre-compact(manual) subagent-stop/session-start(compact)/post-compact(manual) session-end(prompt_input_exit)",
        );
        let (one, two) = (&events[0].session, &events[4].session);
        assert_ne!(one, two);
        assert!(events[4..].iter().all(|e| e.session == *two), "{events:#?}");
        world.drain();
        let reason = |id: &str| {
            let all = world.json(&["sessions"]);
            all.iter().find(|s| s["id"] == id).map(|s| s["reason"].clone())
        };
        assert_eq!((reason(one), reason(two)), (Some(json!("clear")), Some(json!("prompt_input_exit"))));
    });
}

#[test]
fn an_interrupted_turn_is_stored_as_far_as_it_came() {
    scenario("screen::an_interrupted_turn_is_stored_as_far_as_it_came", |world| {
        world.install_in_step();
        let slow = format!("Slowly now I say\none word\nafter the other{}", " and so on".repeat(60));
        world.api.on("slow words", Reply::Slow(slow));
        world.api.turn("long tool", &[vec![bash("toolu_01", "timeout 50 tail -f src/lib.rs")]]);
        let web = call("toolu_02", "WebFetch", json!({ "url": "https://example.com/x", "prompt": "look" }));
        world.api.on("ask me", Reply::Blocks(vec![web]));
        let mut t = Terminal::start(world, &[], &STILL);
        t.enter("slow words");
        t.see("Slowly now");
        t.press("\x1b");
        t.see("Interrupted");
        t.enter("long tool");
        t.see("$ timeout 50");
        t.press("\x1b");
        t.see("❯ long tool");
        t.see_count("Interrupted", 2);
        t.enter("ask me");
        t.see("Do you want");
        t.press("\x1b");
        t.see_no("Do you want");
        t.press("!");
        t.see("for shell mode");
        t.press("ls src\r");
        t.see("⎿  lib.rs");
        t.signal(Signal::HUP);
        t.ended();
        until("the end", || line(&world.pointers()).contains("session-end"), || line(&world.pointers()));
        let events = world.pointers();
        let prompts = events.iter().filter(|e| e.event == "user-prompt-submit").count();
        assert_eq!(
            (prompts, events.last().map(|e| e.reason.as_str())),
            (3, Some("other")),
            "{}",
            line(&events)
        );
        world.drain();
        let stored = world.records(&events[0].session);
        let texts: Vec<String> = stored
            .iter()
            .map(|r| format!("{}: {}", r["speaker"].as_str().unwrap(), r["text"].as_str().unwrap()))
            .collect();
        let has = |words: &str| assert!(texts.iter().any(|t| t.contains(words)), "{words}: {texts:#?}");
        has("user: slow words");
        has("assistant: Slowly now I say");
        has("host: [Request interrupted by user");
        has("user: long tool");
        has("user: ask me");
        has("ls src");
    });
}

#[test]
fn resume_at_the_screen_goes_back_to_the_first_session() {
    scenario("screen::resume_at_the_screen_goes_back_to_the_first_session", |world| {
        world.install_in_step();
        world.api.turn("first words", &[vec![text("First answer.")]]);
        world.api.turn("second words", &[vec![text("Second answer.")]]);
        let mut t = Terminal::start(world, &[], &STILL);
        t.enter("first words");
        t.see("First answer.");
        t.see("· done ");
        t.press("\x03");
        t.see("Press Ctrl-C again");
        t.press("\x03");
        t.ended();
        let mut t = Terminal::start(world, &[], &STILL);
        t.enter("second words");
        t.see("Second answer.");
        t.see("· done ");
        t.enter("/resume");
        t.see("❯ first words");
        t.press("\r");
        t.see("First answer.");
        until(
            "the resumed session",
            || line(&world.pointers()).contains("(resume) session-start"),
            || line(&world.pointers()),
        );
        t.signal(Signal::KILL);
        t.ended();
        let events = world.pointers();
        assert_rang(
            &events,
            "session-start(startup) user-prompt-submit stop session-end(prompt_input_exit) \
             session-start(startup) user-prompt-submit stop session-end(resume) session-start(resume)",
        );
        assert_eq!(events.last().map(|e| &e.session), Some(&events[0].session));
        assert_eq!(events[7].session, events[4].session);
    });
}

#[test]
fn what_was_rewound_stays_and_is_marked() {
    scenario("screen::what_was_rewound_stays_and_is_marked", |world| {
        world.install_in_step();
        world.api.turn("first words", &[vec![text("First answer.")]]);
        world.api.turn("wrong words", &[vec![text("Wrong answer.")]]);
        world.api.turn("right words", &[vec![text("Right answer.")]]);
        let mut t = Terminal::start(world, &[], &STILL);
        t.enter("first words");
        t.see("First answer.");
        t.enter("wrong words");
        t.see("Wrong answer.");
        t.see_count("· done ", 2);
        t.enter("/rewind");
        t.see("(current)");
        t.press("\x1b[A");
        t.see("❯ wrong words\n");
        t.press("\r");
        t.see("❯ 1. Restore conversation");
        t.press("\r");
        t.see_no("Wrong answer.");
        t.press("\x15");
        t.see_no("wrong words");
        t.enter("right words");
        t.see("Right answer.");
        t.see_count("· done ", 2);
        t.enter("/exit");
        t.ended();
        world.drain();
        let session = world.json(&["sessions"])[0]["id"].as_str().unwrap().to_owned();
        let texts: Vec<_> =
            world.records(&session).iter().map(|r| r["text"].as_str().unwrap().to_owned()).collect();
        for words in ["first words", "wrong words", "Wrong answer.", "right words", "Right answer."] {
            assert!(texts.iter().any(|t| t == words), "{words}: {texts:?}");
        }
        // Kept, marked, ranked down; and what the session was about does not know it.
        let status = |words: &str| {
            let hits = world.json(&["search", words, "--kind", "observation"])[0]["hits"].clone();
            let hits = hits.as_array().unwrap();
            hits.iter().find(|h| h["excerpt"][0]["text"] == words).map(|h| h["status"].clone())
        };
        for (words, expected) in [
            ("first words", json!(null)),
            ("wrong words", json!("superseded")),
            ("Wrong answer.", json!("superseded")),
            ("Right answer.", json!(null)),
        ] {
            assert_eq!(status(words), Some(expected), "{words}");
        }
        let hits = world.json(&["search", "words answer", "--kind", "observation"])[0]["hits"].clone();
        let last = hits.as_array().unwrap().last().unwrap()["status"].clone();
        assert_eq!(last, "superseded", "{hits:#}");
        let all = world.json(&["inspect", "--view", "records"]);
        let summary =
            all.iter().find(|r| r["kind"] == "session-summary").unwrap()["text"].as_str().unwrap().to_owned();
        assert!(summary.contains("right words") && !summary.contains("rong"), "{summary}");
    });
}
