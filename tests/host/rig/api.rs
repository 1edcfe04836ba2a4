//! A Messages API on loopback that says what a scenario tells it, and keeps every request.
//!
//! Served: `POST /v1/messages`, streamed or whole, and `/v1/messages/count_tokens`; anything else is 404. A reply is chosen by what the
//! request ends with, so the order in which main line, subagents and the client's own helpers call does not matter.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What the assistant does when its rule fits.
#[derive(Debug, Clone)]
pub enum Reply {
    /// Content blocks; the turn ends unless one of them is a tool call.
    Blocks(Vec<Value>),
    /// An HTTP status with an API error of that type.
    Error(u16, &'static str),
    /// Text whose pieces come slowly: for interrupting it.
    Slow(String),
    /// No byte ever.
    Hang,
}

/// A text block.
pub fn text(words: &str) -> Value {
    json!({ "type": "text", "text": words })
}

/// A thinking block.
pub fn thinking(words: &str) -> Value {
    json!({ "type": "thinking", "thinking": words, "signature": "c2lnbmVk" })
}

/// A call of the shell.
pub fn bash(id: &str, command: &str) -> Value {
    call(id, "Bash", json!({ "command": command, "description": "run it" }))
}

/// A tool call; `id` names it in transcripts and hooks.
pub fn call(id: &str, tool: &str, input: Value) -> Value {
    json!({ "type": "tool_use", "id": id, "name": tool, "input": input })
}

#[derive(Debug)]
struct Rule {
    /// Found in the newest words of the request: what follows the last assistant message, reminders and notes of hooks left out.
    when: String,
    reply: Reply,
    times: usize,
}

/// One request as it came.
#[derive(Debug, Clone)]
pub struct Request {
    /// The body.
    pub body: Value,
    /// What follows the last assistant message, without what the client and hooks put in.
    pub newest: String,
    /// What it was answered with: the rule's words, empty for the answer of no rule.
    pub rule: String,
}

impl Request {
    /// All text in messages and system prompt, one piece a line.
    pub fn text(&self) -> String {
        let mut all = String::new();
        collect(&self.body["system"], &mut all);
        collect(&self.body["messages"], &mut all);
        all
    }

    /// How often `needle` stands in messages and system prompt.
    pub fn count(&self, needle: &str) -> usize {
        self.text().matches(needle).count()
    }

    /// What Sinker put in, fences and all, one piece a note.
    pub fn notes(&self) -> Vec<String> {
        let all = self.text();
        let mut notes = Vec::new();
        let mut rest = all.as_str();
        while let Some(from) = rest.find("<sinker-memory-") {
            let piece = &rest[from..];
            let end = piece.find("</sinker-memory-").unwrap_or_else(|| panic!("an open fence: {piece}"));
            let end = end + piece[end..].find('>').unwrap() + 1;
            notes.push(piece[..end].to_owned());
            rest = &piece[end..];
        }
        notes
    }
}

fn collect(value: &Value, into: &mut String) {
    match value {
        Value::String(text) => {
            into.push_str(text);
            into.push('\n');
        }
        Value::Array(all) => all.iter().for_each(|v| collect(v, into)),
        Value::Object(map) => {
            for key in ["text", "content", "thinking", "input"] {
                match map.get(key) {
                    Some(input) if key == "input" => into.push_str(&format!("{input}\n")),
                    Some(value) => collect(value, into),
                    None => {}
                }
            }
        }
        _ => {}
    }
}

#[derive(Debug, Default)]
struct State {
    rules: Mutex<Vec<Rule>>,
    requests: Mutex<Vec<Request>>,
    /// Paths asked for that are not of this API.
    strays: Mutex<Vec<String>>,
    serial: AtomicUsize,
    /// Each answer says that it took so many tokens.
    tokens: AtomicUsize,
    /// Set when the world ends: hanging answers let go.
    over: AtomicBool,
}

/// The server; it ends with its handle.
#[derive(Debug)]
pub struct Api {
    state: Arc<State>,
    port: u16,
}

impl Api {
    /// Listens on a free port of loopback.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream, &state));
            }
        });
        Self { state, port }
    }

    /// `ANTHROPIC_BASE_URL`.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Adds a rule: a request whose newest words hold `when` is answered with `reply`, once. Earlier rules go first.
    pub fn on(&self, when: &str, reply: Reply) {
        self.add(when, reply, 1);
    }

    /// The same for every such request.
    pub fn always(&self, when: &str, reply: Reply) {
        self.add(when, reply, usize::MAX);
    }

    /// The assistant's turns one after the other: the first answers `prompt`, each further one the result of a call before it.
    pub fn turn(&self, prompt: &str, replies: &[Vec<Value>]) {
        let mut when = prompt.to_owned();
        for blocks in replies {
            self.on(&when, Reply::Blocks(blocks.clone()));
            if let Some(id) = blocks.iter().rev().find_map(|b| b["id"].as_str()) {
                when = format!("result of {id}");
            }
        }
    }

    /// From now on answers say that the context is full; the summary of a compaction sets it back.
    pub fn fill(&self) {
        self.state.tokens.store(990_000, Ordering::SeqCst);
    }

    fn add(&self, when: &str, reply: Reply, times: usize) {
        self.state.rules.lock().unwrap().push(Rule { when: when.to_owned(), reply, times });
    }

    /// Every request for messages so far.
    pub fn requests(&self) -> Vec<Request> {
        self.state.requests.lock().unwrap().clone()
    }

    /// The requests whose newest words hold `needle`.
    pub fn asked(&self, needle: &str) -> Vec<Request> {
        self.requests().into_iter().filter(|r| r.newest.contains(needle)).collect()
    }

    /// Forgets requests and rules: a new scene.
    pub fn clear(&self) {
        self.state.requests.lock().unwrap().clear();
        self.state.rules.lock().unwrap().clear();
    }

    /// A page for a failed test: each request's newest words and its rule.
    pub fn story(&self) -> String {
        let mut out = String::new();
        for (n, r) in self.requests().iter().enumerate() {
            let newest: String = r.newest.chars().take(300).collect();
            out.push_str(&format!(
                "{n}: [{}] {:?} <- {newest:?}\n",
                r.body["model"].as_str().unwrap_or(""),
                r.rule
            ));
        }
        out.push_str(&format!("strays: {:?}\n", self.state.strays.lock().unwrap()));
        out
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        self.state.over.store(true, Ordering::SeqCst);
    }
}

