//! The working memory of a project, in the client: failures, the read gate, the host's own memory, open work.

use crate::rig::*;
use serde_json::{Value, json};

fn failures(world: &World) -> Vec<Value> {
    world.json(&["inspect", "--view", "failures"])
}

#[test]
fn a_failed_command_is_counted_told_and_forgotten_of_when_it_works() {
    scenario("working::a_failed_command_is_counted_told_and_forgotten_of_when_it_works", |world| {
        world.install();
        let build = |id: &str| bash(id, "cat keel.mk 2>&1");
        world.api.turn(
            "Build the keel.",
            &[vec![build("toolu_a1")], vec![build("toolu_a2")], vec![text("The keel needs keel.mk.")]],
        );
        let first = world.print("Build the keel.", &[]);
        world.settle(&first.session());
        let all = failures(world);
        assert_eq!(all.len(), 1, "{all:#?}");
        assert_eq!(
            (&all[0]["count"], &all[0]["status"], &all[0]["exit"]),
            (&json!(2), &json!("current"), &json!(1))
        );
        world.api.clear();
        std::fs::write(world.project().join("keel.mk"), "oak\n").unwrap();
        world.api.turn("Try again, please.", &[vec![build("toolu_b1")], vec![text("It works.")]]);
        let second = world.print("Try again, please.", &[]);
        let told = world.api.asked("result of toolu_b1").remove(0);
        let notes = told.notes().join("\n");
        assert!(notes.contains("failed: cat keel.mk") && notes.contains("(2 times)"), "{notes}");
        world.settle(&second.session());
        let all = failures(world);
        assert_eq!(
            (&all[0]["status"], &all[0]["fixed"]["session"]),
            (&json!("superseded"), &json!(second.session()))
        );
    });
}

#[test]
fn the_read_gate_denies_a_large_known_file_once() {
    scenario("working::the_read_gate_denies_a_large_known_file_once", |world| {
        let settings = "[recall]\ndeadline_ms = 1000\nread_gate = true\nread_gate_bytes = 4000\n";
        std::fs::write(world.home().join(".config/sinker/config.toml"), settings).unwrap();
        world.install();
        let path = world.project().join("src/tables.rs");
        std::fs::write(&path, format!("// tides\n{}", "const TIDE: u8 = 1;\n".repeat(400))).unwrap();
        let read = |id: &str| call(id, "Read", json!({ "file_path": path }));
        let edit = json!({ "file_path": path, "old_string": "// tides", "new_string": "// tides of Brest" });
        world.api.turn(
            "Name the port of the tides.",
            &[
                vec![read("toolu_a1")],
                vec![call("toolu_a2", "Edit", edit)],
                vec![text("The tables hold the tides of Brest now, for the years to 2030.")],
            ],
        );
        let first = world.print("Name the port of the tides.", &[]);
        world.settle(&first.session());
        world.api.clear();
        world.api.turn(
            "Look into the tables.",
            &[vec![read("toolu_b1")], vec![read("toolu_b2")], vec![text("Seen.")]],
        );
        let second = world.print("Look into the tables.", &[]);
        let denied = world.api.asked("result of toolu_b1").remove(0).newest;
        assert!(
            denied.contains("Sinker: this file has 9 kB") && denied.contains("offset and limit"),
            "{denied}"
        );
        assert!(!denied.contains("const TIDE"), "{denied}");
        let told = world.api.asked("result of toolu_b1").remove(0).text();
        assert!(told.contains("tides of Brest now"), "{told}");
        let passed = world.api.asked("result of toolu_b2").remove(0).newest;
        assert!(passed.contains("const TIDE"), "{passed}");
        world.settle(&second.session());
        // What the gate said is no failure, and no memory of the session.
        assert_eq!(failures(world), Vec::<Value>::new());
        let status = world.json(&["status"]).remove(0);
        assert_eq!(status["gate"], json!({ "denied": 1, "saved_bytes": 0 }), "it was read whole after all");
        let records = world.json(&["inspect", "--view", "records"]);
        let own = records
            .iter()
            .filter(|r| r["session"] == second.session().as_str() && r["kind"] == "observation");
        for record in own {
            assert!(!record["text"].as_str().unwrap().contains("tides of Brest now"), "{record:#}");
        }
    });
}

