//! The SDK and the async runtime: everything of `rmcp` and `tokio` is here, and nothing that knows what a tool does.
//!
//! Two threads of ours own stdin and stdout; the runtime has one thread, and a few more on which the tools run, so that one that panics or
//! hangs costs its own answer only. When the client is gone the process ends, whatever still runs.

use super::Memory;
use super::lines::{self, Gate, Verdict, wrong_params};
use super::tools::{self, INSTRUCTIONS, LIMIT};
use crate::log;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientJsonRpcMessage, ClientRequest,
    ContentBlock, ErrorData, Implementation, JsonRpcMessage, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::io::{self, BufReader, Write};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// Messages that may wait between two stages.
const QUEUE: usize = 64;
/// Tools that run at once; one that hangs holds one of them.
const TOOLS_AT_ONCE: usize = 4;
/// When the client is gone, so long is waited for answers in work: they may still be read.
const LEAVE: Duration = Duration::from_secs(3);

/// Serves until stdin ends or nobody reads stdout. Errors: no threads to be had.
pub fn serve(memory: Memory) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .max_blocking_threads(TOOLS_AT_ONCE)
        .thread_name("mcp-tool")
        .build()?;
    let (pipe, ended, written) = Pipe::open()?;
    runtime.block_on(async {
        let serving = async {
            match (Server { memory: Arc::new(memory) }).serve(pipe).await {
                Ok(service) => {
                    if let Err(error) = service.waiting().await {
                        log::error("mcp", &[("error", &error)], "The server stopped.");
                    }
                }
                // The client left before it said who it is.
                Err(error) => log::info("mcp", &[("error", &error)], "Nothing was served."),
            }
        };
        let leave = async {
            // An error means that the reader is gone, which is an end of input, too.
            drop(ended.await);
            tokio::time::sleep(LEAVE).await;
        };
        tokio::select! {
            () = serving => {}
            () = leave => log::warn("mcp", &[], "An answer in work was given up when the client left."),
        }
    });
    // Not waited for: what hangs would hold the process.
    runtime.shutdown_background();
    // 1. The input ends behind a line that is answered at once. 2. The answer waits for the thread that writes. 3. This process ends, and with it
    // that thread. So wait until it has written all: everybody who could give it more is gone by now.
    written.recv_timeout(LEAVE).ok();
    Ok(())
}

struct Server {
    memory: Arc<Memory>,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("sinker", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        // Later ones begin without `initialize`: another order of messages, not tried with the host.
        Cow::Borrowed(ProtocolVersion::known_up_to(&ProtocolVersion::V_2025_11_25))
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::list().into_iter().map(described).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let memory = Arc::clone(&self.memory);
        let name = request.name.into_owned();
        let shown = name.chars().take(64).collect::<String>();
        let arguments = request.arguments.unwrap_or_default();
        let work = tokio::task::spawn_blocking(move || tools::call(&memory, &name, &arguments));
        let reply = match tokio::time::timeout(LIMIT, work).await {
            Ok(Ok(Some(reply))) => reply,
            Ok(Ok(None)) => return Err(ErrorData::invalid_params("there is no such tool", None)),
            Ok(Err(_)) => {
                log::error("mcp", &[("tool", &shown)], "A tool panicked; the server goes on.");
                tools::failed(&self.memory, "memory met an internal error; its log has more")
            }
            Err(_) => {
                log::warn("mcp", &[("tool", &shown)], "A tool gave no answer in time.");
                tools::failed(&self.memory, &tools::late())
            }
        };
        let content = vec![ContentBlock::text(reply.text)];
        Ok(if reply.failed { CallToolResult::error(content) } else { CallToolResult::success(content) }
            .into())
    }
}

fn described(tool: tools::Tool) -> Tool {
    let schema: Map<String, Value> = match tool.schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    };
    let hints = ToolAnnotations::with_title(tool.title)
        .read_only(tool.reads)
        // What an edit replaces stays as a revision.
        .destructive(false)
        .idempotent(true)
        .open_world(false);
    Tool::new(tool.name, tool.description, schema).with_title(tool.title).with_annotations(hints)
}

