//! The table of what a secret looks like (tidy: table). A new kind is a row here, with what it must catch and what it must leave beside it.
//!
//! Keywords are found without regard to case, all in one sweep; a pattern is tried only where one of its keywords begins, anchored
//! there, on bytes and ASCII only. What must go is the first group that took part, else the whole match. No pattern
//! may be able to reach further than `reach` bytes to decide that there is a secret; the rest of a longer one goes with it.
//! Samples are written in pieces, so that this file holds nothing that looks like a live secret.

/// Marker of spans that a person called private.
pub(super) const PRIVATE: &str = "private";
/// Marker of texts that were too costly to scan.
pub(super) const UNSCANNED: &str = "unscanned";
/// Count of our own context that came back; it leaves no marker.
pub(super) const OWN_CONTEXT: &str = "own-context";

/// Raised with every change of the table that finds more than before.
pub(super) const VERSION: i64 = 1;

/// One kind of secret.
pub(super) struct Rule {
    /// In the marker and the report: lower case, digits and `-`, at most 40.
    pub(super) name: &'static str,
    /// Where a match may begin.
    pub(super) keywords: &'static [&'static str],
    /// What may stand beside the match.
    pub(super) edges: Edges,
    /// How it is recognised from its keyword on.
    pub(super) shape: Shape,
    /// How far from the keyword it looks. Units: bytes.
    pub(super) reach: usize,
    /// Below this it is no secret. Units: bits of entropy a byte.
    pub(super) floor: f64,
    /// Which look-alikes it leaves.
    pub(super) leave: Leave,
    /// What it must catch, and what it must leave.
    #[cfg(test)]
    pub(super) samples: Samples,
}

/// What may stand beside a match.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Edges {
    /// Anything: its beginning is like nothing else.
    Open,
    /// No letter or digit before it.
    Left,
    /// No letter or digit before or behind it.
    Closed,
}

/// How a match is recognised.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// An expression, anchored at the keyword.
    Pattern(&'static str),
    /// A private key block.
    KeyBlock,
}

/// Which look-alikes are left alone.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Leave {
    /// None.
    Nothing,
    /// Examples of documentation.
    Examples,
    /// Examples, references and words, for what stands behind an announcement.
    Opaque,
    /// For values of names: also uuids, dates, digests, code.
    Values,
    /// For values of plain `key`: also hex and names of lookups.
    Keys,
    /// For values of passwords: short ones count, words do not.
    Passwords,
    /// Passwords in URLs: everything but references and the words of tutorials.
    Urls,
    /// Everything that does not decode to `user:password`.
    Basic,
    /// Cookies without an opaque part.
    Cookies,
}

/// Samples of one rule, in pieces.
#[cfg(test)]
pub(super) struct Samples {
    /// What stands before the secret and belongs to the match.
    pub(super) before: &'static str,
    /// The secret; the last piece may be drawn anew, letter for letter and digit for digit.
    pub(super) secret: &'static [&'static str],
    /// What stands behind the secret and belongs to the match.
    pub(super) after: &'static str,
    /// Look-alikes.
    pub(super) alike: &'static [&'static [&'static str]],
}