#[test]
fn a_note_of_the_hosts_own_memory_brings_what_we_know_of_it() {
    scenario("working::a_note_of_the_hosts_own_memory_brings_what_we_know_of_it", |world| {
        world.install();
        world.api.turn(
            "Where is the deploy key of the lighthouse?",
            &[vec![text("The deploy key of the lighthouse lies in the vault, under beacons.")]],
        );
        let first = world.print("Where is the deploy key of the lighthouse?", &[]);
        world.settle(&first.session());
        world.api.clear();
        let folders = std::fs::read_dir(world.claude_dir().join("projects")).unwrap();
        let memory =
            folders.filter_map(Result::ok).map(|folder| folder.path().join("memory")).next().unwrap();
        std::fs::create_dir_all(&memory).unwrap();
        let note = memory.join("lighthouse-deploy-key.md");
        std::fs::write(&note, "Ask Ida.\n").unwrap();
        let read = call("toolu_b1", "Read", json!({ "file_path": note }));
        world.api.turn("What do you remember?", &[vec![read], vec![text("Ida knows.")]]);
        world.print("What do you remember?", &[]);
        let asked = world.api.asked("result of toolu_b1").remove(0);
        assert!(asked.newest.contains("Ask Ida."), "the host's tool still runs: {}", asked.newest);
        assert!(asked.notes().iter().any(|note| note.contains("under beacons")), "{:#?}", asked.notes());
    });
}

#[test]
fn open_work_is_told_at_the_start_until_it_is_done() {
    scenario("working::open_work_is_told_at_the_start_until_it_is_done", |world| {
        world.install();
        let steps = "The mast stands.\n\n## Next steps\n- Order new cables for the mast\n- Paint the mast before winter";
        world.api.turn("Raise the mast.", &[vec![text(steps)]]);
        let first = world.print("Raise the mast.", &[]);
        world.settle(&first.session());
        world.run(&["work", "add", "Call the rigger about the shrouds"]);
        let items = world.json(&["work", "list"]);
        assert_eq!(items.len(), 3, "{items:#?}");
        let cables =
            items.iter().find(|item| item["text"].as_str().unwrap().contains("cables")).unwrap()["id"]
                .clone();
        world.api.clear();
        let done = json!({ "id": cables, "state": "done" });
        world.api.turn(
            "How far are we?",
            &[
                vec![call(
                    "toolu_b0",
                    "ToolSearch",
                    json!({ "query": "select:mcp__sinker__work_list,mcp__sinker__work_update" }),
                )],
                vec![call("toolu_b1", "mcp__sinker__work_list", json!({}))],
                vec![call("toolu_b2", "mcp__sinker__work_update", done)],
                vec![text("The cables are here.")],
            ],
        );
        let second = world.print("How far are we?", &[]);
        let brief = world.api.asked("How far are we?").remove(0).notes().join("\n");
        for line in ["(user) Call the rigger about the shrouds", "(assistant) Order new cables for the mast"]
        {
            assert!(brief.contains(line), "{brief}");
        }
        let listed = world.api.asked("result of toolu_b1").remove(0).newest;
        assert!(listed.contains("Paint the mast before winter"), "{listed}");
        let told = world.api.asked("result of toolu_b2").remove(0).newest;
        if !told.contains("done Order new cables") {
            // On a machine that has no time for it the tool says so, and nothing is done by half.
            assert!(told.contains("no answer within"), "{told}");
            world.run(&["work", "done", cables.as_str().unwrap()]);
        }
        world.settle(&second.session());
        // The tool's word may be stored a moment later, by a drainer that has other things to do.
        let left = || -> Vec<String> {
            let items = world.json(&["work", "list"]);
            items.iter().map(|item| item["text"].as_str().unwrap().to_owned()).collect()
        };
        let wanted = ["Call the rigger about the shrouds", "Paint the mast before winter"];
        for _ in 0..200 {
            if left() == wanted {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        assert_eq!(left(), wanted);
        world.api.clear();
        world.api.turn("And now?", &[vec![text("Paint.")]]);
        world.print("And now?", &[]);
        let brief = world.api.asked("And now?").remove(0).notes().join("\n");
        assert!(brief.contains("Paint the mast") && !brief.contains("Order new cables"), "{brief}");
    });
}
