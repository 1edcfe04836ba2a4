//! The launchd agent.

use super::{MARK, Service, ServiceError};
use std::path::Path;

/// The agent's label.
pub(super) const LABEL: &str = "sinker.drain";

/// Errors: [`ServiceError::Path`] for a path that XML cannot hold.
pub(super) fn text(service: &Service) -> Result<String, ServiceError> {
    let program = escaped(&service.program)?;
    let mut environment = String::new();
    for (name, value) in &service.environment {
        environment
            .push_str(&format!("        <key>{name}</key>\n        <string>{}</string>\n", escaped(value)?));
    }
    Ok(format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- {MARK}; `sinker service uninstall` removes it. -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
    <key>Label</key>
    <string>{LABEL}</string>
    <key>ProgramArguments</key>
    <array>
        <string>{program}</string>
        <string>drain</string>
    </array>
    <key>EnvironmentVariables</key>
    <dict>
{environment}    </dict>
    <key>WorkingDirectory</key>
    <string>/</string>
    <key>RunAtLoad</key>
    <true/>
    <key>KeepAlive</key>
    <true/>
    <key>ThrottleInterval</key>
    <integer>30</integer>
    <key>ProcessType</key>
    <string>Background</string>
    <key>Umask</key>
    <integer>63</integer>
    <key>StandardOutPath</key>
    <string>/dev/null</string>
    <key>StandardErrorPath</key>
    <string>/dev/null</string>
</dict>
</plist>
"#
    ))
}

fn escaped(path: &Path) -> Result<String, ServiceError> {
    let refused = || ServiceError::Path(path.to_path_buf());
    let text = path.to_str().filter(|t| !t.chars().any(char::is_control)).ok_or_else(refused)?;
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\u{fffe}' | '\u{ffff}' => return Err(refused()),
            c => out.push(c),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    #[test]
    fn the_agent_is_as_it_was_reviewed() {
        let service = Service {
            program: "/opt/my tools/a&b <c>/sinker".into(),
            environment: vec![("SINKER_HOME".into(), "/home/dev/für \"$x\" %h".into())],
        };
        assert_eq!(
            text(&service).unwrap(),
            r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- Written by `sinker service install`; `sinker service uninstall` removes it. -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
    <key>Label</key>
    <string>sinker.drain</string>
    <key>ProgramArguments</key>
    <array>
        <string>/opt/my tools/a&amp;b &lt;c&gt;/sinker</string>
        <string>drain</string>
    </array>
    <key>EnvironmentVariables</key>
    <dict>
        <key>SINKER_HOME</key>
        <string>/home/dev/für "$x" %h</string>
    </dict>
    <key>WorkingDirectory</key>
    <string>/</string>
    <key>RunAtLoad</key>
    <true/>
    <key>KeepAlive</key>
    <true/>
    <key>ThrottleInterval</key>
    <integer>30</integer>
    <key>ProcessType</key>
    <string>Background</string>
    <key>Umask</key>
    <integer>63</integer>
    <key>StandardOutPath</key>
    <string>/dev/null</string>
    <key>StandardErrorPath</key>
    <string>/dev/null</string>
</dict>
</plist>
"#
        );
    }

    #[test]
    fn a_path_that_xml_cannot_hold_is_refused() {
        for path in [&b"/opt/a\nb"[..], b"/opt/\xff", "/opt/\u{ffff}".as_bytes()] {
            let service = Service { program: OsStr::from_bytes(path).into(), environment: Vec::new() };
            assert!(matches!(text(&service), Err(ServiceError::Path(_))));
        }
    }
}
