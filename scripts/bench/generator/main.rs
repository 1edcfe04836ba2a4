//! Writes transcripts of any size, the same for the same seed, shaped like those of real sessions. `scripts/bench/corpus` builds and starts it.
//!
//! Lengths, shares and rates are quantiles that were measured on real sessions (`scripts/bench/corpus --describe` prints them for any folder);
//! the words are made up, but for a list of common ones. A session's bytes depend on the seed and its number alone: a smaller corpus
//! is the beginning of a larger one, and sessions are written by as many threads as there are processors, each through a small buffer.

#![allow(
    missing_docs,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::cast_possible_truncation,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::let_underscore_must_use,
    clippy::explicit_auto_deref,
    reason = "a program for measurements, made of the standard library alone; none of it is in the product"
)]

mod numbers;
mod session;
mod texts;
mod tools;
mod words;

use numbers::{OBSERVATIONS_LONG, OBSERVATIONS_SHORT, Rng, mix};
use session::{Question, Session, Total, Until, quoted, stamp};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use words::{Language, Project};

pub(crate) type Failed = Box<dyn std::error::Error + Send + Sync>;

#[derive(Default)]
struct Args {
    given: HashMap<String, String>,
}

impl Args {
    fn parse() -> Result<Self, Failed> {
        let mut args = std::env::args().skip(1);
        let mut given = HashMap::new();
        while let Some(name) = args.next() {
            let value = args.next().ok_or_else(|| format!("{name} has no value"))?;
            given.insert(name.trim_start_matches('-').to_owned(), value);
        }
        Ok(Self { given })
    }

    fn number(&self, name: &str) -> Result<Option<u64>, Failed> {
        Ok(self
            .given
            .get(name)
            .map(|text| text.parse())
            .transpose()
            .map_err(|error| format!("--{name}: {error}"))?)
    }
}

/// One session to be written.
struct Plan {
    number: u64,
    until: Until,
    giant: Option<usize>,
}

fn main() -> Result<(), Failed> {
    let args = Args::parse()?;
    let seed = args.number("seed")?.unwrap_or(1);
    let out = PathBuf::from(args.given.get("out").ok_or("--out DIR is missing")?);
    let spool = args.number("spool")?;
    let plans = if let Some(wanted) = args.number("observations")? {
        by_observations(seed, wanted)
    } else if let Some(bytes) = args.number("one-file")? {
        vec![Plan { number: 0, until: Until::Bytes(bytes), giant: None }]
    } else if let Some(bytes) = args.number("one-line")? {
        // A result stands twice in its line.
        vec![Plan { number: 0, until: Until::Observations(40), giant: Some(usize::try_from(bytes / 2)?) }]
    } else {
        let files = args.number("transcripts")?.or(spool.map(|entries| entries.div_ceil(20)));
        let files =
            files.ok_or("one of --observations, --one-file, --one-line, --transcripts, --spool is needed")?;
        (0..files).map(|number| Plan { number, until: Until::Observations(3), giant: None }).collect()
    };
    let (total, questions) = write(&args, seed, &out, &plans)?;
    if let Some(path) = args.given.get("prompts") {
        write_prompts(path, seed, questions)?;
    } else if let Some(entries) = spool {
        let home = PathBuf::from(args.given.get("home").ok_or("--spool needs --home DIR")?);
        write_spool(&home, seed, entries, &out, &questions)?;
    }
    println!(
        "{{\"files\": {}, \"sessions\": {}, \"observations\": {}, \"text_bytes\": {}, \"bytes\": {}, \"seed\": {seed}}}",
        total.files, total.sessions, total.observations, total.text_bytes, total.bytes
    );
    Ok(())
}

fn by_observations(seed: u64, wanted: u64) -> Vec<Plan> {
    let (mut plans, mut left) = (Vec::new(), wanted);
    while left > 0 {
        let number = plans.len() as u64;
        let mut rng = Rng(mix(seed, 3_000_003 + number));
        // Half of real files are short: a question, a start that came to nothing.
        let own = if rng.chance(0.45) { rng.size(&OBSERVATIONS_SHORT) } else { rng.size(&OBSERVATIONS_LONG) };
        let own = (own as u64).max(2).min(left);
        left -= own;
        plans.push(Plan { number, until: Until::Observations(own), giant: None });
    }
    plans
}

