//! The records of one session, as the clients of several versions write them.

use crate::Failed;
use crate::numbers::*;
use crate::texts::Author;
use crate::words::{Language, Project};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// What was written.
#[derive(Default, Clone)]
pub(crate) struct Total {
    pub(crate) files: u64,
    pub(crate) sessions: u64,
    pub(crate) observations: u64,
    pub(crate) text_bytes: u64,
    pub(crate) bytes: u64,
}

impl Total {
    pub(crate) fn add(&mut self, other: &Self) {
        self.files += other.files;
        self.sessions += other.sessions;
        self.observations += other.observations;
        self.text_bytes += other.text_bytes;
        self.bytes += other.bytes;
    }
}

/// When a session ends.
#[derive(Clone, Copy)]
pub(crate) enum Until {
    Observations(u64),
    Bytes(u64),
}

/// A file that grows; a megabyte is kept in memory at most, or one line.
pub(crate) struct Sink {
    file: File,
    buffer: Vec<u8>,
    written: u64,
}

impl Sink {
    pub(crate) fn create(path: &Path) -> Result<Self, Failed> {
        Ok(Self { file: File::create(path)?, buffer: Vec::with_capacity(1 << 16), written: 0 })
    }

    fn end_line(&mut self) -> Result<(), Failed> {
        self.buffer.push(b'\n');
        if self.buffer.len() > 1 << 20 { self.flush() } else { Ok(()) }
    }

    pub(crate) fn flush(&mut self) -> Result<(), Failed> {
        self.file.write_all(&self.buffer)?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }
}

/// Adds a JSON string.
fn quote(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut from = 0;
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\t' => "\\t",
            0..0x20 => " ",
            _ => continue,
        };
        out.extend_from_slice(&bytes[from..at]);
        out.extend_from_slice(escape.as_bytes());
        from = at + 1;
    }
    out.extend_from_slice(&bytes[from..]);
    out.push(b'"');
}

pub(crate) fn quoted(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len() + text.len() / 16 + 2);
    quote(&mut out, text);
    String::from_utf8(out).unwrap_or_default()
}

pub(crate) fn uuid(rng: &mut Rng) -> String {
    let (a, b) = (rng.next(), rng.next());
    format!(
        "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
        a >> 32,
        (a >> 16) & 0xffff,
        a & 0xfff,
        b >> 52,
        b & 0xffff_ffff_ffff
    )
}

/// RFC 3339 from seconds since 1970, by the civil calendar.
pub(crate) fn stamp(seconds: f64) -> String {
    let whole = seconds.floor();
    let (days, second) = (whole as i64 / 86_400, whole as i64 % 86_400);
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let (month_from_march, year) = ((5 * day_of_year + 2) / 153, year_of_era + era * 400);
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = if month <= 2 { year + 1 } else { year };
    let ms = ((seconds - whole) * 1000.0) as i64;
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{ms:03}Z",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

/// What a measurement may ask about a session.
#[derive(Default)]
pub(crate) struct Question {
    pub(crate) cwd: String,
    pub(crate) session: String,
    pub(crate) names: Vec<String>,
    pub(crate) file: String,
    pub(crate) failed_command: String,
    pub(crate) error: String,
}

pub(crate) struct Session<'a> {
    pub(crate) author: Author<'a>,
    pub(crate) id: String,
    pub(crate) version: &'static str,
    pub(crate) clock: f64,
    pub(crate) sink: Sink,
    pub(crate) folder: PathBuf,
    /// Of a subagent: its id, and that its records are marked.
    pub(crate) agent: Option<String>,
    pub(crate) parent: String,
    pub(crate) prompt_id: String,
    pub(crate) prompts: u64,
    /// The list of todos, which is written again at each change.
    pub(crate) todos: Vec<String>,
    pub(crate) total: Total,
    pub(crate) question: Question,
    /// A call whose result is to be of that size, once.
    pub(crate) giant: Option<usize>,
    /// Everything goes into one file: no subagents.
    pub(crate) one_file: bool,
    /// Shared parts of the records of this session.
    pub(crate) envelope: String,
}

