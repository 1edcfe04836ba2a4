//! `sinker demo`: the whole way on shipped sessions, through the real hook entry as child processes, in a temporary home.

use super::Exit;
use super::exit::Failure;
use super::output::{self, Paint};
use crate::clock::Stopwatch;
use crate::fs::{self, FsError, Sync};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Show the whole way on shipped sessions, in a temporary home.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Keep the temporary home, to look around in it
    #[arg(long)]
    keep: bool,
}

macro_rules! shipped {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../spool-fixtures/demo/projects/", $path)))),*]
    };
}

/// Transcripts below the host's `projects` folder.
const TRANSCRIPTS: &[(&str, &str)] = shipped![
    "-home-dev-harbor-api/ed9d3fdc-1850-4f14-abb7-94f735598f53.jsonl",
    "-home-dev-harbor-api/ed9d3fdc-1850-4f14-abb7-94f735598f53/subagents/agent-ac2d393688181edbb.jsonl",
    "-home-dev-harbor-api/ed9d3fdc-1850-4f14-abb7-94f735598f53/subagents/agent-ac2d393688181edbb.meta.json",
    "-home-dev-harbor-api/cedbfb2c-e31f-472d-a989-cc52bc703236.jsonl",
    "-home-dev-harbor-api/f1565c4d-7e8c-4c1f-a228-c6944da82e91.jsonl",
    "-home-dev-tide-clock/f7cfeed5-905a-48db-aee7-bc2d865eba6b.jsonl",
];

/// The hook events of each session, in the order of the sessions.
const EVENTS: &[&str] = &[
    include_str!("../../spool-fixtures/demo/events/ed9d3fdc-1850-4f14-abb7-94f735598f53.jsonl"),
    include_str!("../../spool-fixtures/demo/events/cedbfb2c-e31f-472d-a989-cc52bc703236.jsonl"),
    include_str!("../../spool-fixtures/demo/events/f1565c4d-7e8c-4c1f-a228-c6944da82e91.jsonl"),
    include_str!("../../spool-fixtures/demo/events/f7cfeed5-905a-48db-aee7-bc2d865eba6b.jsonl"),
];

const PROMPTS: &str = include_str!("../../spool-fixtures/demo/prompts.json");

#[derive(Deserialize)]
struct Delivery {
    event: String,
    time: String,
    transcript_bytes: usize,
    #[serde(default)]
    agent_bytes: BTreeMap<String, usize>,
    payload: Value,
}

#[derive(Deserialize)]
struct Prompts {
    project_dir: String,
    start: Asked,
    recalls: Asked,
    silent: Asked,
    secrets: Vec<String>,
    private: Vec<String>,
}

#[derive(Deserialize)]
struct Asked {
    event: String,
    payload: Value,
    #[serde(default)]
    must_hold: Vec<String>,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let watch = Stopwatch::start();
    let root = std::env::temp_dir().join(format!("sinker-demo-{}", std::process::id()));
    fs::remove_tree(&root)?;
    fs::make_private_dir(&root)?;
    let stage = Stage { root: root.clone(), paint: Paint::new() };
    let shown = stage.play();
    if args.keep {
        output::say(&format!("\nkept: SINKER_HOME={}", stage.home().display()));
    } else {
        fs::remove_tree(&root)?;
    }
    let good = shown?;
    output::say(&format!("\n{:.1} s in all.", watch.elapsed().as_secs_f64()));
    if !good {
        return Err(Failure::new("the demo did not show what it should")
            .hint("`sinker demo --keep` leaves its home for a look; please report it"));
    }
    output::say("\nNext:");
    output::say("  scripts/dist                     build the binary to install");
    output::say(
        "  sinker install                   enter it in Claude Code's settings; `sinker uninstall` undoes it",
    );
    output::say("  sinker import                    take in what Claude Code has kept so far");
    output::say("  sinker search WORDS --all        look through it");
    output::say("  sinker status                    see whether everything is stored");
    Ok(Exit::Done)
}

struct Stage {
    root: PathBuf,
    paint: Paint,
}

impl Stage {
    fn home(&self) -> PathBuf {
        self.root.join("data")
    }

    fn projects(&self) -> PathBuf {
        self.root.join("claude/projects")
    }

    fn head(&self, n: u8, text: &str) {
        output::say(&format!("\n{} {}", self.paint.accent(&format!("{n}.")), self.paint.bold(text)));
    }

