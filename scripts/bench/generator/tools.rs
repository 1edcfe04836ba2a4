//! Turns: calls of tools, what they give, failures and what was done about them, subagents.

use crate::Failed;
use crate::numbers::*;
use crate::session::{Session, Sink, Until, quoted};

const COMMANDS: [&str; 8] = [
    "cargo test @",
    "rg -n @ src",
    "git log --oneline -- @",
    "npm run test -- @",
    "python3 -m pytest -k @",
    "ls -la @",
    "git diff HEAD~1 -- @ | head -80",
    "cd src && make @ 2>&1 | tail -40",
];

/// What is still to be done in a turn.
enum Step {
    Any,
    Command { command: String, fails: bool },
    Read { file: usize, from: usize },
    Edit { file: usize, from: usize },
}

impl Session<'_> {
    /// Writes the whole session.
    pub(crate) fn write(mut self, until: Until) -> Result<(crate::Total, crate::Question), Failed> {
        let id = self.id.clone();
        match self.version {
            "2.1.332" => {
                self.put(&format!("{{\"type\":\"mode\",\"mode\":\"normal\",\"sessionId\":\"{id}\"}}"))?
            }
            "2.1.112" => self.put(&format!(
                "{{\"type\":\"permission-mode\",\"permissionMode\":\"default\",\"sessionId\":\"{id}\"}}"
            ))?,
            _ => {
                let title = self.author.prose(60);
                let leaf = crate::session::uuid(self.rng());
                self.put(&format!(
                    "{{\"type\":\"summary\",\"summary\":{},\"leafUuid\":\"{leaf}\"}}",
                    quoted(&title)
                ))?;
            }
        }
        let mut first = true;
        while self.left(until) > 0 {
            self.turn(until)?;
            if first && self.current() {
                let title = self.author.prose(40);
                self.put(&format!(
                    "{{\"type\":\"ai-title\",\"aiTitle\":{},\"sessionId\":\"{id}\"}}",
                    quoted(&title)
                ))?;
            }
            first = false;
        }
        self.sink.flush()?;
        self.total.bytes += self.sink.bytes();
        Ok((self.total, self.question))
    }

    /// How many observations may still be written.
    fn left(&self, until: Until) -> u64 {
        match until {
            Until::Observations(wanted) => wanted.saturating_sub(self.total.observations),
            Until::Bytes(wanted) if self.sink.bytes() + self.total.bytes < wanted => u64::MAX,
            Until::Bytes(_) => 0,
        }
    }

    fn turn(&mut self, until: Until) -> Result<(), Failed> {
        self.prompt()?;
        let calls = self.author.rng.size(&CALLS_IN_A_TURN);
        let mut steps: Vec<Step> = (0..calls).map(|_| Step::Any).collect();
        while let Some(step) = steps.pop() {
            // A call is two observations; what comes before it, one more each.
            if self.left(until) < 2 {
                break;
            }
            if self.left(until) > 3 && self.rng().chance(THINKING_BEFORE_A_CALL) {
                self.think()?;
            }
            if self.left(until) > 3 && self.rng().chance(TEXT_BEFORE_A_CALL) {
                self.answer("null")?;
            }
            self.step(step, &mut steps, until)?;
        }
        if self.left(until) > 0 {
            self.answer("\"end_turn\"")?;
        }
        if !self.version.starts_with("2.0") {
            let ms = self.rng().below(90_000);
            let rest = if self.rng().chance(0.5) {
                format!("\"subtype\":\"turn_duration\",\"durationMs\":{ms},\"isMeta\":false")
            } else {
                "\"subtype\":\"stop_hook_summary\",\"hookCount\":1,\"hookInfos\":[{\"command\":\"check.sh\"}],\"hookErrors\":[],\"preventedContinuation\":false,\"stopReason\":\"\",\"hasOutput\":false,\"level\":\"suggestion\"".to_owned()
            };
            self.record("system", &rest)?;
        }
        if self.rng().chance(0.12) {
            self.record("system", "\"subtype\":\"api_error\",\"level\":\"error\",\"error\":{\"status\":529},\"retryInMs\":600,\"retryAttempt\":1,\"maxRetries\":10")?;
        }
        Ok(())
    }

    fn step(&mut self, step: Step, steps: &mut Vec<Step>, until: Until) -> Result<(), Failed> {
        match step {
            Step::Any => {
                let name = share(&mut self.author.rng, &TOOLS).to_owned();
                self.any(&name, steps, until)
            }
            Step::Command { command, fails } => self.command(&command, fails, steps),
            Step::Read { file, from } => self.read(file, from),
            Step::Edit { file, from } => self.edit(file, from, false),
        }
    }

    fn any(&mut self, name: &str, steps: &mut Vec<Step>, until: Until) -> Result<(), Failed> {
        let file = self.author.file();
        let path = self.author.project.files[file].0.clone();
        let cwd = self.author.project.cwd.clone();
        match name {
            "Read" => {
                let from = if self.rng().chance(0.75) { 1 } else { 1 + self.rng().below(300) };
                self.read(file, from)
            }
            "Edit" => {
                let (fails, from) = (self.rng().chance(FIRST_EDIT_FAILS), 1 + self.rng().below(200));
                if fails {
                    steps.push(Step::Edit { file, from });
                    steps.push(Step::Read { file, from });
                }
                self.edit(file, from, fails)
            }
            "Write" => {
                let size = self.author.rng.size(&WRITE);
                let (text, _) = self.author.lines(file, 1 + size % 97, size, false);
                let content = quoted(&text);
                let result = format!("File created successfully at: {path}");
                let more = format!(
                    "{{\"type\":\"create\",\"filePath\":\"{path}\",\"content\":{content},\"structuredPatch\":[],\"originalFile\":null}}"
                );
                self.call(
                    "Write",
                    &format!("{{\"file_path\":\"{path}\",\"content\":{content}}}"),
                    &result,
                    false,
                    &more,
                )
            }
            "Grep" | "Glob" => {
                let size = self.author.rng.size(if name == "Grep" { &GREP_RESULT } else { &GLOB_RESULT });
                let result = match (name, size) {
                    (_, 0..16) => "No files found".to_owned(),
                    ("Grep", 400..) => self.author.log(size),
                    _ => self.author.paths(size),
                };
                let pattern = self.author.rng.pick(&self.author.topic).clone();
                let files = result.lines().count();
                let more = format!(
                    "{{\"mode\":\"files_with_matches\",\"filenames\":[{}],\"numFiles\":{files}}}",
                    quoted(&result)
                );
                let input = format!(
                    "{{\"pattern\":\"{pattern}\",\"path\":\"{cwd}/src\",\"output_mode\":\"content\",\"-n\":true,\"head_limit\":{}}}",
                    20 + size % 80
                );
                self.call(name, &input, &result, false, &more)
            }
            "TodoWrite" => {
                let size = self.author.rng.size(&TODOS);
                if self.todos.is_empty() || self.rng().chance(0.12) {
                    self.todos.clear();
                    while self.todos.iter().map(|t| t.len() * 2 + 60).sum::<usize>() < size {
                        let text = self.author.prose(35);
                        self.todos.push(text);
                    }
                }
                let done = self.author.rng.below(self.todos.len());
                let status = |n: usize| {
                    if n < done {
                        "completed"
                    } else if n == done {
                        "in_progress"
                    } else {
                        "pending"
                    }
                };
                let items: Vec<String> = self
                    .todos
                    .iter()
                    .enumerate()
                    .map(|(n, text)| {
                        format!(
                            "{{\"content\":{0},\"status\":\"{1}\",\"activeForm\":{0}}}",
                            quoted(text),
                            status(n)
                        )
                    })
                    .collect();
                let todos = items.join(",");
                let more = format!("{{\"oldTodos\":[{todos}],\"newTodos\":[{todos}]}}");
                self.call(name, &format!("{{\"todos\":[{todos}]}}"), "The list of todos has been changed; go on with the one that is in progress, and keep the list up to date as you work on it.", false, &more)
            }
            "WebFetch" => {
                let size = self.author.rng.size(&WEB_RESULT);
                let (result, ask) = (self.author.prose(size), self.author.prose(120));
                let word = self.author.language.rare(&mut self.author.rng).to_owned();
                let input = format!(
                    "{{\"url\":\"https://docs.example.org/{word}/{}\",\"prompt\":{}}}",
                    size % 100,
                    quoted(&ask)
                );
                self.call(
                    name,
                    &input,
                    &result,
                    false,
                    &format!(
                        "{{\"bytes\":{},\"code\":200,\"codeText\":\"OK\",\"result\":{}}}",
                        size * 9,
                        quoted(&result)
                    ),
                )
            }
            "Task" if self.agent.is_none() && !self.one_file && self.left(until) > 12 => self.task(until),
            _ => {
                let topic = self.author.rng.pick(&self.author.topic).clone();
                let mut command = self.author.rng.pick(&COMMANDS).replace('@', &topic);
                for _ in 0..self.rng().low(5) {
                    let at = self.author.file();
                    command += &format!(" && wc -l {}", self.author.project.files[at].0);
                }
                let fails = self.rng().chance(BASH_FAILS);
                self.command(&command, fails, steps)
            }
        }
    }

    fn read(&mut self, file: usize, from: usize) -> Result<(), Failed> {
        let size = self.author.rng.size(&READ_RESULT);
        let path = self.author.project.files[file].0.clone();
        let (result, lines) = self.author.lines(file, from, size, true);
        let plain = result
            .split('\n')
            .map(|l| l.split_once('\u{2192}').map_or(l, |(_, text)| text))
            .collect::<Vec<_>>()
            .join("\n");
        let input = if from == 1 {
            format!("{{\"file_path\":\"{path}\"}}")
        } else {
            format!("{{\"file_path\":\"{path}\",\"offset\":{from},\"limit\":{lines}}}")
        };
        let more = format!(
            "{{\"type\":\"text\",\"file\":{{\"filePath\":\"{path}\",\"content\":{},\"numLines\":{lines},\"startLine\":{from},\"totalLines\":{}}}}}",
            quoted(&plain),
            lines + from
        );
        self.call("Read", &input, &result, false, &more)
    }

    fn edit(&mut self, file: usize, from: usize, fails: bool) -> Result<(), Failed> {
        let path = self.author.project.files[file].0.clone();
        let size = self.author.rng.size(&EDIT).saturating_sub(path.len() + 50) / 2;
        let (before, _) = self.author.lines(file, from, size.max(20), false);
        let said = self.author.prose(60);
        let mut after = before.clone();
        // One line is changed and one is new.
        let at = after.find('\n').unwrap_or(0);
        after.insert_str(at, &format!("\n    // {said}"));
        let input = format!(
            "{{\"file_path\":\"{path}\",\"old_string\":{},\"new_string\":{},\"replace_all\":false}}",
            quoted(&before),
            quoted(&after)
        );
        if fails {
            return self.call("Edit", &input, "<tool_use_error>The file was not read before, or has changed since. Read it again.</tool_use_error>", true, "\"Error: the file was not read\"");
        }
        let size = self.author.rng.size(&EDIT_RESULT);
        let (shown, _) = self.author.lines(file, from, size.saturating_sub(110), true);
        let result = if size < 150 {
            format!("The file {path} has been updated.")
        } else {
            format!("The file {path} has been updated. This is what the edited part looks like now:\n{shown}")
        };
        let whole = 1500 + self.rng().low(16_000);
        let (original, _) = self.author.lines(file, 1, whole, false);
        self.question.file.clone_from(&path);
        let more = format!(
            "{{\"filePath\":\"{path}\",\"oldString\":{},\"newString\":{},\"originalFile\":{},\"structuredPatch\":[],\"userModified\":false,\"replaceAll\":false}}",
            quoted(&before),
            quoted(&after),
            quoted(&original)
        );
        self.call("Edit", &input, &result, false, &more)
    }

    fn command(&mut self, command: &str, fails: bool, steps: &mut Vec<Step>) -> Result<(), Failed> {
        let size = self.giant.take().unwrap_or_else(|| self.author.rng.size(&BASH_RESULT));
        let mut result = self.author.log(size);
        if fails {
            let (file, line) = (self.author.file(), 1 + self.rng().below(300));
            let path = &self.author.project.files[file].0[self.author.project.cwd.len() + 1..];
            let (a, b) =
                (self.author.rng.pick(&self.author.topic), self.author.rng.pick(&self.author.project.names));
            let error = format!("error: {a} has no {b}\n  --> {path}:{line}");
            result = format!("Exit code {}\n{result}\n{error}", 1 + line % 2);
            self.question.failed_command = command.to_owned();
            self.question.error = error;
            if self.rng().chance(0.6) {
                // The fix, read from the end: look, change, try again.
                let fails = self.rng().chance(0.25);
                steps.push(Step::Command { command: command.to_owned(), fails });
                steps.push(Step::Edit { file, from: line });
                steps.push(Step::Read { file, from: line });
            }
        }
        let about = self.author.prose(40);
        let input = format!("{{\"command\":{},\"description\":{}}}", quoted(command), quoted(&about));
        let more = if fails {
            quoted(&format!("Error: {result}"))
        } else {
            format!(
                "{{\"stdout\":{},\"stderr\":\"\",\"interrupted\":false,\"isImage\":false}}",
                quoted(&result)
            )
        };
        self.call("Bash", &input, &result, fails, &more)
    }

    /// A subagent: a file of its own, or records marked in this one.
    fn task(&mut self, until: Until) -> Result<(), Failed> {
        let size = self.author.rng.size(&TASK_PROMPT);
        let prompt = self.author.prose(size);
        let (agent, folder) = (format!("a{:07x}", self.rng().next() >> 36), self.folder.clone());
        let path = match self.version {
            "2.0.76" => folder.join(format!("agent-{agent}.jsonl")),
            _ => {
                let own = folder.join(&self.id).join("subagents");
                std::fs::create_dir_all(&own)?;
                own.join(format!("agent-{agent}.jsonl"))
            }
        };
        let mine = std::mem::replace(&mut self.sink, Sink::create(&path)?);
        let parent = std::mem::take(&mut self.parent);
        self.agent = Some(agent.clone());
        self.total.files += 1;
        self.count(&prompt);
        self.record("user", &format!("\"message\":{{\"role\":\"user\",\"content\":{}}}", quoted(&prompt)))?;
        let mut steps: Vec<Step> = (0..self.rng().low(14)).map(|_| Step::Any).collect();
        while let Some(step) = steps.pop() {
            // The call itself, its result and the answer come after these.
            if self.left(until) < 6 {
                break;
            }
            self.step(step, &mut steps, until)?;
        }
        let size = self.author.rng.size(&TASK_RESULT);
        let result = self.author.prose(size);
        self.count(&result);
        self.assistant(&format!("{{\"type\":\"text\",\"text\":{}}}", quoted(&result)), "\"end_turn\"")?;
        self.sink.flush()?;
        self.total.bytes += self.sink.bytes();
        self.sink = mine;
        self.agent = None;
        self.parent = parent;
        let about = self.author.prose(30);
        let input = format!(
            "{{\"description\":{},\"prompt\":{},\"subagent_type\":\"general-purpose\"}}",
            quoted(&about),
            quoted(&prompt)
        );
        let more = format!(
            "{{\"status\":\"completed\",\"agentId\":\"{agent}\",\"prompt\":{},\"content\":[{{\"type\":\"text\",\"text\":{}}}],\"totalDurationMs\":9000}}",
            quoted(&prompt),
            quoted(&result)
        );
        self.call("Task", &input, &result, false, &more)
    }

    /// A call and its result, and the copies of progress between them.
    fn call(
        &mut self,
        name: &str,
        input: &str,
        result: &str,
        failed: bool,
        more: &str,
    ) -> Result<(), Failed> {
        let (a, b) = (self.rng().next(), self.rng().next());
        let id = format!("toolu_01{a:016x}{:06x}", b >> 40);
        self.count(input);
        let call = self.assistant(
            &format!("{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"{name}\",\"input\":{input}}}"),
            "\"tool_use\"",
        )?;
        if self.version == "2.1.12" || self.version == "2.1.39" {
            // For each observation one and more; a call and its result are two of some three.
            for _ in 0..self.rng().below((PROGRESS * 6.0) as usize + 1) {
                self.progress(&id)?;
            }
        }
        self.count(result);
        let content = if self.rng().chance(0.001) {
            let image: String = (0..1500 + self.rng().low(14_000))
                .map(|_| format!("{:016x}", self.author.rng.next()))
                .collect();
            format!(
                "[{{\"type\":\"text\",\"text\":{}}},{{\"type\":\"image\",\"source\":{{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"{image}\"}}}}]",
                quoted(result)
            )
        } else {
            quoted(result)
        };
        let error = if name == "Bash" || failed { format!(",\"is_error\":{failed}") } else { String::new() };
        let prompt =
            if self.current() { format!("\"promptId\":\"{}\",", self.prompt_id) } else { String::new() };
        self.record("user", &format!(
            "{prompt}\"message\":{{\"role\":\"user\",\"content\":[{{\"tool_use_id\":\"{id}\",\"type\":\"tool_result\",\"content\":{content}{error}}}]}},\"toolUseResult\":{more},\"sourceToolAssistantUUID\":\"{call}\""))
            .map(drop)
    }

    fn progress(&mut self, id: &str) -> Result<(), Failed> {
        let u = self.author.rng.unit();
        let data = if u < 0.53 {
            "{\"type\":\"hook_progress\",\"hookEvent\":\"PostToolUse\",\"hookName\":\"PostToolUse:Read\",\"command\":\"callback\"}".to_owned()
        } else if u < 0.85 {
            let size = self.author.rng.size(&BASH_RESULT) / 4;
            let output = quoted(&self.author.log(size));
            format!(
                "{{\"type\":\"bash_progress\",\"output\":{output},\"fullOutput\":{output},\"elapsedTimeSeconds\":3,\"totalLines\":9}}"
            )
        } else {
            let size = self.author.rng.size(&BASH_RESULT);
            let text = quoted(&self.author.log(size));
            format!(
                "{{\"type\":\"agent_progress\",\"message\":{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"content\":{text}}}]}}}},\"normalizedMessages\":[],\"prompt\":\"\",\"agentId\":\"a000000\"}}"
            )
        };
        let parent = self.parent.clone();
        self.record(
            "progress",
            &format!("\"data\":{data},\"parentToolUseID\":\"{id}\",\"toolUseID\":\"{id}\""),
        )?;
        self.parent = parent;
        Ok(())
    }
}