impl<'a> Session<'a> {
    pub(crate) fn new(
        language: &'a Language,
        project: &'a Project,
        seed: u64,
        number: u64,
        out: &Path,
    ) -> Result<Self, Failed> {
        let mut rng = Rng(mix(seed, 7_000_003 + number));
        let id = uuid(&mut rng);
        let folder = out.join(project.cwd.replace(|c: char| !c.is_ascii_alphanumeric(), "-"));
        std::fs::create_dir_all(&folder)?;
        let topic: Vec<String> = (0..24)
            .map(|n| {
                if n % 2 == 0 {
                    project.names[rng.below(project.names.len())].clone()
                } else {
                    language.identifier(&mut rng)
                }
            })
            .collect();
        let version = share(&mut rng, &VERSIONS);
        let clock = START + number as f64 * BETWEEN_SESSIONS + rng.unit() * 300.0;
        let question = Question {
            cwd: project.cwd.clone(),
            session: id.clone(),
            names: (0..4).map(|_| rng.pick(&topic).clone()).collect(),
            ..Question::default()
        };
        let sink = Sink::create(&folder.join(format!("{id}.jsonl")))?;
        let branch = *rng.pick(&["main", "main", "main", "dev", "feature/next"]);
        let entry = if version == "2.1.332" { "\"entrypoint\":\"cli\"," } else { "" };
        let envelope = format!(
            "\"userType\":\"external\",{entry}\"cwd\":\"{}\",\"sessionId\":\"{id}\",\"version\":\"{version}\",\"gitBranch\":\"{branch}\"",
            project.cwd
        );
        Ok(Self {
            author: Author { language, project, rng, topic, said: Vec::new(), printed: Vec::new() },
            id,
            version,
            clock,
            sink,
            folder,
            agent: None,
            parent: String::new(),
            prompt_id: String::new(),
            prompts: 0,
            todos: Vec::new(),
            total: Total { files: 1, sessions: 1, ..Total::default() },
            question,
            giant: None,
            one_file: false,
            envelope,
        })
    }

    pub(crate) fn rng(&mut self) -> &mut Rng {
        &mut self.author.rng
    }

    pub(crate) fn old(&self) -> bool {
        self.version.starts_with("2.0") || self.version == "2.1.12" || self.version == "2.1.39"
    }

    pub(crate) fn current(&self) -> bool {
        self.version == "2.1.332"
    }

    /// Writes one line.
    pub(crate) fn put(&mut self, line: &str) -> Result<(), Failed> {
        self.sink.buffer.extend_from_slice(line.as_bytes());
        self.sink.end_line()
    }