    fn play(&self) -> Result<bool, Failure> {
        let prompts: Prompts = parse(PROMPTS)?;
        self.head(1, "Capture: four past sessions run, their hooks drop pointers");
        self.capture()?;
        self.head(2, "Drain: transcripts are read behind the pointers, redacted, stored, indexed");
        self.drain()?;
        self.head(3, "Recall: a new session of harbor-api begins");
        let brief = self.ask(&prompts.project_dir, &prompts.start)?;
        output::say("\n   and asks about what an earlier one found out:");
        let answer = self.ask(&prompts.project_dir, &prompts.recalls)?;
        // What the brief has told is not told again: the model knows both.
        let told = format!("{brief}{answer}");
        let held =
            !answer.is_empty() && prompts.recalls.must_hold.iter().all(|words| told.contains(words.as_str()));
        output::say("\n   and asks something that no session knows:");
        let silence = self.ask(&prompts.project_dir, &prompts.silent)?;
        self.head(
            4,
            "Secrets: every file written was searched for the token and the private span of these sessions",
        );
        let leaks = self.leaks(&prompts)?;
        let verdict = if leaks == 0 {
            self.paint.good("none found")
        } else {
            self.paint.bad(&format!("{leaks} found"))
        };
        output::say(&format!("   {verdict}"));
        Ok(!brief.is_empty() && held && silence.is_empty() && leaks == 0)
    }

    fn capture(&self) -> Result<(), Failure> {
        let mut times = Vec::new();
        for session in EVENTS {
            for line in session.lines() {
                let delivery: Delivery = parse(line)?;
                self.write_transcripts(&delivery)?;
                let watch = Stopwatch::start();
                let project = delivery.payload.get("cwd").and_then(Value::as_str).unwrap_or("/").to_owned();
                self.hook(&delivery.event, &project, &delivery.payload, Some(&delivery.time))?;
                times.push(watch.ms());
            }
            // After its end the host leaves the transcript whole.
            self.write_whole(session)?;
        }
        times.sort_by(f64::total_cmp);
        let median = times.get(times.len() / 2).copied().unwrap_or(0.0);
        let most = times.last().copied().unwrap_or(0.0);
        let new = std::fs::read_dir(self.home().join("spool/new")).map_or(0, Iterator::count);
        output::say(&format!(
            "   {} events, {new} pointers in the spool; a hook took {median:.1} ms (median), {most:.1} ms (longest)",
            times.len()
        ));
        Ok(())
    }

    fn drain(&self) -> Result<(), Failure> {
        let watch = Stopwatch::start();
        let text = self.sinker(&["drain", "--once", "--json"], "", None, None)?;
        let done: Value = parse(&text)?;
        let number = |key: &str| done.get(key).and_then(Value::as_u64).unwrap_or(0);
        output::say(&format!(
            "   {} pointers, {} files, {} observations, {} documents in {:.0} ms",
            number("entries"),
            number("files"),
            number("observations"),
            number("documents"),
            watch.ms()
        ));
        let status: Value = parse(&self.sinker(&["status", "--json"], "", None, None)?)?;
        if let Some(redacted) = status.get("redacted") {
            output::say(&format!("   redacted on the way: {redacted}"));
        }
        Ok(())
    }

    /// Runs a recall hook and shows its reply. Returns the injected text, empty when it said nothing.
    fn ask(&self, project: &str, asked: &Asked) -> Result<String, Failure> {
        if let Some(prompt) = asked.payload.get("prompt").and_then(Value::as_str) {
            output::say(&format!("   {} {prompt}", self.paint.dim("prompt:")));
        }
        let watch = Stopwatch::start();
        let reply = self.hook(&asked.event, project, &asked.payload, None)?;
        let ms = watch.ms();
        if reply.is_empty() {
            output::say(&format!("   {} nothing, zero bytes ({ms:.1} ms)", self.paint.dim("reply:")));
            return Ok(String::new());
        }
        let json: Value = parse(&reply)?;
        let text =
            json.pointer("/hookSpecificOutput/additionalContext").and_then(Value::as_str).unwrap_or_default();
        output::say(&format!(
            "   {} ({ms:.1} ms, {} characters injected)",
            self.paint.dim("reply:"),
            text.chars().count()
        ));
        output::say(&format!("   {reply}"));
        output::say(&format!("   {}", self.paint.dim("which the model reads as:")));
        for line in text.lines() {
            output::say(&format!("     {line}"));
        }
        Ok(text.to_owned())
    }

