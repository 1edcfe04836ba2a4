//! What the hooks cost inside the client: not a test, a measurement (`scripts/bench/host`).

use crate::rig::*;
use serde_json::{Value, json};
use std::path::Path;

/// Tool calls of the measured turn.
const TOOLS_A_TURN: usize = 12;

/// Whose hooks run.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Hooks {
    None,
    /// `/bin/true` in place of each of our commands, sync and async as ours.
    True,
    Ours,
}

fn enter(settings: &Path, installed: &Value, hooks: Hooks) {
    let mut settings_now = installed.clone();
    match hooks {
        Hooks::None => drop(settings_now.as_object_mut().unwrap().remove("hooks")),
        Hooks::True => replace(&mut settings_now["hooks"]),
        Hooks::Ours => {}
    }
    write(settings, &settings_now.to_string());
}

fn replace(value: &mut Value) {
    match value {
        Value::Array(all) => all.iter_mut().for_each(replace),
        Value::Object(map) => {
            if map.contains_key("command") {
                map.insert("command".to_owned(), json!("/bin/true"));
            }
            map.values_mut().for_each(replace);
        }
        _ => {}
    }
}

/// Half of a turn's calls read a file with a history, the other half run a command.
fn turn(world: &World, prompt: &str) {
    let one = |n: usize| {
        let id = format!("toolu_{n:02}");
        if n.is_multiple_of(2) {
            bash(&id, "ls src")
        } else {
            call(&id, "Read", json!({ "file_path": world.project().join("src/lib.rs") }))
        }
    };
    let mut replies: Vec<Vec<Value>> = (0..TOOLS_A_TURN).map(|n| vec![one(n)]).collect();
    replies.push(vec![text("Looked.")]);
    world.api.turn(prompt, &replies);
}

fn at(sorted: &[f64], share: f64) -> f64 {
    let place = (sorted.len() as f64 * share).ceil() as usize;
    sorted[place.clamp(1, sorted.len()) - 1]
}

#[test]
#[ignore = "a measurement: scripts/bench/host"]
fn a_turn_of_twelve_tools() {
    scenario("measure::a_turn_of_twelve_tools", |world| {
        let rounds: usize = std::env::var("ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
        world.install();
        let settings = world.claude_dir().join("settings.json");
        let installed: Value = serde_json::from_slice(&std::fs::read(&settings).unwrap()).unwrap();
        // A memory to be asked.
        let edit = json!({ "file_path": world.project().join("src/lib.rs"), "old_string": "8080", "new_string": "7443" });
        let read = call("toolu_p1", "Read", json!({ "file_path": world.project().join("src/lib.rs") }));
        world.api.turn(
            "Which port shall it use?",
            &[vec![read], vec![call("toolu_p2", "Edit", edit)], vec![text(DECISION)]],
        );
        let said = world.print("Which port shall it use?", &[]);
        world.settle(&said.session());
        world.api.clear();

        let all = [Hooks::None, Hooks::True, Hooks::Ours];
        let mut times = [const { Vec::<f64>::new() }; 3];
        let mut injected = Vec::new();
        for round in 0..=rounds {
            for (n, hooks) in all.into_iter().enumerate() {
                enter(&settings, &installed, hooks);
                let prompt = format!("Look around the harbor, round {round}.");
                turn(world, &prompt);
                let said = world.print(&prompt, &[]);
                assert_eq!(said.code, Some(0), "{said:?}");
                // The first round warms everything up.
                if round > 0 {
                    times[n].push(said.result["duration_ms"].as_f64().unwrap());
                }
                if hooks == Hooks::Ours {
                    let last = format!("result of toolu_{:02}", TOOLS_A_TURN - 1);
                    let notes = world.api.asked(&last).pop().unwrap().notes();
                    injected.push(notes.iter().map(|n| n.chars().count()).sum::<usize>() as f64);
                }
                world.api.clear();
            }
        }
        times.iter_mut().for_each(|t| t.sort_by(f64::total_cmp));
        injected.sort_by(f64::total_cmp);
        println!(
            "| a turn of {TOOLS_A_TURN} tools in the client, {rounds} rounds | median | p95 | against none |"
        );
        println!("|---|---|---|---|");
        let names = ["no hooks", "`/bin/true` in place of each of our hooks", "our hooks"];
        for (name, t) in names.iter().zip(&times) {
            let ratio = at(t, 0.5) / at(&times[0], 0.5);
            println!("| {name} | {:.0} ms | {:.0} ms | {ratio:.2}x |", at(t, 0.5), at(t, 0.95));
        }
        println!("| characters injected | {:.0} | {:.0} | |", at(&injected, 0.5), at(&injected, 0.95));
    });
}
