//! How programs and people log in to databases (tidy: table).

use super::{Edges, Leave, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule::named(
        "url-password",
        &["://", "%3A%2F%2F"],
        r#"(?i:://|%3A%2F%2F)[^\x00-\x20\x7f:/@"'`<>\\?#]{0,128}(?::|%3A)(?:([^\x00-\x20\x7f"'`<>\\/]{1,256})|([^\x00-\x20\x7f"'`<>\\]{16,256}))(?:@|%40)[\w\[$\{]"#,
    )
    .edges(Edges::Open)
    .reach(512)
    .floor(0.0)
    .leave(Leave::Urls),
    Rule::token("neon-password", &["npg_"], r"npg_[A-Za-z0-9]{12,}").edges(Edges::Left).reach(64),
    Rule::named(
        "mysql-password",
        &["mysql", "mariadb"],
        r#"(?i:mysql(?:dump|admin|import)?|mariadb(?:-dump|-admin)?)(?-i:[ \t][^\n\r|;]{0,120}?[ \t]|[ \t])-p(?:["']([^\x00-\x20\x7f"'\\]{4,64})["']|([^\x00-\x20\x7f"'`\\;|&<>]{4,64}))"#,
    )
    .edges(Edges::Open)
    .floor(1.5)
    .leave(Leave::Urls),
    Rule::named(
        "sql-password",
        &["with password", "encrypted password", "login password", "identified by", "identified with"],
        r#"(?i:identified (?:by|with \w{4,32} by)|(?:with|encrypted|login) password)[ \t]{1,4}\\*['"]([^\x00-\x20\x7f"'\\]{4,64})\\*['"]"#,
    )
    .edges(Edges::Open)
    .floor(1.5)
    .leave(Leave::Urls),
    Rule::named(
        "redis-password",
        &["requirepass ", "masterauth ", "redis-cli ", "rediscli_auth="],
        r#"(?i:requirepass|masterauth|redis-cli[ \t][^\n\r|;]{0,80}?-a|rediscli_auth=)[ \t]{0,4}["']?([^\x00-\x20\x7f"'`\\;|&<>]{6,64})"#,
    )
    .edges(Edges::Open)
    .floor(2.0)
    .leave(Leave::Urls),
    Rule::named("pgpass", &[":5432:"], r"(?i::5432:)[\w*.-]{1,63}:[\w.-]{1,63}:([^\x00-\x20\x7f:\\]{6,64})")
        .edges(Edges::Open)
        .floor(2.0)
        .leave(Leave::Urls),
    Rule::named("sqlcmd-password", &["sqlcmd "], r#"(?i:sqlcmd)[ \t][^\n\r|;]{0,120}?[ \t]?-P[ \t]{0,2}["']?([^\x00-\x20\x7f"'`\\;|&<>]{6,64})"#)
        .edges(Edges::Open)
        .floor(2.0)
        .leave(Leave::Urls),
    // In braces a value may hold what would end it elsewhere.
    Rule::named(
        "odbc-password",
        &[";pwd={", ";password={", "; pwd={", "; password={", "pwd={", "password={"],
        r"(?i)(?:;[ ]?(?:pwd|password)=\{([^\x00-\x1f\x7f{}\\]{4,128}(?:\}\}[^\x00-\x1f\x7f{}\\]{0,64}){0,4})\}|(?:pwd|password)=\{([^\x00-\x1f\x7f{}\\]{4,128}(?:\}\}[^\x00-\x1f\x7f{}\\]{0,64}){0,4})\};[ ]?[a-z][a-z ]{1,24}=)",
    )
    .edges(Edges::Open)
    .reach(512)
    .floor(2.2)
    .leave(Leave::Passwords),
];
