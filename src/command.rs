//! A shell command as memory knows it: what makes two runs runs of one command, and what a run says about itself.

use regex::Regex;
use std::sync::LazyLock;

/// Longer commands are told apart by their beginning. Units: characters.
const CHARS: usize = 240;
/// Of a command that is told, so much. Units: characters.
const TOLD_CHARS: usize = 160;

/// A command without its dress: one line, without the `cd` before it and without what only shortens its output behind it.
///
/// `cd /p && cargo test 2>&1 | tail -20` and `cargo test` are one command.
pub fn plain(command: &str) -> String {
    let joined = command.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut rest = joined.as_str();
    while let Some(behind) = behind_cd(rest) {
        rest = behind;
    }
    while let Some(before) = without_end(rest) {
        rest = before;
    }
    match rest.char_indices().nth(CHARS) {
        Some((at, _)) => rest.get(..at).unwrap_or(rest).to_owned(),
        None => rest.to_owned(),
    }
}

/// A command as it is told, and found again: [`plain`], cut.
pub fn told(command: &str) -> String {
    let plain = plain(command);
    match plain.char_indices().nth(TOLD_CHARS) {
        Some((at, _)) => format!("{}…", plain.get(..at).unwrap_or_default()),
        None => plain,
    }
}

/// What follows a leading `cd <somewhere> &&` or `;`.
fn behind_cd(command: &str) -> Option<&str> {
    let rest = command.strip_prefix("cd ")?;
    let at = rest.find(" && ").map(|at| (at, 4)).or_else(|| rest.find("; ").map(|at| (at, 2)));
    let (at, len) = at?;
    let place = rest.get(..at)?;
    // Of a place with a command in it, what runs is not known.
    let is_plain = !place.contains(['|', '`', '$', '>', ';', '&']);
    rest.get(at + len..).filter(|behind| is_plain && !behind.is_empty())
}

/// What stands before an end that only shortens or joins what is printed.
fn without_end(command: &str) -> Option<&str> {
    let command = command.trim_end();
    let ends = ["2>&1", "2>/dev/null", "&>/dev/null", ";"];
    let before = ends.iter().find_map(|end| command.strip_suffix(end)).or_else(|| {
        let (before, last) = command.rsplit_once('|')?;
        let mut words = last.split_whitespace();
        let shortens = matches!(words.next(), Some("tail" | "head" | "cat"));
        let plain = words.all(|word| word.starts_with('-') || word.bytes().all(|b| b.is_ascii_digit()));
        (shortens && plain && !before.ends_with('|')).then_some(before)
    })?;
    Some(before.trim_end()).filter(|before| !before.is_empty())
}