/// A line to be written; the sender of the note learns that it was.
type Outgoing = (Vec<u8>, Option<oneshot::Sender<()>>);

/// Stdin and stdout as the SDK sees them.
struct Pipe {
    incoming: mpsc::Receiver<Option<ClientJsonRpcMessage>>,
    outgoing: mpsc::Sender<Outgoing>,
}

impl Pipe {
    /// Starts the two threads. The second value comes when the client is gone, the third one ends when everything is written.
    fn open() -> io::Result<(Self, oneshot::Receiver<()>, crossbeam_channel::Receiver<()>)> {
        let (to_server, incoming) = mpsc::channel(QUEUE);
        let (outgoing, to_client) = mpsc::channel(QUEUE);
        let (end, ended) = oneshot::channel();
        let (last, written) = crossbeam_channel::bounded(0);
        let gone = to_server.clone();
        let answers = outgoing.clone();
        std::thread::Builder::new().name("mcp-out".to_owned()).spawn(move || {
            write(to_client, &gone);
            drop(last);
        })?;
        std::thread::Builder::new().name("mcp-in".to_owned()).spawn(move || {
            read(&to_server, &answers);
            // Nobody waits for it when the server has ended already.
            end.send(()).ok();
        })?;
        Ok((Self { incoming, outgoing }, ended, written))
    }
}

/// Reads stdin to its end. What needs no server is answered at once.
fn read(to_server: &mpsc::Sender<Option<ClientJsonRpcMessage>>, answers: &mpsc::Sender<Outgoing>) {
    let mut from = BufReader::new(io::stdin());
    let mut gate = Gate::default();
    while let Ok(Some(line)) = lines::read(&mut from) {
        let verdict = match gate.judge(&line) {
            Verdict::Pass(message) => match typed(&message) {
                Some(typed) => {
                    gate.open |= is_initialize(&typed);
                    if to_server.blocking_send(Some(typed)).is_err() {
                        return;
                    }
                    continue;
                }
                None => wrong_params(&message),
            },
            verdict => verdict,
        };
        if let Verdict::Answer(answer) = verdict
            && answers.blocking_send((line_of(&answer.to_string()), None)).is_err()
        {
            return;
        }
    }
    // The server may have ended before its client did.
    drop(to_server.blocking_send(None));
}

/// The message as the SDK has it; `None` when its parameters do not fit its method.
fn typed(message: &Value) -> Option<ClientJsonRpcMessage> {
    let typed: ClientJsonRpcMessage = serde_json::from_value(message.clone()).ok()?;
    match &typed {
        // A known method with other parameters is read as a method that nobody knows.
        JsonRpcMessage::Request(request) if matches!(request.request, ClientRequest::CustomRequest(_)) => {
            None
        }
        _ => Some(typed),
    }
}

fn is_initialize(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Request(request) if matches!(request.request, ClientRequest::InitializeRequest(_)))
}

fn line_of(text: &str) -> Vec<u8> {
    format!("{text}\n").into_bytes()
}

/// Writes lines to stdout, each whole. When nobody reads any more the server is told to end.
fn write(mut lines: mpsc::Receiver<Outgoing>, gone: &mpsc::Sender<Option<ClientJsonRpcMessage>>) {
    while let Some((line, done)) = lines.blocking_recv() {
        let mut out = io::stdout().lock();
        if out.write_all(&line).and_then(|()| out.flush()).is_err() {
            drop(gone.blocking_send(None));
            return;
        }
        if let Some(done) = done {
            // Whoever asked may have been cancelled.
            done.send(()).ok();
        }
    }
}

impl Transport<RoleServer> for Pipe {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let outgoing = self.outgoing.clone();
        async move {
            let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
            let (done, written) = oneshot::channel();
            let line = line_of(&serde_json::to_string(&item)?);
            outgoing.send((line, Some(done))).await.map_err(|_| closed())?;
            written.await.map_err(|_| closed())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.incoming.recv().await.flatten()
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.incoming.close();
        Ok(())
    }
}
