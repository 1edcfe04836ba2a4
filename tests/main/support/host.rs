//! The host's command `claude`, as far as an install calls it: a script that notes its arguments and keeps a register of one server.

use super::{Out, Sandbox, run_to_end};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

const SCRIPT: &str = r#"#!/bin/sh
echo "$@" >> "$CLAUDE_CONFIG_DIR/../claude.log"
[ -z "$CLAUDE_FAILS" ] || { echo "cannot do that" >&2; exit 1; }
[ -z "$CLAUDE_REFUSES" ] || case "$*" in *"$CLAUDE_REFUSES"*) echo "cannot do that" >&2; exit 1 ;; esac
register="$CLAUDE_CONFIG_DIR/.claude.json"
[ "$4" = project ] && register="$PWD/.mcp.json"
case "$2" in
add) printf '{"mcpServers":{"sinker":{"command":"%s","args":["%s"]}}}\n' "$7" "$8" > "$register" ;;
remove) printf '{\n  "mcpServers": {}\n}' > "$register" ;;
esac
"#;

impl Sandbox {
    /// Puts the script on a search path of its own.
    pub fn with_host(self) -> Self {
        let bin = self.root().join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::create_dir_all(self.root().join("tmp")).unwrap();
        std::fs::write(bin.join("claude"), SCRIPT).unwrap();
        std::fs::set_permissions(bin.join("claude"), std::fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    /// A command that finds no other `claude` than the script, and puts temporary files into this world.
    pub fn beside_host(&self, args: &[&str]) -> Command {
        let mut command = self.command(args);
        command.env("PATH", self.root().join("bin")).env("TMPDIR", self.root().join("tmp"));
        command
    }

    /// Runs it to its end.
    pub fn hosted(&self, args: &[&str]) -> Out {
        run_to_end(self.beside_host(args), b"")
    }

    /// Runs it with `--json`; it must end with `code` and one object.
    pub fn hosted_json(&self, code: i32, args: &[&str]) -> Value {
        let out = self.hosted(&[args, &["--json"]].concat());
        assert_eq!(out.code, Some(code), "{args:?}: {out}");
        serde_json::from_str(out.stdout.trim()).unwrap_or_else(|e| panic!("{args:?}: {e}: {out}"))
    }

    /// The lines that the script was called with.
    pub fn host_calls(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.user().join("claude.log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The user's settings file of the host.
    pub fn settings(&self) -> PathBuf {
        self.claude().join("settings.json")
    }
}