/// The words of a command that name files, as they stand there, each once: with a folder or an ending, and no option, address, pattern or number.
pub fn paths(command: &str) -> Vec<&str> {
    let quiet = |c: char| c.is_whitespace() || "\"'`;|&()<>=,".contains(c);
    let mut found: Vec<&str> = Vec::new();
    for word in command.split(quiet) {
        if is_path(word) && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

fn is_path(word: &str) -> bool {
    /// Behind a name without a folder these end a host's name more often than a file's.
    const DOMAINS: [&str; 6] = ["com", "org", "net", "io", "dev", "app"];
    let plain = word.strip_prefix("./").unwrap_or(word);
    let odd = |c: char| "*?[]{}$\\:%@!#^+".contains(c);
    if word.len() > 1024 || plain.starts_with('-') || plain.contains(odd) || plain.contains("//") {
        return false;
    }
    let (folder, name) = plain.rsplit_once('/').map_or((None, plain), |(folder, name)| (Some(folder), name));
    let dotted = name.rsplit_once('.').filter(|(stem, end)| {
        let is_end = (1..=10).contains(&end.len()) && end.bytes().all(|b| b.is_ascii_alphanumeric());
        !stem.is_empty() && !stem.ends_with('.') && is_end && end.bytes().any(|b| b.is_ascii_alphabetic())
    });
    // `s/a/b.c/` of sed ends in a slash; `v1.2.rc1` is a version.
    let is_version =
        name.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit()) && folder.is_none();
    match (folder, dotted) {
        (_, None) => false,
        (None, Some((_, end))) => !is_version && !DOMAINS.contains(&end),
        (Some(_), Some(_)) => true,
    }
}

/// Does the shell report how the command itself ended? Behind a pipe it is the last one's status.
pub fn tells_its_status(command: &str) -> bool {
    let quiet: String = command.replace("||", "  ");
    !quiet.contains('|') && !command.contains("|| true") && !command.contains("|| echo")
}

/// Looking is not work: that these found nothing is no failure of the project.
const LOOKS: [&str; 22] = [
    "grep", "rg", "ls", "cat", "which", "test", "[", "[[", "diff", "find", "head", "tail", "stat", "type",
    "command", "cd", "sed", "echo", "wc", "file", "pgrep", "ps",
];

/// Does it only look at things?
pub fn only_looks(command: &str) -> bool {
    command.split_whitespace().next().is_none_or(|first| LOOKS.contains(&first))
}

/// Does it run tests?
pub fn runs_tests(command: &str) -> bool {
    static TESTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?x) (?:^|[\s;&|(/])
            (?: cargo\s+(?:\+\S+\s+)?(?:test|nextest|t)\b
              | (?:npm|pnpm|yarn|bun)\s+(?:run\s+|-\S+\s+|--\S+\s+)*(?:test|t)(?:[:\w-]*)\b
              | (?:npx|bunx|pnpm\ exec|yarn|pnpm)\s+(?:jest|vitest|mocha|ava|tap|playwright\s+test|cypress\s+run)\b
              | (?:vitest|jest|mocha|pytest|py\.test|rspec|phpunit|ctest|tox|nox|bats|busted)(?:\s|$)
              | python[\d.]*\s+-m\s+(?:pytest|unittest)\b
              | (?:uv|poetry|pipenv|hatch)\s+run\s+(?:\S+\s+)?pytest\b
              | (?:go|mix|swift|deno|dotnet|flutter|dart|zig\ build|bazel|sbt|lein|stack|cabal|rake|rails)\s+test\b
              | (?:mvn|\./mvnw)\s+(?:\S+\s+)*(?:test|verify)\b
              | (?:gradle|\./gradlew)\s+(?:\S+\s+)*\S*[tT]est\b
              | make\s+(?:-\S+\s+)*(?:test|check)[\w-]*\b
              | xcodebuild\s+(?:\S+\s+)*test\b
            )",
        )
        .ok()
    });
    TESTS.as_ref().is_some_and(|tests| tests.is_match(command))
}

/// The line in which a test runner sums up, as it stands there; the last one that does.
pub fn test_summary(output: &str) -> Option<&str> {
    static SUMS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?i)\b\d+ (?:tests? )?(?:passed|failed|passing|failing|failures?|examples?|pending)\b|^ok\s+\S+\s+[\d.]+s|^(?:PASS|FAIL|ok|FAILED|OK)\b.*$|\bTests run: \d+",
        )
        .ok()
    });
    let sums = SUMS.as_ref()?;
    let strong = |line: &&str| {
        let lower = line.to_lowercase();
        line.bytes().any(|b| b.is_ascii_digit())
            && ["passed", "failed", "passing", "failing", "failure", "tests run"]
                .iter()
                .any(|w| lower.contains(w))
    };
    let found: Vec<&str> =
        output.lines().map(str::trim).filter(|line| line.len() < 400 && sums.is_match(line)).collect();
    found.iter().rev().find(|line| strong(line)).or_else(|| found.last()).copied()
}

/// Does what was printed say that it failed, whatever the status?
pub fn says_it_failed(output: &str) -> bool {
    static FAILS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?m)^test result: FAILED|\b[1-9]\d* (?:tests? )?(?:failed|failing|failures?)\b|^error(?:\[E\d+\])?: |^npm ERR!|^Traceback \(most recent call last\)|^FAILED\b|^FAIL[:\s]|^--- FAIL|\bpanicked at\b|^fatal: |: command not found|^make: \*\*\* |^Error: |^E   |error TS\d+",
        )
        .ok()
    });
    FAILS.as_ref().is_some_and(|fails| fails.is_match(output))
}