fn serve(stream: TcpStream, state: &State) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut out = stream;
    let mut first = String::new();
    if reader.read_line(&mut first).unwrap_or(0) == 0 {
        return;
    }
    let path = first.split_whitespace().nth(1).unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let plain = path.split('?').next().unwrap_or_default();
    match plain {
        "/v1/messages" => {
            let reply = choose(state, &body);
            // The client hangs up when it is interrupted or killed: nobody's fault.
            drop(answer(&mut out, state, &body, reply));
        }
        "/v1/messages/count_tokens" => {
            drop(whole(&mut out, 200, &json!({ "input_tokens": 100 })));
        }
        _ => {
            state.strays.lock().unwrap().push(first.trim().to_owned());
            let error =
                json!({ "type": "error", "error": { "type": "not_found_error", "message": "not here" } });
            drop(whole(&mut out, 404, &error));
        }
    }
}

fn choose(state: &State, body: &Value) -> Reply {
    let newest = newest(body);
    let mut rules = state.rules.lock().unwrap();
    let found = rules.iter_mut().find(|rule| rule.times > 0 && newest.contains(&rule.when));
    let (reply, rule) = match found {
        Some(rule) => {
            rule.times -= 1;
            (rule.reply.clone(), rule.when.clone())
        }
        None => (Reply::Blocks(vec![text("Understood.")]), String::new()),
    };
    state.requests.lock().unwrap().push(Request { body: body.clone(), newest, rule });
    reply
}

