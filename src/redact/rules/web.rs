//! What browsers and programs show to be let in (tidy: table).

use super::{Edges, Leave, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule::token(
        "jwt",
        &["eyJ"],
        r"eyJ[\w-]{8,}\.(?:eyJ[\w-]{8,}(?:\.[\w-]*)?|[\w-]{16,}(?:\.[\w-]*){1,3})",
    )
    .reach(2048)
    .leave(Leave::Nothing),
    Rule::named(
        "basic-auth",
        &["authorization"],
        concat!(r"(?i)(?:authorization)", assign!(), r"basic[ \t]{1,4}([A-Za-z0-9+/]{4,}={0,2})"),
    )
    .edges(Edges::Open)
    .reach(512)
    .floor(1.5)
    .leave(Leave::Basic),
    Rule::named(
        "authorization",
        &["authorization", "bearer", "x-api-key", "x-auth-token", "private-token", "x-vault-token", "x-access-token"],
        concat!(
            r"(?i)(?:bearer(?:[ \t]{1,4}|%20|\+)|(?:authorization|x-api-key|x-(?:auth|vault|access)-token|private-token)",
            assign!(),
            r"(?:(?:bearer|token|digest|apikey|bot|key)[ \t]{1,4})?)([\w+/=.~:-]{16,})"
        ),
    )
    .edges(Edges::Open)
    .reach(512)
    .leave(Leave::Opaque),
    Rule::named(
        "cookie",
        &["cookie"],
        r#"(?i)cookie\\*["'`]?[ \t]{0,2}[:=, ][ \t]{0,2}(?:\\*["'`])?[\w.$-]{1,64}=([^\x00-\x20\x7f"'`\\;,]{8,}(?:; ?[\w.$-]{1,64}=[^\x00-\x20\x7f"'`\\;,]*)*)"#,
    )
    .edges(Edges::Open)
    .reach(1024)
    .leave(Leave::Cookies),
    Rule::named(
        "session-id",
        &["sessionid=", "phpsessid=", "jsessionid=", "connect.sid=", "asp.net_sessionid=", "_session="],
        r"(?i:phpsessid|j?sessionid|connect\.sid|_session)=([A-Za-z0-9%._+/=-]{20,})",
    )
    .edges(Edges::Open)
    .reach(1024)
    .leave(Leave::Cookies),
];