/// From a name to its value: closing quote of the name, sign of assignment (also after a type, in XML, as a second argument), opening quote.
macro_rules! assign {
    () => {
        r#"\\*["'`]?\]?[ \t]{0,8}(?:=>|:=|[!=]?==?|\?=|:[ \t]?[&A-Za-z<>' ]{2,20}=|[:>]|(?:,|\|\||\?\?)(?:[ \t]?\\*["'`]))[ \t]{0,8}(?:[bfr]?\\*["'`])?"#
    };
}

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "private-key",
        keywords: &["-----BEGIN ", "-----END "],
        edges: Edges::Open,
        shape: Shape::KeyBlock,
        reach: super::pem::LONGEST,
        floor: 0.0,
        leave: Leave::Nothing,
        #[cfg(test)]
        samples: Samples {
            before: "",
            secret: &[
                "-----BEGIN PRIV",
                "ATE KEY-----\\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\\nMzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu\\nNMoSfm76oqFvAp8Gy0iz5sxjZmSnXyCdPEovGhLa0VzMaQ8s+CLOyS56YyCFGeJZ\\nc3RlcA==\\n-----END PRIV",
                "ATE KEY-----",
            ],
            after: "",
            alike: &[
                &["-----BEGIN PRIV", "ATE KEY-----\n...\n-----END PRIV", "ATE KEY-----"],
                &[
                    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n-----END CERTIFICATE-----",
                ],
            ],
        },
    },
    Rule {
        name: "encoded-private-key",
        keywords: &["LS0tLS1CRUdJTi"],
        edges: Edges::Open,
        shape: Shape::Pattern(
            r"LS0tLS1CRUdJTi(?:BQUklWQVRF|BSU0EgUFJJ|BFQyBQUklW|BPUEVOU1NI|BFTkNSWVBU|BEU0EgUFJJ|BQR1AgUFJJ)[A-Za-z0-9+/]{40,}={0,2}(?:(?:\\+[nr]|[ \t\r\n])+[A-Za-z0-9+/=]{40,})*(?:(?:\\+[nr]|[ \t\r\n])+[A-Za-z0-9+/]{4,75}={0,2})?",
        ),
        reach: 24 * 1024,
        floor: 3.0,
        leave: Leave::Nothing,
        #[cfg(test)]
        samples: Samples {
            before: "",
            secret: &[
                "LS0tLS1CRUdJ",
                "TiBQUklWQVRFIEtFWS0tLS0tCk1JSUV2",
                "UUlCQURBTkJna3Foa2lHOXcwQkFRRUZBQVND",
            ],
            after: "",
            alike: &[&["LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSURkekNDQWwrZ0F3SUJBZ0lFQWdBQXVUQU5C"]],
        },
    },
    Rule {
        name: "aws-access-key",
        keywords: &["AKIA", "ASIA", "ABIA", "ACCA"],
        edges: Edges::Closed,
        shape: Shape::Pattern(r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}"),
        reach: 64,
        floor: 3.0,
        leave: Leave::Examples,
        #[cfg(test)]
        samples: Samples {
            before: "",
            secret: &["AKI", "A", "QYLPMN5HFIQR7XYA"],
            after: "",
            alike: &[
                &["AKIAIOSFODNN7EXAMPLE"],
                &["AKIAAAAAAAAAAAAAAAAA"],
                &["AKIAQYLPMN5HFIQR7XYAB2"],
                &["AsiaPacific"],
            ],
        },
    },
    Rule {
        name: "aws-secret-key",
        keywords: &["aws_secret", "aws-secret", "secret_access_key", "secretaccesskey", "secret access key"],
        edges: Edges::Closed,
        shape: Shape::Pattern(concat!(
            r"(?i)(?:aws[_-]secret|secret[_ ]?access[_ ]?key)[\w-]{0,20}",
            assign!(),
            r"([A-Za-z0-9/+]{40})"
        )),
        reach: 160,
        floor: 3.5,
        leave: Leave::Examples,
        #[cfg(test)]
        samples: Samples {
            before: "aws_secret_access_key = ",
            secret: &["nYl6", "qTrSh7uX3pKzFw2cVmDeB9aGjL4sRoNiQ1kT"],
            after: "",
            alike: &[
                &["aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"],
                &["aws_secret_access_key = ${AWS_SECRET_ACCESS_KEY}"],
            ],
        },
    },
    Rule {
        name: "gcp-api-key",
        keywords: &["AIza"],
        edges: Edges::Closed,
        shape: Shape::Pattern(r"AIza[\w-]{35}"),
        reach: 64,
        floor: 3.0,
        leave: Leave::Examples,
        #[cfg(test)]
        samples: Samples {
            before: "",
            secret: &["AIz", "a", "SyDk3mQ7rTz9XwLp2VbNc5HfJg8Ks4Ae6Ru"],
            after: "",
            alike: &[&["AIzaSyXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX"], &["AIzaSyTooShort"]],
        },
    },
    Rule {
        name: "gcp-oauth",
        keywords: &["GOCSPX-", "ya29."],
        edges: Edges::Left,
        shape: Shape::Pattern(r"(?:GOCSPX-[\w-]{20,}|ya29\.[\w-]{20,})"),
        reach: 512,
        floor: 3.0,
        leave: Leave::Examples,
        #[cfg(test)]
        samples: Samples {
            before: "",
            secret: &["GOCS", "PX-", "k3JzQ9vXb7LmT2wRy5NcHd8FgP4s"],
            after: "",
            alike: &[&["GOCSPX-your_client_secret_is_here"]],
        },
    },
    Rule {
        name: "azure-key",
        keywords: &["AccountKey=", "SharedAccessKey=", "sig="],
        edges: Edges::Open,
        shape: Shape::Pattern(
            r"(?i)(?:(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,}={0,2})|sig=([A-Za-z0-9%+/]{40,80}(?:%3D|=)))",
        ),
        reach: 256,
        floor: 3.5,
        leave: Leave::Examples,
        #[cfg(test)]
        samples: Samples {
            before: "DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=",
            secret: &["Zm9v", "YmFyQ3v8Xk2LpRt7WnYb4HsJd6FgMc9Ea1UoIqVzTlKwNxPr5BhGuSyDeOi0QjAfZm3C=="],
            after: ";EndpointSuffix=core.windows.net",
            alike: &[&["AccountKey=<account-key>"], &["?sig=abc"]],
        },
    },
    Rule {
        name: "github-token",
        keywords: &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        edges: Edges::Open,
        shape: Shape::Pattern(r"(?:gh[opusr]_[A-Za-z0-9]{36,}|github_pat_\w{36,})"),
        reach: 256,
        floor: 3.0,
        leave: Leave::Examples,
        #[cfg(test)]
        samples: Samples {
            before: "",
            secret: &["gh", "p_", "16C7e42F292c6912E7710c838347Ae178B4a"],
            after: "",
            alike: &[
                &["ghp_", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"],
                &["ghp_short"],
                &["tokens begin with ghp_ or github_pat_"],
            ],
        },
    },
    Rule {
        name: "gitlab-token",
        keywords: &[
            "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glsoat-",
            "gloas-",
        ],
        edges: Edges::Left,
        shape: Shape::Pattern(
            r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|oas)-[\w-]{20,}(?:\.[\w-]{2,}){0,2}",
        ),
        reach: 256,
        floor: 3.0,
        leave: Leave::Examples,
        #[cfg(test)]
        samples: Samples {
            before: "",
            secret: &["glp", "at-", "Zk8rX2vQ7mTb4LpW9cYd"],
            after: "",
            alike: &[&["glpat-xxxxxxxxxxxxxxxxxxxx"], &["glpat-is-the-prefix"]],
        },
    },
    Rule {
        name: "slack-token",
        keywords: &["xoxa-", "xoxb-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"],
        edges: Edges::Left,
        shape: Shape::Pattern(r"(?:xoxe\.)?(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{16,}"),
        reach: 256,
        floor: 2.8,
        leave: Leave::Opaque,
        #[cfg(test)]
        samples: Samples {
            before: "",
            secret: &["xox", "b-", "284719360512-284719360512-Qm7XkTz2VbLp9RwYc4NdHs8F"],
            after: "",
            alike: &[&["xoxb-your-slack-bot-token-here"], &["xoxb-", "xxxxxxxxxxxx-xxxxxxxxxxxx"]],
        },
    },
    Rule {
        name: "slack-webhook",
        keywords: &["hooks.slack.com/"],
        edges: Edges::Open,
        shape: Shape::Pattern(r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/_-]{30,})"),
        reach: 256,
        floor: 3.0,
        leave: Leave::Examples,
        #[cfg(test)]
        samples: Samples {
            before: "https://hooks.slack.com/services/",
            secret: &["T02", "A7KQ9M/B03", "X8LPN2R/q7ZtVb4WmKc9XyLd2RfGh6Ns"],
            after: "",
            alike: &[&["https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX"]],
        },
    },
    Rule {
        name: "stripe-key",
        keywords: &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_", "whsec_"],
        edges: Edges::Left,
        shape: Shape::Pattern(r"(?:[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{24,})"),
        reach: 256,
        floor: 3.0,
        leave: Leave::Examples,
        #[cfg(test)]
        samples: Samples {
            before: "",
            secret: &["sk_li", "ve_", "4eC39HqLyjWDarjtT1zdp7dc"],
            after: "",
            alike: &[
                &["sk_test_", "xxxxxxxxxxxxxxxxxxxx"],
                &["sk_live_ is the prefix"],
                &["risk_test_", "coverageOfModule1"],
            ],
        },
    },
    Rule {
        name: "npm-token",
        keywords: &["npm_"],
        edges: Edges::Left,
        shape: Shape::Pattern(r"npm_[A-Za-z0-9]{36,}"),
        reach: 128,
        floor: 3.0,
        leave: Leave::Examples,
        #[cfg(test)]
        samples: Samples {
            before: "",
            secret: &["np", "m_", "Zk8rX2vQ7mTb4LpW9cYd3HsNf6JgKa5EuRo1"],
            after: "",
            alike: &[&["npm_config_registry"], &["npm_lifecycle_event"]],
        },
    },
    Rule {
        name: "pypi-token",
        keywords: &["pypi-AgE"],
        edges: Edges::Left,
        shape: Shape::Pattern(r"pypi-AgE[\w-]{50,}"),
        reach: 512,
        floor: 3.0,
        leave: Leave::Examples,
        #[cfg(test)]
        samples: Samples {
            before: "",
            secret: &["pyp", "i-AgE", "IcHlwaS5vcmcCJDk3mQ7rTz9XwLp2VbNc5HfJg8Ks4Ae6RuZy1XtBw"],
            after: "",
            alike: &[&["pypi-AgEIcHlwaS5vcmc"]],
        },
    },
    Rule {
        name: "anthropic-key",
        keywords: &["sk-ant-"],
        edges: Edges::Left,
        shape: Shape::Pattern(r"sk-ant-[\w-]{20,}"),
        reach: 256,
        floor: 3.2,
        leave: Leave::Opaque,
        #[cfg(test)]
        samples: Samples {
            before: "",
            secret: &["sk-a", "nt-api03-", "Zk8rX2vQ7mTb4LpW9cYd3HsNf6JgKa5EuRo1_Qw7ErTy-AA"],
            after: "",
            alike: &[&["sk-ant-api03-your_key_goes_here_please"], &["sk-ant-..."]],
        },
    },
    Rule {
        name: "openai-key",
        keywords: &["sk-"],
        edges: Edges::Left,
        shape: Shape::Pattern(r"sk-(?:(?:proj|svcacct|admin|None|or-v1)-)?[\w-]{20,}"),
        reach: 256,
        floor: 3.5,
        leave: Leave::Opaque,
        #[cfg(test)]
        samples: Samples {
            before: "",
            secret: &["sk", "-proj-", "Zk8rX2vQ7mTb4LpW9cYdT3BlbkFJHs6NfJgKa5EuRo1Qw7E"],
            after: "",
            alike: &[
                &["sk-fading-circle12 sk-fading-circle-container"],
                &["the sk- prefix"],
                &["task-Zk8rX2vQ7mTb4LpW9cYd"],
            ],
        },
    },
    Rule {
        name: "jwt",
        keywords: &["eyJ"],
        edges: Edges::Left,
        shape: Shape::Pattern(r"eyJ[\w-]{8,}\.(?:eyJ[\w-]{8,}(?:\.[\w-]*)?|[\w-]{16,}(?:\.[\w-]*){1,3})"),
        reach: 2048,
        floor: 3.0,
        leave: Leave::Nothing,
        #[cfg(test)]
        samples: Samples {
            before: "",
            secret: &[
                "ey",
                "JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.ey",
                "JzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4ifQ.",
                "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJVadQssw5c",
            ],
            after: "",
            alike: &[&["eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"], &["eyJ.method.call"]],
        },
    },
    Rule {
        name: "url-password",
        keywords: &["://"],
        edges: Edges::Open,
        shape: Shape::Pattern(
            r#"://[^\x00-\x20\x7f:/@"'`<>\\?#]{0,128}:(?:([^\x00-\x20\x7f"'`<>\\/]{1,256})|([^\x00-\x20\x7f"'`<>\\]{16,256}))@[\w\[$\{]"#,
        ),
        reach: 512,
        floor: 0.0,
        leave: Leave::Urls,
        #[cfg(test)]
        samples: Samples {
            before: "postgres://app:",
            secret: &["h7t", "9sL4q"],
            after: "@db.internal:5432/app",
            alike: &[
                &["postgres://app:$", "{DB_PASSWORD}@db:5432/app"],
                &["postgres://user:password@localhost/app"],
                &["http://localhost:8080/a@b"],
                &["http://localhost:8080/~user1/projects2/@scope/name"],
                &["https://host:443 and me@host"],
                &["https://<user>:<token>@host"],
            ],
        },
    },
    Rule {
        name: "basic-auth",
        keywords: &["authorization"],
        edges: Edges::Open,
        shape: Shape::Pattern(concat!(
            r"(?i)(?:authorization)",
            assign!(),
            r"basic[ \t]{1,4}([A-Za-z0-9+/]{4,}={0,2})"
        )),
        reach: 512,
        floor: 1.5,
        leave: Leave::Basic,
        #[cfg(test)]
        samples: Samples {
            before: "Authorization: Basic ",
            secret: &["YWxh", "ZGRpbjpv", "cGVuc2VzYW1l"],
            after: "",
            alike: &[&["Authorization: Basic authentication"], &["Authorization: Basic $CREDENTIALS"]],
        },
    },
    Rule {
        name: "authorization",
        keywords: &["authorization", "bearer", "x-api-key", "x-auth-token", "private-token"],
        edges: Edges::Open,
        shape: Shape::Pattern(concat!(
            r"(?i)(?:bearer[ \t]{1,4}|(?:authorization|x-api-key|x-auth-token|private-token)",
            assign!(),
            r"(?:(?:bearer|token|digest|apikey|bot|key)[ \t]{1,4})?)([\w+/=.~:-]{16,})"
        )),
        reach: 512,
        floor: 3.0,
        leave: Leave::Opaque,
        #[cfg(test)]
        samples: Samples {
            before: "Authorization: Bearer ",
            secret: &["Zk8r", "X2vQ7mTb4LpW9cYd3HsN"],
            after: "",
            alike: &[
                &["Authorization: Bearer $", "{TOKEN}"],
                &["Authorization: Bearer ", "process.env.API_TOKEN_V2"],
                &["bearer authentication-scheme-of-rfc6750"],
                &["Authorization: Bearer YOUR_API_KEY_GOES_HERE1"],
            ],
        },
    },
    Rule {
        name: "cookie",
        keywords: &["cookie"],
        edges: Edges::Open,
        shape: Shape::Pattern(
            r#"(?i)cookie\\*["'`]?[ \t]{0,2}[:=, ][ \t]{0,2}(?:\\*["'`])?[\w.$-]{1,64}=([^\x00-\x20\x7f"'`\\;,]{8,}(?:; ?[\w.$-]{1,64}=[^\x00-\x20\x7f"'`\\;,]*)*)"#,
        ),
        reach: 1024,
        floor: 3.0,
        leave: Leave::Cookies,
        #[cfg(test)]
        samples: Samples {
            before: "Cookie: sid=",
            secret: &["s%3", "AZk8rX2vQ7mTb4LpW9cYd3HsN"],
            after: "",
            alike: &[
                &["Cookie: theme=dark-mode; lang=en"],
                &["document.cookie = \"seen=2026-11-30T12:00:00Z\""],
            ],
        },
    },
    Rule {
        name: "password",
        keywords: &["password", "passwd", "passphrase", "passwort", "_pass", "pwd"],
        edges: Edges::Open,
        shape: Shape::Pattern(concat!(
            r"(?i)(?:pass(?:word|wd|phrase|wort)[\w.-]{0,24}|_pass(?:[_.-][\w.-]{0,20})?|pwd[\w.-]{0,24})(?:",
            assign!(),
            r"|[ \t]is[ \t])",
            r#"(?:["'`]([^\x00-\x20\x7f"'`\\]{6,})\\*["'`]|([^\x00-\x20\x7f"'`\\,;&<>()\{\}\[\]|]{6,}))"#
        )),
        reach: 320,
        floor: 2.2,
        leave: Leave::Passwords,
        #[cfg(test)]
        samples: Samples {
            before: "DB_PASSWORD=",
            secret: &["h7", "t9sL4q"],
            after: "",
            alike: &[
                &["password: process.env.DB_PASSWORD2"],
                &["password = get_password(user2)"],
                &["password: string; password2: string"],
                &["the password is required"],
                &["PWD=/home/dev/project2"],
                &["password_file=/run/secrets/db1"],
            ],
        },
    },
    Rule {
        name: "secret-flag",
        keywords: &["--password", "--passphrase", "--token", "--api-key", "--secret"],
        edges: Edges::Open,
        shape: Shape::Pattern(
            r#"(?i)--(?:password|passphrase|token|api-key|secret(?:-key)?)[ \t]{1,4}["'`]?([^\x00-\x20\x7f"'`\\,;|<>()\[\]]{8,})"#,
        ),
        reach: 320,
        floor: 2.5,
        leave: Leave::Opaque,
        #[cfg(test)]
        samples: Samples {
            before: "tool --password ",
            secret: &["Zk8r", "X2vQ7mTb4L"],
            after: "",
            alike: &[
                &["tool --token $TOKEN2VALUE"],
                &["--password <password1>"],
                &["--token-file /run/token1"],
            ],
        },
    },
    Rule {
        name: "secret",
        keywords: &[
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
        edges: Edges::Open,
        shape: Shape::Pattern(concat!(
            r"(?i)(?:secret|token|credential|(?:api|access|private)[_ -]?key|(?:signing|encryption|auth)_?key)[\w.-]{0,24}",
            assign!(),
            r#"([^\x00-\x20\x7f"'`\\,;&<>()\{\}\[\]|#]{10,})"#
        )),
        reach: 320,
        floor: 3.1,
        leave: Leave::Values,
        #[cfg(test)]
        samples: Samples {
            before: "\"client_secret\": \"",
            secret: &["Zk8r", "X2vQ7mTb4LpW9cYd"],
            after: "\"",
            alike: &[
                &["token: 123e4567-e89b-12d3-a456-426614174000"],
                &["apiKey: process.env.API_KEY_V2"],
                &["token = create_token_v2(user)"],
                &["token_url: https://host1/oauth2/token"],
                &["secret: ${{ secrets.DEPLOY_KEY2 }}"],
                &["max_tokens: 200000"],
                &["tokens: getTokensFromLexer2"],
            ],
        },
    },
    Rule {
        name: "key",
        keywords: &["key"],
        edges: Edges::Open,
        shape: Shape::Pattern(concat!(r"(?i)keys?[\w.-]{0,12}", assign!(), r"([\w+/=-]{24,})")),
        reach: 200,
        floor: 3.8,
        leave: Leave::Keys,
        #[cfg(test)]
        samples: Samples {
            before: "SERVICE_KEY=",
            secret: &["Zk8r", "X2vQ7mTb4LpW9cYd3HsNf6Jg"],
            after: "",
            alike: &[
                &["key = 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"],
                &["cacheKey: Zk8rX2vQ7mTb4LpW9cYd3HsNf6Jg"],
                &["key=sha512-Zk8rX2vQ7mTb4LpW9cYd3HsNf6Jg"],
                &["public_key: Zk8rX2vQ7mTb4LpW9cYd3HsNf6Jg"],
                &["key: someVeryLongIdentifierName2"],
            ],
        },
    },
];
