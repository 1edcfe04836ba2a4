//! The systemd user unit.
//!
//! Hardening is what a user's manager can do without name spaces of its own, which many systems do not grant: no new privileges, no sockets but
//! local ones, no realtime, no writable code. The drainer reads transcripts wherever they lie, so no path is hidden from it.

use super::{MARK, Service, bytes};
use std::path::Path;

/// The unit's name.
pub(super) const NAME: &str = "sinker.service";

pub(super) fn text(service: &Service) -> String {
    let program = program(&service.program);
    let environment: String = service
        .environment
        .iter()
        .map(|(name, value)| format!("Environment=\"{name}={}\"\n", escaped(bytes(value.as_os_str()))))
        .collect();
    format!(
        "# {MARK}; `sinker service uninstall` removes it.
[Unit]
Description=Sinker: keeps what Claude Code sessions said
Documentation=man:systemd.service(5)
# Whoever holds the drain lock works; this one waits its turn, however long.
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart={program} drain
{environment}WorkingDirectory=/
# It leaves in order when its binary was replaced: the next one is the new one. It is refused while a hook's drainer is at work.
Restart=always
RestartSec=30
SuccessExitStatus=4
TimeoutStopSec=20
Nice=5
UMask=0077
LimitCORE=0
NoNewPrivileges=yes
RestrictAddressFamilies=AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
SystemCallArchitectures=native

[Install]
WantedBy=default.target
"
    )
}

/// The words of `ExecStart` that name the program.
///
/// In the first word specifiers are expanded and variables are not: a `$` is written as it is. systemd takes no program whose path holds quotes,
/// backslashes or control characters; then a shell is the program, and the path a later word, in which variables are expanded, too.
fn program(path: &Path) -> String {
    let raw = bytes(path.as_os_str());
    let odd = |b: &u8| matches!(b, b'"' | b'\'' | b'\\') || b.is_ascii_control();
    if raw.iter().any(odd) || path.to_str().is_none() {
        format!("/bin/sh -c 'exec \"$$0\" \"$$@\"' \"{}\"", escaped(raw).replace('$', "$$"))
    } else {
        format!("\"{}\"", escaped(raw))
    }
}

/// Text between double quotes: `%` would be a specifier, a backslash begins an escape, and what is no printable text is written as bytes.
fn escaped(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '%' => out.push_str("%%"),
                c if c.is_control() => {
                    c.to_string().bytes().for_each(|b| out.push_str(&format!("\\x{b:02x}")))
                }
                c => out.push(c),
            }
        }
        chunk.invalid().iter().for_each(|b| out.push_str(&format!("\\x{b:02x}")));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    #[test]
    fn the_unit_is_as_it_was_reviewed() {
        let service = Service {
            program: "/home/dev/.local/bin/sinker".into(),
            environment: vec![("SINKER_HOME".into(), "/home/dev/.local/share/sinker".into())],
        };
        assert_eq!(
            text(&service),
            "# Written by `sinker service install`; `sinker service uninstall` removes it.
[Unit]
Description=Sinker: keeps what Claude Code sessions said
Documentation=man:systemd.service(5)
# Whoever holds the drain lock works; this one waits its turn, however long.
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=\"/home/dev/.local/bin/sinker\" drain
Environment=\"SINKER_HOME=/home/dev/.local/share/sinker\"
WorkingDirectory=/
# It leaves in order when its binary was replaced: the next one is the new one. It is refused while a hook's drainer is at work.
Restart=always
RestartSec=30
SuccessExitStatus=4
TimeoutStopSec=20
Nice=5
UMask=0077
LimitCORE=0
NoNewPrivileges=yes
RestrictAddressFamilies=AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
SystemCallArchitectures=native

[Install]
WantedBy=default.target
"
        );
    }

    #[test]
    fn any_path_is_one_word_of_the_unit() {
        let table: &[(&[u8], &str)] = &[
            (b"/opt/my tools/sinker", "\"/opt/my tools/sinker\""),
            (b"/opt/100%/sinker", "\"/opt/100%%/sinker\""),
            (b"/opt/$HOME/sinker", "\"/opt/$HOME/sinker\""),
            (b"/opt/a\"b'c\\d/$x%", "/bin/sh -c 'exec \"$$0\" \"$$@\"' \"/opt/a\\\"b'c\\\\d/$$x%%\""),
            ("/opt/für/漢字/sinker".as_bytes(), "\"/opt/für/漢字/sinker\""),
            (b"/a\nb\x7f\xff/s", "/bin/sh -c 'exec \"$$0\" \"$$@\"' \"/a\\x0ab\\x7f\\xff/s\""),
        ];
        for (path, expected) in table {
            assert_eq!(program(Path::new(OsStr::from_bytes(path))), *expected);
        }
    }
}