/// The line that says best what went wrong, as it stands there; empty when nothing was printed.
pub fn error_line(output: &str) -> &str {
    static SURE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?i)\berror(?:\[\w+\])?:|\b\w*(?:Error|Exception)\b(?:\(.*\))?:|^E   |\bpanicked at\b|\bfatal:|\bFAIL(?:ED|URE)\b|command not found|No such file|^make: \*\*\*|\[error\]|\berror TS\d+",
        )
        .ok()
    });
    static MAY: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?i)\bERR(?:OR)?\b|\bfail(?:ed|s|ure)?\b|not found\b|cannot |can't |denied|refused|timed? ?out|unresolved|invalid|unexpected|unable to",
        )
        .ok()
    });
    let lines = || {
        let all = output.lines().map(str::trim);
        all.filter(|l| l.bytes().any(|b| b.is_ascii_alphanumeric()) && !l.starts_with("Exit code")).take(400)
    };
    let telling = |says: &'static LazyLock<Option<Regex>>| {
        move |line: &&str| {
            let lower = line.to_lowercase();
            let says = says.as_ref().is_some_and(|says| says.is_match(line));
            says && line.len() < 600 && !is_success(line) && !lower.contains("warning")
        }
    };
    lines()
        .find(telling(&SURE))
        .or_else(|| lines().find(telling(&MAY)))
        .or_else(|| lines().next())
        .unwrap_or_default()
}

/// A count of no errors is none.
fn is_success(line: &str) -> bool {
    let lower = line.to_lowercase();
    ["0 errors", "0 failed", "no errors", "0 failures"].iter().any(|none| lower.contains(none))
}

