//! Tokens of package registries (tidy: table).

use super::{Edges, Leave, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule::token("npm-token", &["npm_"], r"npm_[A-Za-z0-9]{36,}").reach(128),
    Rule::named(
        "npm-auth",
        &["_auth"],
        r#"(?i:_auth)(?:Token)?[ \t]{0,2}=[ \t]{0,2}"?([A-Za-z0-9+/_-]{16,}={0,2})"#,
    )
    .edges(Edges::Open)
    .leave(Leave::Opaque),
    Rule::token("pypi-token", &["pypi-AgE"], r"pypi-AgE[\w-]{50,}").reach(512),
    Rule::token("rubygems-key", &["rubygems_"], r"rubygems_[a-f0-9]{48}"),
    Rule::token("crates-token", &["cio"], r"cio[A-Za-z0-9]{32}")
        .edges(Edges::Closed)
        .reach(64)
        .floor(3.8)
        .leave(Leave::Opaque),
    Rule::token("docker-token", &["dckr_pat_", "dckr_oat_"], r"dckr_[po]at_[\w-]{20,}"),
    Rule::token("nuget-key", &["oy2"], r"oy2[a-z0-9]{43}").edges(Edges::Closed).reach(64).floor(3.5),
    Rule::token("clojars-token", &["CLOJARS_"], r"CLOJARS_[a-z0-9]{60}"),
    Rule::token("artifactory-key", &["AKC", "cmVmdGtuO"], r"AKC[A-Za-z0-9]{65,}|cmVmdGtuO[A-Za-z0-9]{50,}")
        .edges(Edges::Left),
    Rule::token("hex-key", &["hexpm_"], r"hexpm_[a-f0-9]{32,}"),
    Rule::token(
        "packagist-token",
        &["packagist_"],
        r"packagist_(?:org|ort|out|app|ouid|uut|ack|acs)_[a-f0-9]{40,}",
    ),
];