fn write(
    args: &Args,
    seed: u64,
    out: &std::path::Path,
    plans: &[Plan],
) -> Result<(Total, Vec<Question>), Failed> {
    let fixed = args.number("projects")?;
    let language = Language::new(seed);
    let next = AtomicUsize::new(0);
    let done = Mutex::new((Total::default(), Vec::new()));
    let worker = || -> Result<(), Failed> {
        let mut projects: HashMap<usize, Project> = HashMap::new();
        while let Some(plan) = plans.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut rng = Rng(mix(seed, 5_000_003 + plan.number));
            // A few projects have most of the sessions, and there are ever new ones.
            let many = fixed.map_or(6.0 + (plan.number as f64).sqrt() * 0.75, |n| n as f64);
            let project = rng.low((many as usize).max(1));
            if projects.len() > 64 && !projects.contains_key(&project) {
                projects.clear();
            }
            let project = projects.entry(project).or_insert_with(|| Project::new(&language, seed, project));
            let mut session = Session::new(&language, project, seed, plan.number, out)?;
            session.giant = plan.giant;
            session.one_file = matches!(plan.until, Until::Bytes(_)) || plan.giant.is_some();
            let (total, question) = session.write(plan.until)?;
            let mut done = done.lock().map_err(|_| "another thread failed")?;
            done.0.add(&total);
            done.1.push((plan.number, question));
        }
        Ok(())
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(plans.len().max(1));
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        all.into_iter().try_for_each(|thread| thread.join().map_err(|_| Failed::from("a thread panicked"))?)
    })?;
    let (total, mut questions) = done.into_inner().map_err(|_| "a thread failed")?;
    questions.sort_by_key(|(number, _)| *number);
    Ok((total, questions.into_iter().map(|(_, question)| question).collect()))
}

/// Questions about sessions that were written, a JSON object a line; the same sessions are asked about whatever else there is.
fn write_prompts(path: &str, seed: u64, questions: Vec<Question>) -> Result<(), Failed> {
    const ASK: [&str; 5] = [
        "why does @ fail when @ calls @?",
        "where did we change @ for the @ of @?",
        "continue with @: @ and @ are still open",
        "what did we decide about @ and @ in @?",
        "run the checks of @ again, @ was broken by @",
    ];
    let language = Language::new(seed);
    let mut chosen: Vec<(u64, Question)> = questions
        .into_iter()
        .enumerate()
        .map(|(n, question)| (mix(seed, 9_000_003 + n as u64), question))
        .collect();
    chosen.sort_by_key(|(order, _)| *order);
    let mut file = BufWriter::new(File::create(path)?);
    for (number, (order, question)) in chosen.into_iter().take(2000).enumerate() {
        let mut rng = Rng(order);
        let ask = ASK[rng.below(ASK.len())];
        let prompt = ask.split('@').enumerate().fold(String::new(), |all, (n, part)| {
            if n == 0 { part.to_owned() } else { all + &question.names[(n - 1) % 4] + part }
        });
        // Two thousand words: a task as people paste them, in common words and the names it is about, with the question in the middle.
        let long = if number < 200 {
            let mut words = |count: usize| {
                (0..count)
                    .map(|n| {
                        let word = if n % 16 == 5 {
                            rng.pick(&question.names)
                        } else {
                            &language.words[rng.low(700)]
                        };
                        word.clone() + if n % 14 == 13 { ".\n" } else { " " }
                    })
                    .collect::<String>()
            };
            format!("{}{prompt} {}", words(990), words(1000))
        } else {
            String::new()
        };
        writeln!(
            file,
            "{{\"cwd\":{},\"session\":{},\"prompt\":{},\"long\":{},\"file\":{},\"command\":{},\"error\":{}}}",
            quoted(&question.cwd),
            quoted(&question.session),
            quoted(&prompt),
            quoted(&long),
            quoted(&question.file),
            quoted(&question.failed_command),
            quoted(&question.error)
        )?;
    }
    file.flush()?;
    Ok(())
}

/// Entries of a spool for transcripts that were written, as the hook leaves them.
fn write_spool(
    home: &std::path::Path,
    seed: u64,
    entries: u64,
    out: &std::path::Path,
    sessions: &[Question],
) -> Result<(), Failed> {
    for part in ["new", "tmp", "cur", "odd"] {
        std::fs::create_dir_all(home.join("spool").join(part))?;
    }
    let mut rng = Rng(mix(seed, 11_000_003));
    for number in 0..entries {
        let of = &sessions[(number % sessions.len() as u64) as usize];
        let folder = out.join(of.cwd.replace(|c: char| !c.is_ascii_alphanumeric(), "-"));
        let transcript = std::path::absolute(folder.join(format!("{}.jsonl", of.session)))?;
        let cursor = std::fs::metadata(&transcript)?.len();
        let tool = format!("toolu_01{:016x}{number:06x}", rng.next());
        let name = format!("{}.{cursor:016x}.post-tool-use.{tool}.json", of.session);
        let time = stamp(numbers::START + number as f64);
        let text = format!(
            "{{\"v\":1,\"host\":\"claude\",\"event\":\"post-tool-use\",\"session\":\"{}\",\"transcript\":{},\"cursor\":{cursor},\"cwd\":{},\"tool\":\"Bash\",\"tool_use\":\"{tool}\",\"time\":\"{time}\"}}",
            of.session,
            quoted(&transcript.to_string_lossy()),
            quoted(&of.cwd)
        );
        std::fs::write(home.join("spool/new").join(name), text)?;
    }
    Ok(())
}
