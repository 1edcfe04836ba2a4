//! The official SDK's client, talking to the binary as a host does.

use super::Sandbox;
use rmcp::model::{CallToolRequestParams, ErrorCode, ServerPeerInfo, Tool};
use rmcp::service::{RunningService, ServiceError};
use rmcp::transport::TokioChildProcess;
use rmcp::{RoleClient, ServiceExt};
use serde_json::Value;
use std::time::Duration;
use tokio::runtime::Runtime;

/// No answer takes longer; a server that gives none hangs.
const LIMIT: Duration = Duration::from_secs(30);

/// A server in a sandbox and its client.
pub struct McpClient {
    runtime: Runtime,
    service: RunningService<RoleClient, ()>,
}

impl McpClient {
    /// Starts the server as the host does, in the project's directory, and shakes hands.
    pub fn start(sandbox: &Sandbox) -> Self {
        Self::start_with(sandbox, &[])
    }

    /// The same with more environment.
    pub fn start_with(sandbox: &Sandbox, env: &[(&str, &str)]) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut command = sandbox.command(&["mcp"]);
        command.env("CLAUDE_PROJECT_DIR", sandbox.project()).envs(env.iter().copied());
        let service = runtime.block_on(async {
            let child = TokioChildProcess::new(tokio::process::Command::from(command)).unwrap();
            tokio::time::timeout(LIMIT, ().serve(child)).await.expect("no handshake").unwrap()
        });
        Self { runtime, service }
    }

    /// What the server said of itself.
    pub fn server(&self) -> ServerPeerInfo {
        ServerPeerInfo::clone(self.service.peer_info().unwrap().as_ref())
    }

    /// Its tools.
    pub fn tools(&self) -> Vec<Tool> {
        self.runtime.block_on(self.service.list_all_tools()).unwrap()
    }

    fn result(&self, tool: &str, arguments: Value) -> Result<(String, bool), ServiceError> {
        let arguments = arguments.as_object().unwrap().clone();
        let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let answer = self.runtime.block_on(async {
            tokio::time::timeout(LIMIT, self.service.call_tool(request)).await.expect("no answer")
        })?;
        assert_eq!(answer.content.len(), 1);
        let text = answer.content[0].as_text().unwrap().text.clone();
        Ok((text, answer.is_error == Some(true)))
    }

    /// A call's text, and whether it is an error.
    pub fn call(&self, tool: &str, arguments: Value) -> (String, bool) {
        self.result(tool, arguments).unwrap()
    }

    /// A call that must succeed.
    pub fn ask(&self, tool: &str, arguments: Value) -> String {
        let shown = arguments.to_string();
        let (text, failed) = self.call(tool, arguments);
        assert!(!failed, "{tool} {shown}: {text}");
        text
    }

    /// A call that the protocol refuses.
    pub fn error(&self, tool: &str, arguments: Value) -> ErrorCode {
        match self.result(tool, arguments) {
            Err(ServiceError::McpError(error)) => error.code,
            other => panic!("{tool}: {other:?}"),
        }
    }
}