/// What makes two errors one: without numbers, addresses, times and places on the disk.
pub fn plain_error(error: &str) -> String {
    let mut out = String::with_capacity(error.len());
    for word in error.split_whitespace() {
        // Of a path, its last part.
        let word = match word.rsplit_once('/') {
            Some((head, last)) if head.contains('/') && !last.is_empty() => last,
            _ => word,
        };
        let is_hash = word.len() >= 8 && word.bytes().all(|b| b.is_ascii_hexdigit());
        if !out.is_empty() {
            out.push(' ');
        }
        let mut in_digits = false;
        for c in if is_hash { "#" } else { word }.chars() {
            if c.is_ascii_digit() {
                if !in_digits {
                    out.push('#');
                }
            } else {
                out.extend(c.to_lowercase());
            }
            in_digits = c.is_ascii_digit();
        }
    }
    out.chars().take(160).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dress_does_not_make_another_command() {
        let cases = [
            ("cd /p && cargo test 2>&1 | tail -20", "cargo test"),
            ("cd '/a b' && cd c; make   all", "make all"),
            ("cargo test", "cargo test"),
            ("npm run build 2>&1 | head -n 50", "npm run build"),
            ("npm run build 2>/dev/null", "npm run build"),
            ("cd $(mktemp -d) && ls", "cd $(mktemp -d) && ls"),
            ("cd /p", "cd /p"),
            ("a | grep b", "a | grep b"),
            ("| tail -5", "| tail -5"),
            ("", ""),
        ];
        for (command, expected) in cases {
            assert_eq!(plain(command), expected, "{command}");
        }
        assert_eq!(plain(&"é".repeat(500)).chars().count(), 240);
    }

    #[test]
    fn the_files_of_a_command_are_its_words_that_can_be_files() {
        let cases: [(&str, &[&str]); 9] = [
            ("cat ./a/b.rs | tee \"/tmp/out.log\"", &["./a/b.rs", "/tmp/out.log"]),
            ("python3 run.py --level=2 --file=conf/x.toml", &["run.py", "conf/x.toml"]),
            ("curl -s https://example.org/a.html example.com", &[]),
            ("sed -i s/a.b/c.d/ x.txt x.txt", &["x.txt"]),
            ("git checkout v1.2.rc1 -- src/a.rs; git log origin/main", &["src/a.rs"]),
            ("ls *.rs src/*.toml $HOME/x.sh > /dev/null", &[]),
            ("rg foo src tests", &[]),
            ("tar xf a.tar.gz 1.2.3 0.5", &["a.tar.gz"]),
            ("", &[]),
        ];
        for (command, expected) in cases {
            assert_eq!(paths(command), expected, "{command}");
        }
    }

    #[test]
    fn a_status_behind_a_pipe_is_not_the_commands() {
        for (command, tells) in
            [("make", true), ("make || make clean", true), ("make | tee log", false), ("make || true", false)]
        {
            assert_eq!(tells_its_status(command), tells, "{command}");
        }
    }

    #[test]
    fn tests_are_known_by_what_runs_them() {
        for command in [
            "cargo test",
            "cargo nextest run",
            "cd x && npm test",
            "npm run test:unit",
            "pnpm -r test",
            "yarn test",
            "npx vitest run",
            "pytest -q",
            "python3 -m pytest tests",
            "uv run pytest",
            "go test ./...",
            "make check",
            "./gradlew :app:testDebug connectedTest",
            "mvn -q test",
            "bundle exec rspec",
            "deno test",
        ] {
            assert!(runs_tests(command), "{command}");
        }
        for command in
            ["cargo build", "test -f x", "npm run build", "cat test.txt", "git log --grep test", "ls tests"]
        {
            assert!(!runs_tests(command), "{command}");
        }
    }

    #[test]
    fn a_runner_sums_up_in_a_line() {
        let cases = [
            (
                "running 2 tests\n\ntest result: ok. 2 passed; 0 failed; 0 ignored\n\n   Doc-tests x\n",
                "test result: ok. 2 passed; 0 failed; 0 ignored",
            ),
            (
                "Tests:       1 failed, 4 passed, 5 total\nTime: 2 s",
                "Tests:       1 failed, 4 passed, 5 total",
            ),
            ("===== 5 passed in 0.12s =====", "===== 5 passed in 0.12s ====="),
            ("ok  \texample.org/x\t0.2s", "ok  \texample.org/x\t0.2s"),
            ("  12 passing (30ms)\n", "12 passing (30ms)"),
        ];
        for (output, expected) in cases {
            assert_eq!(test_summary(output), Some(expected));
        }
        assert_eq!(test_summary("nothing here"), None);
    }

    #[test]
    fn the_line_that_says_what_went_wrong_is_found() {
        let cases = [
            ("Exit code 1\nCompiling x\nerror[E0432]: unresolved import", "error[E0432]: unresolved import"),
            ("Traceback (most recent call last):\n  File \"a.py\"\nKeyError: 'x'", "KeyError: 'x'"),
            ("Exit code 2\nsomething\nelse", "something"),
            ("0 errors\nbash: x: command not found", "bash: x: command not found"),
            (
                "[Parser] warning: a file is missing\nerror: script \"test\" exited with code 1",
                "error: script \"test\" exited with code 1",
            ),
            ("Exit code 1", ""),
        ];
        for (output, expected) in cases {
            assert_eq!(error_line(output), expected);
        }
    }

    #[test]
    fn one_error_at_two_places_is_one() {
        let one = plain_error("error at /home/a/src/x.rs:12: code 0x7f, id deadbeef01");
        assert_eq!(one, plain_error("error at /tmp/b/x.rs:9: code 0x8f, id 0123456789"));
        assert_ne!(one, plain_error("error at /tmp/b/y.rs:9: code 0x8f"));
    }

    #[test]
    fn what_failed_behind_a_pipe_says_so() {
        for output in
            ["test result: FAILED. 1 passed; 1 failed", "error: could not compile", "3 failing", "npm ERR! x"]
        {
            assert!(says_it_failed(output), "{output}");
        }
        for output in ["0 failed", "test result: ok. 1 passed; 0 failed", "no error here", ""] {
            assert!(!says_it_failed(output), "{output}");
        }
    }
}