    fn hook(
        &self,
        event: &str,
        project: &str,
        payload: &Value,
        time: Option<&str>,
    ) -> Result<String, Failure> {
        let projects = self.projects().to_string_lossy().into_owned();
        let text = payload.to_string().replace("{{transcripts}}", &projects);
        self.sinker(&["hook", "claude", event], &text, Some(project), time)
    }

    fn sinker(
        &self,
        args: &[&str],
        stdin: &str,
        project: Option<&str>,
        time: Option<&str>,
    ) -> Result<String, Failure> {
        let failed =
            |what: &str, error: std::io::Error| Failure::new(format!("cannot {what} sinker: {error}"));
        let own = std::env::current_exe().map_err(|e| failed("find", e))?;
        let mut command = Command::new(own);
        command.args(args).env_clear().current_dir(&self.root);
        command.env("HOME", &self.root).env("SINKER_HOME", self.home()).env("SINKER_AUTOSTART", "0");
        command
            .env("SINKER_CONFIG", self.root.join("config.toml"))
            .env("CLAUDE_CONFIG_DIR", self.root.join("claude"));
        if let Some(project) = project {
            command.env("CLAUDE_PROJECT_DIR", project);
        }
        if let Some(time) = time {
            command.env("SINKER_NOW", time);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().map_err(|e| failed("start", e))?;
        if let Some(mut pipe) = child.stdin.take() {
            pipe.write_all(stdin.as_bytes()).map_err(|e| failed("write to", e))?;
        }
        let done = child.wait_with_output().map_err(|e| failed("wait for", e))?;
        if !done.status.success() {
            return Err(Failure::new(format!("sinker {} ended with {}", args.join(" "), done.status)));
        }
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    }

    fn write_transcripts(&self, delivery: &Delivery) -> Result<(), FsError> {
        let path = delivery.payload.get("transcript_path").and_then(Value::as_str).unwrap_or_default();
        let name = path.trim_start_matches("{{transcripts}}/");
        self.write(name, Some(delivery.transcript_bytes))?;
        for (name, bytes) in &delivery.agent_bytes {
            self.write(name, Some(*bytes))?;
            self.write(&name.replace(".jsonl", ".meta.json"), None)?;
        }
        Ok(())
    }

    fn write_whole(&self, session: &str) -> Result<(), Failure> {
        let Some(last) = session.lines().last() else { return Ok(()) };
        let delivery: Delivery = parse(last)?;
        let path = delivery.payload.get("transcript_path").and_then(Value::as_str).unwrap_or_default();
        Ok(self.write(path.trim_start_matches("{{transcripts}}/"), None)?)
    }

    /// Brings a shipped transcript to its first `bytes`, or the whole. Zero bytes: no file yet.
    fn write(&self, name: &str, bytes: Option<usize>) -> Result<(), FsError> {
        let Some((_, text)) = TRANSCRIPTS.iter().find(|(known, _)| *known == name) else { return Ok(()) };
        let part = bytes.map_or(*text, |n| text.get(..n).unwrap_or(text));
        if part.is_empty() {
            return Ok(());
        }
        let path = self.projects().join(name);
        if let Some(folder) = path.parent() {
            fs::make_private_dir(folder)?;
        }
        fs::replace(&path, part.as_bytes(), Sync::No)
    }

    /// How often a secret of the fixtures stands in what was written: in the raw files, and in every stored document.
    fn leaks(&self, prompts: &Prompts) -> Result<usize, Failure> {
        let secrets: Vec<&str> = prompts.secrets.iter().chain(&prompts.private).map(String::as_str).collect();
        let count = |bytes: &[u8]| {
            secrets.iter().filter(|s| memchr::memmem::find(bytes, s.as_bytes()).is_some()).count()
        };
        let mut leaks = 0;
        for file in walkdir::WalkDir::new(self.home()).into_iter().filter_map(Result::ok) {
            if file.file_type().is_file() {
                leaks += std::fs::read(file.path()).map_or(0, |bytes| count(&bytes));
            }
        }
        // Rows are compressed: what they hold is looked at as well.
        let rows = self.sinker(&["inspect", "--view", "records", "--json"], "", None, None)?;
        Ok(leaks + count(rows.as_bytes()))
    }
}

fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Failure> {
    serde_json::from_str(text)
        .map_err(|e| Failure::new(format!("a shipped file or a reply cannot be read: {e}")))
}