/// What follows the last assistant message: user text, and `result of <id>: …` for tool results.
fn newest(body: &Value) -> String {
    let empty = Vec::new();
    let messages = body["messages"].as_array().unwrap_or(&empty);
    let from = messages.iter().rposition(|m| m["role"] == "assistant").map_or(0, |at| at + 1);
    let mut out = String::new();
    for message in messages.iter().skip(from).filter(|m| m["role"] == "user") {
        match &message["content"] {
            Value::String(words) => say(words, &mut out),
            Value::Array(blocks) => {
                for block in blocks {
                    match block["type"].as_str() {
                        Some("text") => say(block["text"].as_str().unwrap_or_default(), &mut out),
                        Some("tool_result") => {
                            out.push_str(&format!(
                                "result of {}: ",
                                block["tool_use_id"].as_str().unwrap_or("")
                            ));
                            collect(&block["content"], &mut out);
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    out
}

fn say(words: &str, out: &mut String) {
    let words = words.trim();
    if words.starts_with("<system-reminder>") && words.ends_with("</system-reminder>") {
        return;
    }
    out.push_str(words);
    out.push('\n');
}

fn answer(out: &mut TcpStream, state: &State, body: &Value, reply: Reply) -> std::io::Result<()> {
    let summary = newest(body).starts_with("CRITICAL: Respond with TEXT ONLY");
    if summary {
        state.tokens.store(0, Ordering::SeqCst);
    }
    let tokens = state.tokens.load(Ordering::SeqCst).max(100);
    let id = format!("msg_{:06}", state.serial.fetch_add(1, Ordering::SeqCst));
    let model = body["model"].as_str().unwrap_or_default();
    let streams = body["stream"] == true;
    match reply {
        Reply::Error(status, kind) => whole(
            out,
            status,
            &json!({ "type": "error", "error": { "type": kind, "message": "scripted failure" } }),
        ),
        Reply::Hang => {
            while !state.over.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(100));
            }
            Ok(())
        }
        Reply::Blocks(blocks) if !streams => whole(out, 200, &message(&id, model, &blocks, tokens)),
        Reply::Slow(words) if !streams => whole(out, 200, &message(&id, model, &[text(&words)], tokens)),
        Reply::Blocks(blocks) => {
            head(out, "200 OK", "text/event-stream", None)?;
            start(out, &id, model, tokens)?;
            for (n, block) in blocks.iter().enumerate() {
                stream_block(out, n, block)?;
            }
            finish(out, stop_reason(&blocks), tokens)
        }
        Reply::Slow(words) => {
            head(out, "200 OK", "text/event-stream", None)?;
            start(out, &id, model, tokens)?;
            let begin = json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } });
            event(out, &begin)?;
            for word in words.split_inclusive(' ') {
                let delta = json!({ "type": "text_delta", "text": word });
                event(out, &json!({ "type": "content_block_delta", "index": 0, "delta": delta }))?;
                if state.over.load(Ordering::SeqCst) {
                    return Ok(());
                }
                std::thread::sleep(Duration::from_millis(400));
            }
            event(out, &json!({ "type": "content_block_stop", "index": 0 }))?;
            finish(out, "end_turn", tokens)
        }
    }
}

fn stop_reason(blocks: &[Value]) -> &'static str {
    if blocks.iter().any(|b| b["type"] == "tool_use") { "tool_use" } else { "end_turn" }
}

fn usage(tokens: usize) -> Value {
    json!({ "input_tokens": tokens, "output_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0 })
}

fn message(id: &str, model: &str, blocks: &[Value], tokens: usize) -> Value {
    json!({ "id": id, "type": "message", "role": "assistant", "model": model, "content": blocks,
            "stop_reason": stop_reason(blocks), "stop_sequence": null, "usage": usage(tokens) })
}

fn start(out: &mut TcpStream, id: &str, model: &str, tokens: usize) -> std::io::Result<()> {
    let mut message = message(id, model, &[], tokens);
    message["stop_reason"] = Value::Null;
    event(out, &json!({ "type": "message_start", "message": message }))
}

fn stream_block(out: &mut TcpStream, index: usize, block: &Value) -> std::io::Result<()> {
    let (empty, deltas) = match block["type"].as_str() {
        Some("tool_use") => {
            let mut empty = block.clone();
            empty["input"] = json!({});
            (empty, vec![json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() })])
        }
        Some("thinking") => (
            json!({ "type": "thinking", "thinking": "", "signature": "" }),
            vec![
                json!({ "type": "thinking_delta", "thinking": block["thinking"] }),
                json!({ "type": "signature_delta", "signature": block["signature"] }),
            ],
        ),
        _ => (
            json!({ "type": "text", "text": "" }),
            vec![json!({ "type": "text_delta", "text": block["text"] })],
        ),
    };
    event(out, &json!({ "type": "content_block_start", "index": index, "content_block": empty }))?;
    for delta in deltas {
        event(out, &json!({ "type": "content_block_delta", "index": index, "delta": delta }))?;
    }
    event(out, &json!({ "type": "content_block_stop", "index": index }))
}

fn finish(out: &mut TcpStream, reason: &str, tokens: usize) -> std::io::Result<()> {
    let delta = json!({ "stop_reason": reason, "stop_sequence": null });
    event(out, &json!({ "type": "message_delta", "delta": delta, "usage": usage(tokens) }))?;
    event(out, &json!({ "type": "message_stop" }))
}

fn event(out: &mut TcpStream, data: &Value) -> std::io::Result<()> {
    let name = data["type"].as_str().unwrap_or_default();
    out.write_all(format!("event: {name}\ndata: {data}\n\n").as_bytes())?;
    out.flush()
}

fn head(out: &mut TcpStream, status: &str, kind: &str, length: Option<usize>) -> std::io::Result<()> {
    let length = length.map(|n| format!("content-length: {n}\r\n")).unwrap_or_default();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\n{length}request-id: req_1\r\nconnection: close\r\n\r\n"
    );
    out.write_all(head.as_bytes())
}

fn whole(out: &mut TcpStream, status: u16, body: &Value) -> std::io::Result<()> {
    let body = body.to_string();
    head(out, &format!("{status} Scripted"), "application/json", Some(body.len()))?;
    out.write_all(body.as_bytes())?;
    out.flush()
}
