//! When the host is late or gone: what was said is found all the same.

use crate::rig::*;
use rustix::process::Signal;
use serde_json::json;

#[test]
fn the_last_message_at_a_terminal_is_searchable_while_the_client_goes_on() {
    scenario("late::the_last_message_at_a_terminal_is_searchable_while_the_client_goes_on", |world| {
        world.install();
        world.api.turn(
            "first words",
            &[vec![bash("toolu_01", "ls")], vec![text("The first answer about the keel.")]],
        );
        world.api.turn("second words", &[vec![text("The second answer about the mast.")]]);
        let mut t = Terminal::start(world, &[], &[]);
        let mut session = String::new();
        for (prompt, answer) in [("first words", "about the keel."), ("second words", "about the mast.")] {
            t.enter(prompt);
            t.see(answer);
            // The client writes the message up to a second after the stop's hook: the drainer looks again.
            let found = || {
                let hits = world.json(&["search", answer, "--speaker", "assistant"]);
                hits[0]["hits"].as_array().and_then(|h| h.first().cloned())
            };
            until(answer, || found().is_some(), || world.logs());
            session = found().unwrap()["session"].as_str().unwrap().to_owned();
            world.settle(&session);
        }
        // It goes without a word: the session is whole, and has no end.
        t.signal(Signal::KILL);
        t.ended();
        world.settle(&session);
        let all = world.json(&["sessions"]);
        assert_eq!((all.len(), &all[0]["reason"]), (1, &json!(null)), "{all:#?}");
    });
}

#[test]
fn a_session_whose_pointers_were_lost_is_found_by_the_sweep() {
    scenario("late::a_session_whose_pointers_were_lost_is_found_by_the_sweep", |world| {
        world.install();
        world.api.turn("first words", &[vec![bash("toolu_01", "ls")], vec![text("First answer.")]]);
        let (said, events) = world.events_of("first words", &[]);
        assert!(!events.is_empty());
        std::fs::remove_dir_all(world.data("spool")).unwrap();
        world.drain();
        let texts: Vec<String> =
            world.records(&said.session()).iter().map(|r| r["text"].as_str().unwrap().to_owned()).collect();
        assert_eq!((texts.len(), texts.last().map(String::as_str)), (4, Some("First answer.")), "{texts:?}");
    });
}

#[test]
fn a_prompt_of_an_mcp_server_is_stored_as_typed() {
    scenario("late::a_prompt_of_an_mcp_server_is_stored_as_typed", |world| {
        world.install_in_step();
        // A server with one prompt, in the words of the protocol.
        let server = r#"#!/bin/bash
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/p')
  answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
  case "$line" in
    *'"method":"initialize"'*) answer '{"protocolVersion":"2025-11-25","capabilities":{"prompts":{}},"serverInfo":{"name":"tides","version":"1"}}' ;;
    *'"method":"prompts/list"'*) answer '{"prompts":[{"name":"ebb","description":"Asks about the ebb"}]}' ;;
    *'"method":"prompts/get"'*) answer '{"messages":[{"role":"user","content":{"type":"text","text":"When is the ebb at the harbor?"}}]}' ;;
    *'"method":"notifications/'*) ;;
    *) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}\n' "$id" ;;
  esac
done
"#;
        let script = world.home().join("tides.sh");
        write(&script, server);
        let added = finish(
            world.claude(&["mcp", "add", "--scope", "user", "tides", "--", "bash", script.to_str().unwrap()]),
            "",
        );
        assert_eq!(added.code, Some(0), "{added:?}");
        world.api.turn("When is the ebb", &[vec![text("At six.")]]);
        let mut t = Terminal::start(world, &[], &[("SINKER_AUTOSTART", "0")]);
        t.press("/tides");
        t.see("ebb");
        t.press("\r");
        t.see("At six.");
        t.enter("/exit");
        t.ended();
        assert_rang(
            &world.pointers(),
            "session-start(startup) user-prompt-submit? stop session-end(prompt_input_exit)",
        );
        world.drain();
        let hits =
            world.json(&["search", "--command", "mcp__tides__ebb", "--kind", "observation"])[0]["hits"]
                .clone();
        assert_eq!((&hits[0]["speaker"], hits.as_array().unwrap().len()), (&json!("user"), 1), "{hits:#}");
        let texts: Vec<_> = world.json(&["inspect", "--view", "records"]);
        let texts = texts.iter().filter(|r| r["kind"] == "observation").count();
        assert_eq!(texts, 2, "what the server wrote is nobody's word");
    });
}