    /// A record with the fields that all of them share, and `rest`.
    pub(crate) fn record(&mut self, kind: &str, rest: &str) -> Result<String, Failed> {
        let own = uuid(self.rng());
        let parent = if self.parent.is_empty() { "null".to_owned() } else { format!("\"{}\"", self.parent) };
        let agent = self.agent.as_ref().map(|a| format!("\"agentId\":\"{a}\",")).unwrap_or_default();
        let side = self.agent.is_some();
        let time = stamp(self.clock);
        let line = format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":{side},{agent}\"type\":\"{kind}\",{rest},\"uuid\":\"{own}\",\"timestamp\":\"{time}\",{}}}",
            self.envelope
        );
        self.put(&line)?;
        self.parent.clone_from(&own);
        self.clock += self.author.rng.of(&SECONDS);
        Ok(own)
    }

    pub(crate) fn count(&mut self, text: &str) {
        self.total.observations += 1;
        self.total.text_bytes += text.len() as u64;
    }

    pub(crate) fn prompt(&mut self) -> Result<(), Failed> {
        self.clock += 20.0 + self.author.rng.unit() * 300.0;
        self.prompt_id = uuid(self.rng());
        let size = self.author.rng.size(&PROMPT);
        let mut text = self.author.prose(size);
        if self.prompts == 0 {
            // What the session is about is said at its beginning.
            text = format!(
                "{} {} {}: {text}",
                self.author.topic[0],
                self.author.language.word(&mut self.author.rng),
                self.author.topic[1]
            );
        }
        self.prompts += 1;
        let id = self.id.clone();
        if self.version == "2.0.76" || self.version == "2.1.12" || self.version == "2.1.39" {
            self.snapshot()?;
        }
        if self.rng().chance(0.04) {
            // Text that nobody typed.
            let meta = self.author.prose(300);
            self.record(
                "user",
                &format!("\"message\":{{\"role\":\"user\",\"content\":{}}},\"isMeta\":true", quoted(&meta)),
            )?;
        }
        let content = quoted(&text);
        self.count(&text);
        if self.prompts > 1 && self.rng().chance(0.03) && !self.old() {
            // Typed while the assistant was busy.
            self.put(&format!("{{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"timestamp\":\"{}\",\"sessionId\":\"{id}\",\"content\":{content}}}", stamp(self.clock)))?;
            self.record("attachment", &format!("\"attachment\":{{\"type\":\"queued_command\",\"prompt\":{content},\"commandMode\":\"prompt\"}}"))?;
            return Ok(());
        }
        let more = if self.current() {
            format!(
                ",\"promptId\":\"{}\",\"permissionMode\":\"default\",\"promptSource\":\"typed\",\"rowSource\":\"local\",\"turnOrigin\":\"human\",\"origin\":{{\"kind\":\"human\"}}",
                self.prompt_id
            )
        } else {
            ",\"thinkingMetadata\":{\"level\":\"high\",\"disabled\":false,\"triggers\":[]},\"todos\":[]"
                .to_owned()
        };
        let own =
            self.record("user", &format!("\"message\":{{\"role\":\"user\",\"content\":{content}}}{more}"))?;
        if self.current() {
            let number = self.rng().below(200_000);
            self.record("attachment", &format!("\"attachment\":{{\"type\":\"total_tokens_reminder\",\"content\":\"Token usage: {number}\"}}"))?;
            let time = stamp(self.clock);
            self.put(&format!("{{\"type\":\"api-request\",\"sessionId\":\"{id}\",\"id\":\"{own}\",\"timestamp\":\"{time}\",\"version\":\"2.1.332\",\"querySource\":\"repl_main_thread\",\"params\":{{\"model\":\"claude-opus-5-5\",\"max_tokens\":128000}}}}"))?;
            self.put(&format!("{{\"type\":\"last-prompt\",\"lastPrompt\":{content},\"leafUuid\":\"{own}\",\"sessionId\":\"{id}\"}}"))?;
        }
        Ok(())
    }

    pub(crate) fn snapshot(&mut self) -> Result<(), Failed> {
        let mut left = self.author.rng.size(&SNAPSHOT);
        let message = uuid(self.rng());
        let time = stamp(self.clock);
        let mut files = Vec::new();
        while left > 250 {
            left -= 200;
            let at = self.author.file();
            let backup = self.author.rng.next();
            files.push(format!("\"{}-{}\":{{\"backupFileName\":\"{backup:016x}@v1\",\"version\":1,\"backupTime\":\"{time}\"}}", self.author.project.files[at].0, files.len()));
        }
        let files = files.join(",");
        self.put(&format!("{{\"type\":\"file-history-snapshot\",\"messageId\":\"{message}\",\"snapshot\":{{\"messageId\":\"{message}\",\"trackedFileBackups\":{{{files}}},\"timestamp\":\"{time}\"}},\"isSnapshotUpdate\":false}}"))
    }

    /// One block of an assistant's message.
    pub(crate) fn assistant(&mut self, block: &str, stop: &str) -> Result<String, Failed> {
        let (a, b) = (self.rng().next(), self.rng().next());
        let (input, output) = (a % 9, b % 900);
        self.record("assistant", &format!(
            "\"message\":{{\"id\":\"msg_01{a:016x}{:06x}\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-opus-5-5\",\"content\":[{block}],\"stop_reason\":{stop},\"stop_sequence\":null,\
             \"usage\":{{\"input_tokens\":{input},\"cache_creation_input_tokens\":{},\"cache_read_input_tokens\":{},\"cache_creation\":{{\"ephemeral_5m_input_tokens\":{input},\"ephemeral_1h_input_tokens\":0}},\
             \"output_tokens\":{output},\"service_tier\":\"standard\"}}}},\"requestId\":\"req_011{b:016x}\"", b & 0xff_ffff, a % 4000, b % 90_000))
    }

    pub(crate) fn answer(&mut self, stop: &str) -> Result<(), Failed> {
        let size = self.author.rng.size(&ANSWER);
        let text = self.author.prose(size);
        self.count(&text);
        self.assistant(&format!("{{\"type\":\"text\",\"text\":{}}}", quoted(&text)), stop).map(drop)
    }

    pub(crate) fn think(&mut self) -> Result<(), Failed> {
        let size = self.author.rng.size(&THINKING);
        let text = self.author.prose(size);
        let signature: String =
            (0..size / 14 + 12).map(|_| format!("{:016x}", self.author.rng.next())).collect();
        self.count(&text);
        self.assistant(
            &format!(
                "{{\"type\":\"thinking\",\"thinking\":{},\"signature\":\"{signature}\"}}",
                quoted(&text)
            ),
            "null",
        )
        .map(drop)
    }
}
