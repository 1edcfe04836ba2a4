//! Names of any service and their values, and the files of programs that log in (tidy: table).

use super::{Edges, Leave, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule::named(
        "docker-auth",
        &["auth\"", "auth\\", "auth:"],
        r#"(?i:auth)(?:\\*"[ \t]{0,4}:[ \t\r\n]{0,16}\\*"|:[ \t]{1,4}"?)([A-Za-z0-9+/]{8,}={0,2})"#,
    )
    .edges(Edges::Open)
    .reach(1024)
    .floor(2.0)
    .leave(Leave::Basic),
    Rule::named(
        "k8s-secret",
        &["kind: Secret"],
        r"(?i:kind: Secret)[ \t]*(?:\r?\n|\\+n)(?:[^\r\n\\]*(?:\r?\n|\\+n)){0,16}?[ +]*(?:stringData|data):[ \t]*((?:(?:\r?\n|\\+n)[+ ]+[\w.-]+:[ \t]*[^\s\\]+)+)",
    )
    .edges(Edges::Open)
    .reach(8 * 1024)
    .floor(1.5)
    .leave(Leave::Examples),
    // As a cluster prints it: in the order of the alphabet.
    Rule::named(
        "k8s-secret-first",
        &["kind: Secret\n", "kind: Secret\r", "kind: Secret\\"],
        r"(?:stringData|data):[ \t]*((?:(?:\r?\n|\\+n)[+ ]+[\w.-]+:[ \t]*[^\s\\]+)+)(?:\r?\n|\\+n)(?:[^\r\n\\]*(?:\r?\n|\\+n)){0,4}?[+ ]*",
    )
    .before()
    .edges(Edges::Open)
    .reach(8 * 1024)
    .floor(1.5)
    .leave(Leave::Examples),
    Rule::named(
        "k8s-secret-json",
        &["\"data\"", "\"data\\"],
        r#"(?i:"data\\*")[ \t]{0,4}:[ \t]{0,4}\{((?:(?:\\+n|[ \t\r\n])*\\*"[\w.-]+\\*"[ \t]*:[ \t]*\\*"[A-Za-z0-9+/]+={0,2}\\*",?)+)(?:\\+n|[ \t\r\n])*\},(?:\\+n|[ \t\r\n])*\\*"kind\\*"[ \t]{0,4}:[ \t]{0,4}\\*"Secret\\*""#,
    )
    .edges(Edges::Open)
    .reach(8 * 1024)
    .floor(1.5),
    Rule::named(
        "terraform-password",
        &["\"random_password\"", "\"random_password\\", "\"tls_private_key\"", "\"tls_private_key\\"],
        r#"(?i:"random_password\\*"|"tls_private_key\\*")(?s:.{0,1500}?)\\*"(?:result|private_key_pem)\\*"[ \t]{0,4}:[ \t]{0,4}\\*"([^"\\]{8,})"#,
    )
    .edges(Edges::Open)
    .reach(2048)
    .floor(2.2),
    Rule::named(
        "netrc",
        &["machine "],
        r"(?i:machine)[ \t]+[\w.:-]{1,128}(?:[ \t]|\r?\n|\\+n)+login[ \t]+[^\s\\]{1,128}(?:[ \t]|\r?\n|\\+n)+password[ \t]+([^\s\\]{4,256})",
    )
    .edges(Edges::Open)
    .reach(512)
    .floor(1.5)
    .leave(Leave::Urls),
    Rule::named(
        "curl-user",
        &["curl ", "wget ", "http ", "https "],
        r#"(?i:curl|wget|https?)[ \t](?:[^\n\r|;]{0,300}?[ \t])?(?:-u|--user|--proxy-user|-U|-a|--auth)(?:[ \t]{1,2}|=)?\\*["']?[^\x00-\x20\x7f"'`\\:/<>$\{-][^\x00-\x20\x7f"'`\\:/<>$\{]{0,127}:([^\x00-\x20\x7f"'`\\|<>]{4,128})"#,
    )
    .edges(Edges::Open)
    .reach(512)
    .floor(1.5)
    .leave(Leave::Urls),
    Rule::named(
        "password",
        &["password", "passwd", "passphrase", "passwort", "_pass", "pwd"],
        concat!(
            r"(?i)(?:pass(?:word|wd|phrase|wort)[\w.-]{0,24}|_pass(?:[_.-][\w.-]{0,20})?|pwd[\w.-]{0,24})(?:",
            assign!(),
            r"|%3D|[ \t]is[ \t])",
            r#"(?:["'`]([^\x00-\x20\x7f"'`\\]{6,})\\*["'`]|([^\x00-\x20\x7f"'`\\,;&<>()\{\}\[\]|]{6,}))"#
        ),
    )
    .edges(Edges::Open)
    .reach(320)
    .floor(2.2)
    .leave(Leave::Passwords),
    Rule::named(
        "config-password",
        &["password\"", "password\\"],
        r#"(?i:password)\\*" value=\\*"([^"\\\x00-\x20]{6,})"#,
    )
    .edges(Edges::Open)
    .floor(2.0)
    .leave(Leave::Urls),
    Rule::named(
        "secret-flag",
        &["--password", "--passphrase", "--token", "--api-key", "--secret", "--auth-token", "--access-token", "--token-secret", "--client-secret"],
        r#"(?i)--(?:password|passphrase|(?:auth-|access-)?token(?:-secret)?|api-key|(?:client-)?secret(?:-key)?)[ \t]{1,4}["'`]?([^\x00-\x20\x7f"'`\\,;|<>()\[\]]{8,})"#,
    )
    .edges(Edges::Open)
    .reach(320)
    .floor(2.5)
    .leave(Leave::Opaque),
    Rule::named(
        "secret",
        &[
            "secret",
            "token",
            "credential",
            "api_key",
            "api-key",
            "api key",
            "apikey",
            "access_key",
            "access-key",
            "accesskey",
            "private_key",
            "private-key",
            "privatekey",
            "signing_key",
            "signingkey",
            "encryption_key",
            "encryptionkey",
            "auth_key",
            "authkey",
        ],
        concat!(
            r"(?i)(?:secret|token|credential|(?:api|access|private)[_ -]?key|(?:signing|encryption|auth)_?key)[\w.-]{0,24}(?:",
            assign!(),
            r"|%3D)",
            r#"([^\x00-\x20\x7f"'`\\,;&<>()\{\}\[\]|#]{10,})"#
        ),
    )
    .edges(Edges::Open)
    .reach(320)
    .floor(3.1)
    .leave(Leave::Values),
    Rule::named("key", &["key"], concat!(r"(?i)keys?[\w.-]{0,12}", assign!(), r"([\w+/=-]{24,})"))
        .edges(Edges::Open)
        .reach(200)
        .floor(3.8)
        .leave(Leave::Keys),
];
