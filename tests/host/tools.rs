//! The assistant asks its memory by itself: the MCP server, as the client starts it.

use crate::rig::*;
use serde_json::json;

#[test]
fn the_assistant_finds_loads_and_calls_our_tools() {
    scenario("tools::the_assistant_finds_loads_and_calls_our_tools", |world| {
        world.install();
        world.api.turn("Which port shall the harbor gateway use?", &[vec![text(DECISION)]]);
        let first = world.print("Which port shall the harbor gateway use?", &[]);
        world.settle(&first.session());
        world.api.clear();

        let search = json!({ "query": "harbor gateway port" });
        world.api.turn(
            "Ask your memory.",
            &[
                vec![call(
                    "toolu_01",
                    "ToolSearch",
                    json!({ "query": "select:mcp__sinker__memory_search,mcp__sinker__memory_get" }),
                )],
                vec![call("toolu_02", "mcp__sinker__memory_search", search)],
                vec![call("toolu_03", "mcp__sinker__memory_status", json!({}))],
                vec![text("It is 7443.")],
            ],
        );
        let second = world.print("Ask your memory.", &[]);
        let asked = world.api.asked("Ask your memory.").remove(0);
        assert!(asked.text().contains("mcp__sinker__memory_search"), "the deferred tools name it");
        assert!(asked.text().contains("memory_search"), "{}", world.api.story());
        let found = world.api.asked("result of toolu_02").remove(0);
        assert!(found.newest.contains(DECISION), "{}", found.newest);
        assert!(found.newest.contains(&first.session()), "where it comes from: {}", found.newest);
        let status = world.api.asked("result of toolu_03").remove(0);
        assert!(status.newest.len() > 40 && !status.newest.contains("error"), "{}", status.newest);

        // What our own tools answered does not become memory.
        world.settle(&second.session());
        let copies = world.json(&["inspect", "--view", "records"]);
        let copies: Vec<_> = copies
            .iter()
            .filter(|r| r["kind"] == "observation" && r["text"].as_str().unwrap().contains("port 7443"))
            .collect();
        assert_eq!(copies.len(), 1, "{copies:#?}");
        let listed = finish(world.claude(&["mcp", "list"]), "");
        assert!(listed.stdout.contains("sinker") && listed.stdout.contains("Connected"), "{listed:?}");
    });
}
