use super::samples::{SAMPLES, Sample, base64};
use super::*;
use proptest::prelude::*;

fn redactor() -> Redactor {
    Redactor::built_in(&Secret::from_bytes([42; 32]))
}

fn clean(text: &str) -> (String, Report) {
    let mut report = Report::default();
    let out = redactor().clean(text, &mut report).into_owned();
    (out, report)
}

fn sample(rule: &str) -> &'static Sample {
    SAMPLES.iter().find(|s| s.rule == rule).unwrap()
}

#[test]
fn every_rule_has_its_samples() {
    let rules: Vec<&str> = rules::built_in().map(|rule| rule.name).collect();
    let samples: Vec<&str> = SAMPLES.iter().map(|s| s.rule).collect();
    assert_eq!(rules, samples);
    assert!(rules.len() >= 80 && SAMPLES.iter().all(|s| !s.alike.is_empty()));
    let names: std::collections::BTreeSet<&str> = rules.iter().copied().collect();
    assert_eq!(names.len(), rules.len(), "two rules of one name");
}

#[test]
fn f65_each_rule_catches_its_sample_in_every_carrier() {
    let mut wrong = Vec::new();
    for rule in SAMPLES {
        let (whole, secret) = rule.draw(0);
        let quoted = serde_json::to_string(&format!("line\n{whole}\nline")).unwrap();
        let carriers = [
            whole.clone(),
            format!("We set it to {whole} and then went on."),
            format!("export X=1\n{whole}\nexport Y=2\n"),
            format!("@@ -1 +1 @@\n-old\n+{whole}\n context\n"),
            format!("    12\u{2192}{whole}\n    13\u{2192}next"),
            format!("\u{1b}[1;31m{whole}\u{1b}[0m"),
            format!("({whole})"),
            quoted.clone(),
            serde_json::to_string(&quoted).unwrap(),
        ];
        for text in carriers {
            let (out, report) = clean(&text);
            // What is escaped once more inside a string reads otherwise, but the longest plain run of the secret must be gone.
            let run = secret.split(['\\', '"', '\n']).max_by_key(|run| run.len()).unwrap();
            if out.contains(run) || report.count(rule.rule) != 1 {
                wrong.push(format!("{} in {text}\ngave {out}", rule.rule));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn only_the_secret_is_replaced() {
    let mut wrong = Vec::new();
    for rule in SAMPLES {
        let (whole, secret) = rule.draw(0);
        let marker = redactor().markers.make(rule.rule, &secret);
        let (out, expected) =
            (clean(&format!("a {whole} b")).0, format!("a {} b", whole.replace(&secret, &marker)));
        if out != expected {
            wrong.push(format!("{whole}\ngave {out}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn f66_each_rule_leaves_its_look_alikes() {
    let mut wrong = Vec::new();
    for rule in SAMPLES {
        for alike in rule.alike {
            let text = alike.concat();
            for text in [
                text.clone(),
                format!("a {text} b"),
                format!("{{\"a\":{}}}", serde_json::to_string(&text).unwrap()),
            ] {
                let (out, _) = clean(&text);
                if out != text {
                    wrong.push(format!("{}: {text}\ngave {out}", rule.rule));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// What Windows writes: UTF-16, either byte first, with a mark of the order and without.
fn utf16(text: &str, big: bool, mark: bool) -> Vec<u8> {
    let units = mark.then_some(0xfeff).into_iter().chain(text.encode_utf16());
    units.flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
}

/// Base64 of a text, of a file in lines, of UTF-16, and what a URL escapes.
#[test]
fn f65_a_secret_in_a_text_that_is_encoded_is_found() {
    let mut wrong = Vec::new();
    for rule in SAMPLES {
        let (whole, secret) = rule.draw(0);
        let file = format!("# settings of the harbour\nNAME=harbor\n{whole}\nPORT=8080\n");
        let one = base64(file.as_bytes());
        let lines: Vec<&str> =
            one.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).unwrap()).collect();
        let url: String = file
            .bytes()
            .map(|b| match b {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                    char::from(b).to_string()
                }
                b => format!("%{b:02X}"),
            })
            .collect();
        let wide = utf16(&file, secret.len() % 2 == 0, secret.len() % 3 == 0);
        let wide = base64(&wide);
        let (out, _) = clean(&format!("powershell -EncodedCommand {wide}"));
        if out.contains(wide.get(40..80).unwrap()) {
            wrong.push(format!("{} in UTF-16 {wide}\ngave {out}", rule.rule));
        }
        for text in [
            one.clone(),
            format!("{{\"content\":\"{one}\"}}"),
            format!("line\\n{one}\\n"),
            format!("path/{one}"),
            lines.join("\n"),
            lines.join("\\n"),
            base64(one.as_bytes()),
        ] {
            let (out, _) = clean(&text);
            let left: String = out.split(['\n', '\\', '[']).map(str::to_owned).collect();
            if out == text || left.contains(&one.get(60..84).unwrap().to_owned()) {
                wrong.push(format!("{} in {text}\ngave {out}", rule.rule));
            }
        }
        let (out, _) = clean(&format!("GET /?q={url}&b=1"));
        if out.contains(secret.split(|c: char| !c.is_ascii_alphanumeric()).max_by_key(|r| r.len()).unwrap()) {
            wrong.push(format!("{} in {url}\ngave {out}", rule.rule));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    for text in [
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        &base64(b"a text of no secrets at all, only words"),
        &base64(&utf16("Get-ChildItem -Recurse | Select-String harbor", false, true)),
        &base64(&[7, 0, 65, 0, 66, 0, 0, 0, 200, 1, 0, 9, 0, 4, 0, 1, 0, 0, 65, 0, 65, 0, 1, 0, 8, 0]),
        "100%25 of https://host/?q=a%20b%20c",
    ] {
        assert_eq!(clean(text).0, text);
    }
}

/// What chance writes into a key makes no example of it.
#[test]
fn a_key_is_one_whatever_short_word_is_in_it_by_chance() {
    let key = ["sk-a", "nt-api03-", "sX27gYjasIMiJW7PxcRrK8HeoIXOB56C6ZBfAKebfa5yyN_8hhKKieq-HO"].concat();
    assert_eq!(clean(&key).1.count("anthropic-key"), 1);
    for word in ["fake", "FAKE", "Dummy"] {
        let example = ["sk-a", "nt-", word, "-key-of-the-documentation-1"].concat();
        assert_eq!(clean(&example).0, example);
    }
}

#[test]
fn f66_look_alikes_of_secrets_are_left() {
    let cases = [
        "id: 123e4567-e89b-12d3-a456-426614174000",
        "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        r#""integrity": "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==""#,
        r#"checksum = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae""#,
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "aws_access_key_id = AKIAIOSFODNN7EXAMPLE",
        "keys that begin with sk- are long, as in sk-1234 or sk-<your key>",
        "!function(e,t){var n=e.token||t.token,r={key:n.apiKey,secret:t.secretKey2};return n.password=r.pwd,e.headers.Authorization=\"Bearer \".concat(n)}",
        "const [password, setPassword] = useState('');",
        "if (!user.password) throw new Error('password missing')",
        "def login(username: str, password: str) -> Token:",
        "Authorization: Bearer <token>",
        "SECRET_KEY=\nDEBUG=1",
        "token = os.environ[\"GITHUB_TOKEN\"]",
        "password_hash: $2b$12$",
        "tokenCount: 12345, cache_read_input_tokens: 1234567",
        "\"key\": \"toolu_01\"",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl user@host",
        "http://localhost:3000/api?token=",
        "x.y.z:1234@5",
    ];
    for text in cases {
        assert_eq!(clean(text).0, text);
    }
}

#[test]
fn ordinary_text_is_borrowed() {
    let mut report = Report::default();
    assert!(matches!(redactor().clean("the token of the key", &mut report), Cow::Borrowed(_)));
    assert!(report.is_empty());
}

#[test]
fn equal_secrets_stay_equal_and_only_under_one_key() {
    let (whole, _) = sample("github-token").draw(0);
    let (one, _) = clean(&format!("a {whole}"));
    let (two, _) = clean(&format!("b {whole}"));
    assert_eq!(one.get(2..), two.get(2..));
    let mut report = Report::default();
    let other = Redactor::built_in(&Secret::from_bytes([43; 32]));
    assert_ne!(other.clean(&format!("a {whole}"), &mut report), one);
    assert!(!format!("{report:?}").contains(&whole));
}

#[test]
fn private_spans_and_our_own_context_go_before_the_rules() {
    let secret = Secret::from_bytes([42; 32]);
    let fence = format!("sinker-memory-{}00c0ffee", secret.fence_prefix());
    let (whole, _) = sample("github-token").draw(0);
    let text = format!(
        "a<{fence}>note {whole} <private>x</{fence}>b<PRIVATE>{whole}</private>c {whole} d<private>e"
    );
    let (out, report) = clean(&text);
    assert!(out.starts_with("ab[redacted:private:") && out.contains("c [redacted:github-token:"), "{out}");
    assert!(!out.contains("note") && out.ends_with(']'), "{out}");
    let counts: Vec<_> = report.counts().iter().map(|(k, v)| (*k, *v)).collect();
    assert_eq!(counts, [("github-token", 1), ("own-context", 1), ("private", 2)]);
}

#[test]
fn what_a_removal_brings_together_is_seen() {
    let secret = Secret::from_bytes([42; 32]);
    let fence = format!("sinker-memory-{}00c0ffee", secret.fence_prefix());
    let inner = format!("<{fence}>x</{fence}>");
    let (whole, body) = sample("npm-token").draw(0);
    let (head, tail) = whole.split_at(10);
    assert!(!clean(&format!("{head}{inner}{tail}")).0.contains(&body));
    assert!(clean(&format!("<pri{inner}vate>hidden")).0.starts_with("[redacted:private:"));
    // Nested deeper than anybody would: nothing of it is kept.
    let mut deep = "hidden".to_owned();
    for _ in 0..20 {
        deep = format!("<sinker{deep}<{fence}></{fence}>-memory-{}00c0ffee>", secret.fence_prefix());
    }
    let (out, _) = clean(&deep);
    assert_eq!(clean(&out).0, out);
}

/// Near matches end within a count of work, and what was not scanned is not kept. (In megabytes for those whose count the bound meets
/// early; the others, which are scanned whole, are linear by the same bound.)
#[test]
fn f68_near_matches_cost_a_bounded_amount_of_work() {
    let begin = ["-----BEGIN PRIV", "ATE KEY-----"].concat();
    let cases = [
        ("ghp_", 1, false),
        ("-eyJ", 5, true),
        ("eyJhbGciOi.", 5, true),
        ("token=", 1, true),
        ("token = a", 1, false),
        ("password", 1, false),
        ("://a:b", 1, true),
        (begin.as_str(), 5, true),
        ("-----BEGIN CERT", 5, false),
        ("<private", 5, false),
        ("[redacted:a:0000]", 5, false),
        ("Authorization: Bearer ", 5, true),
    ];
    for (near, megabytes, given_up) in cases {
        let text = near.repeat(megabytes * 1024 * 1024 / near.len());
        let (out, report) = clean(&text);
        assert_eq!(report.count(rules::UNSCANNED) == 1 && out.len() < 64, given_up, "{near}");
        assert!(given_up || out == text, "{near}");
    }
    let (out, _) = clean(&format!("{} the rest", "-eyJ".repeat(1_500_000)));
    assert!(out.starts_with("[redacted:unscanned:") && out.len() < 64, "{out:.80}");
}

#[test]
fn a_secret_longer_than_the_reach_goes_whole() {
    let long = format!("gh{}{}", "p_", "aB3dE5fG7h".repeat(200));
    let (out, _) = clean(&format!("x {long} y"));
    assert!(out.starts_with("x [redacted:github-token:") && out.ends_with("] y"), "{out}");
}

#[test]
fn rule_names_fit_in_a_marker() {
    for rule in rules::built_in() {
        let made = redactor().markers.make(rule.name, "x");
        assert_eq!(marker::spans(&made).len(), 1, "{}", rule.name);
    }
}

/// Text with everything in it that means something here.
fn pieces() -> impl Strategy<Value = String> {
    let rules = (0..SAMPLES.len(), any::<u64>()).prop_map(|(at, seed)| SAMPLES[at].draw(seed).0);
    let prefix = Secret::from_bytes([42; 32]).fence_prefix();
    let cut = (0..SAMPLES.len(), any::<u64>(), any::<prop::sample::Index>()).prop_map(|(at, seed, cut)| {
        let whole = SAMPLES[at].draw(seed).0;
        let chars: Vec<char> = whole.chars().collect();
        chars[..cut.index(chars.len())].iter().collect()
    });
    let words = prop::sample::select(vec![
        "<private>".to_owned(),
        "</private>".to_owned(),
        format!("<sinker-memory-{prefix}00c0ffee>"),
        format!("</sinker-memory-{prefix}00c0ffee>"),
        "<sinker-memory-".to_owned(),
        "[redacted:jwt:00ff]".to_owned(),
        "[redacted:".to_owned(),
        " ".to_owned(),
        "\n".to_owned(),
        "\\n".to_owned(),
        "\"".to_owned(),
        "password=".to_owned(),
        "token: ".to_owned(),
        "key".to_owned(),
        "://".to_owned(),
        "@".to_owned(),
        "é".to_owned(),
        "=".to_owned(),
        "Bearer ".to_owned(),
        "Cookie: a=".to_owned(),
    ]);
    let piece = prop_oneof![3 => words, 2 => rules, 1 => cut, 2 => ".{0,12}"];
    prop::collection::vec(piece, 0..12).prop_map(|all| all.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn f67_redacting_twice_is_redacting_once(text in pieces()) {
        let (once, _) = clean(&text);
        let (twice, report) = clean(&once);
        prop_assert_eq!(&twice, &once);
        prop_assert!(report.is_empty());
    }

    #[test]
    fn a_planted_secret_never_survives(before in pieces(), after in pieces(), at in 0..SAMPLES.len(), seed in any::<u64>(), gap in prop::sample::select(vec!["\n", " \n", "\\n"])) {
        let (whole, secret) = SAMPLES[at].draw(seed);
        // By chance drawn into an example's likeness.
        prop_assume!(clean(&whole).1.total() > 0);
        let (out, _) = clean(&format!("{before}{gap}{whole}{gap}{after}"));
        prop_assert!(!out.contains(&secret), "{} gave {}", whole, out);
    }

    #[test]
    fn text_without_keywords_is_untouched(text in "[ a-df-jl-oq-rt-z0-9éß\n]{0,200}") {
        let mut report = Report::default();
        prop_assert!(matches!(redactor().clean(&text, &mut report), Cow::Borrowed(_)));
    }
}

#[test]
fn a_token_cut_by_what_nobody_sees_is_still_a_token() {
    let redactor = Redactor::built_in(&Secret::from_bytes([7; 32]));
    let (head, tail) = ("ghp", "_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8");
    for cut in [
        "\u{1b}[m\u{1b}[K",
        "\u{200b}",
        "\u{ad}",
        "\u{202e}",
        "\0",
        "\u{e0041}",
        "\u{1b}]0;t\u{7}",
        "\u{9b}1m",
    ] {
        let text = format!("found: \u{1b}[31m{head}{cut}{tail}\u{1b}[0m here");
        let mut report = Report::default();
        let kept = redactor.clean(&text, &mut report);
        assert!(!kept.contains("A1b2C3d4") && kept.contains("[redacted:github-token:"), "{cut:?}: {kept}");
        assert_eq!(redactor.clean(&kept, &mut Report::default()), kept);
    }
    let coloured = "\u{1b}[31mred\u{1b}[0m and \u{1f600} stay as they are";
    assert_eq!(redactor.clean(coloured, &mut Report::default()), coloured);
}
