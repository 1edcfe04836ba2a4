//! A place without a way out: each scenario runs this very test again inside a network namespace whose only device is loopback.
//!
//! The inner process is the first of a pid namespace, too: whatever a scenario starts (clients, hooks, drainers) ends with it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Set inside: the client's path.
const INSIDE: &str = "SINKER_TEST_CLIENT_INSIDE";

/// Runs `scenario` inside, with the path of the client. `name` is the test's own, as the test harness lists it.
///
/// Where namespaces or the client are missing it says so and tries nothing.
pub fn isolated(name: &str, scenario: impl FnOnce(&Path)) {
    if let Some(client) = std::env::var_os(INSIDE) {
        let up = Command::new("ip").args(["link", "set", "lo", "up"]).status();
        assert!(up.is_ok_and(|s| s.success()), "loopback cannot be switched on");
        assert_alone();
        return scenario(Path::new(&client));
    }
    let client = match client() {
        Ok(client) => client,
        Err(why) => return skip(name, &why),
    };
    if let Err(why) = namespaces() {
        return skip(name, &why);
    }
    let out = unshare()
        .arg(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture", "--include-ignored", "--test-threads=1"])
        .env(INSIDE, client)
        .output()
        .unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    println!("{said}");
    assert!(out.status.success(), "{name} failed inside its namespace");
    assert!(said.contains("1 passed"), "{name} is not the name of this test");
}

fn unshare() -> Command {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--net", "--pid", "--fork", "--kill-child", "--"]);
    command
}

fn skip(name: &str, why: &str) {
    eprintln!("skipped: {name}: {why}");
}

fn client() -> Result<PathBuf, String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/host/client");
    let out =
        Command::new(&script).output().map_err(|e| format!("{} does not run: {e}", script.display()))?;
    match out.status.code() {
        Some(0) => Ok(PathBuf::from(String::from_utf8_lossy(&out.stdout).trim())),
        Some(3) => Err(String::from_utf8_lossy(&out.stderr).trim().to_owned()),
        _ => panic!("{}: {}", script.display(), String::from_utf8_lossy(&out.stderr)),
    }
}

/// Errors: what is missing here.
fn namespaces() -> Result<(), String> {
    let tried = unshare().args(["ip", "link", "set", "lo", "up"]).output();
    match tried {
        Ok(out) if out.status.success() => Ok(()),
        Ok(out) => Err(format!(
            "no unprivileged network namespace can be made here: {}",
            String::from_utf8_lossy(&out.stderr).trim()
        )),
        Err(error) => Err(format!("unshare (util-linux) does not run: {error}")),
    }
}

/// The scenarios use a made-up key, but it is the namespace that keeps them in: beside loopback's there is no route.
fn assert_alone() {
    for (table, ours) in [("/proc/self/net/route", 0), ("/proc/self/net/ipv6_route", 9)] {
        let routes = std::fs::read_to_string(table).unwrap_or_default();
        let out = routes
            .lines()
            .skip(usize::from(ours == 0))
            .filter(|l| l.split_whitespace().nth(ours) != Some("lo"));
        assert_eq!(out.collect::<Vec<_>>(), Vec::<&str>::new(), "a way out: {table}");
    }
}
