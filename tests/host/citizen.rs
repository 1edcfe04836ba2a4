//! Installed once, undone by one command: settings, MCP server, plugin, in the client itself.

use crate::rig::*;
use serde_json::Value;

/// A person's own settings, in their own style.
const SETTINGS: &str = "{\n\t\"model\": \"claude-opus-5-5\",\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{ \"hooks\": [ { \"type\": \"command\", \"command\": \"true\" } ] }\n\t\t]\n\t},\n\t\"env\": { \"HARBOR\": \"1\" }\n}\n";

#[test]
fn after_uninstall_nothing_of_ours_runs() {
    scenario("citizen::after_uninstall_nothing_of_ours_runs", |world| {
        let settings = world.claude_dir().join("settings.json");
        write(&settings, SETTINGS);
        world.install();
        assert_ne!(std::fs::read_to_string(&settings).unwrap(), SETTINGS);
        let installed = std::fs::read(&settings).unwrap();
        let second = world.install();
        assert_eq!(std::fs::read(&settings).unwrap(), installed, "a second run changed something: {second}");
        world.api.turn("first words", &[vec![text("First answer.")]]);
        let said = world.print("first words", &[]);
        world.settle(&said.session());

        let listed = world.run(&["uninstall", "--dry-run"]);
        assert!(listed.contains(settings.to_str().unwrap()), "{listed}");
        assert_eq!(std::fs::read(&settings).unwrap(), installed);
        world.run(&["uninstall"]);
        assert_eq!(std::fs::read_to_string(&settings).unwrap(), SETTINGS);
        let state: Value =
            serde_json::from_slice(&std::fs::read(world.home().join(".claude.json")).unwrap()).unwrap();
        assert!(state["mcpServers"]["sinker"].is_null(), "{state}");
        let (before, log) = (world.json(&["status"])[0]["store"]["documents"].clone(), world.logs());
        world.api.turn("second words", &[vec![bash("toolu_01", "ls")], vec![text("Second answer.")]]);
        let said = world.print("second words", &[]);
        assert_eq!(said.code, Some(0));
        assert_eq!(world.pointers().len(), 0, "a hook of ours ran");
        assert!(world.api.requests().iter().all(|r| r.notes().is_empty()));
        assert_eq!((world.json(&["status"])[0]["store"]["documents"].clone(), world.logs()), (before, log));

        world.run(&["uninstall", "--purge", "--yes"]);
        assert!(!world.data("").exists(), "the data directory is still there");
    });
}

#[test]
fn the_plugin_is_accepted_and_works_from_a_folder_and_from_a_marketplace() {
    scenario("citizen::the_plugin_is_accepted_and_works_from_a_folder_and_from_a_marketplace", |world| {
        let plugin = world.home().join("sinker plugin");
        let dir = plugin.to_str().unwrap();
        world.run(&["install", "--plugin", dir]);
        let valid = finish(world.claude(&["plugin", "validate", dir]), "");
        assert_eq!(valid.code, Some(0), "{valid:?}");

        world.api.turn("first words", &[vec![text("First answer.")]]);
        let (said, events) = world.events_of("first words", &["--plugin-dir", dir]);
        assert_eq!(said.code, Some(0), "{said:?}");
        assert_rang(&events, "session-start(startup) user-prompt-submit stop? session-end(other)");
        let request = world.api.asked("first words").remove(0);
        assert!(request.text().contains("mcp__plugin_sinker_sinker__memory_search"), "{}", world.api.story());
        assert!(request.text().contains("sinker:memory"), "the skill is listed");
        world.drain();

        // A marketplace of one, on this disk.
        for args in [&["plugin", "marketplace", "add", dir][..], &["plugin", "install", "sinker@sinker"]] {
            let out = finish(world.claude(args), "");
            assert_eq!(out.code, Some(0), "{args:?}: {out:?}");
        }
        world.api.turn("second words", &[vec![text("Second answer.")]]);
        let (_, events) = world.events_of("second words", &[]);
        assert_rang(&events, "session-start(startup) user-prompt-submit stop? session-end(other)");
        // Both at once would ring twice.
        let both = finish(world.sinker(&["install"]), "");
        assert_eq!(both.code, Some(4), "{both:?}");
        assert!(both.stderr.contains("hint:"), "{both:?}");
    });
}

#[test]
fn a_person_who_has_settings_in_the_project_too_is_captured_once() {
    scenario("citizen::a_person_who_has_settings_in_the_project_too_is_captured_once", |world| {
        world.install();
        world.run(&["install", "--scope", "local"]);
        world.api.turn("first words", &[vec![text("First answer.")]]);
        let (_, events) = world.events_of("first words", &[]);
        assert_rang(&events, "session-start(startup) user-prompt-submit stop? session-end(other)");
    });
}
