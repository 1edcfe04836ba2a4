//! Tokens of forges, builds and what teams plan with (tidy: table).

use super::{Edges, Leave, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule::token(
        "github-token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        r"(?:gh[opusr]_[A-Za-z0-9]{36,}|github_pat_\w{36,})",
    ),
    Rule::token(
        "gitlab-token",
        &[
            "glpat-",
            "gldt-",
            "glrt-",
            "glrtr-",
            "glcbt-",
            "glptt-",
            "glft-",
            "glimt-",
            "glagent-",
            "glsoat-",
            "gloas-",
            "glffct-",
            "glwt-",
            "GR1348941",
        ],
        r"gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|oas|ffct|wt)-[\w-]{20,}(?:\.[\w-]{2,}){0,2}|GR1348941[\w-]{20,}",
    ),
    Rule::token(
        "bitbucket-token",
        &["ATBB", "ATCTT3xFfGN0", "BBDC-"],
        r"ATBB[A-Za-z0-9]{32}|ATCTT3xFfGN0[\w=-]{100,}|BBDC-[A-Za-z0-9+/@_-]{30,50}",
    )
    .edges(Edges::Left)
    .reach(512),
    Rule::token("atlassian-token", &["ATATT3", "ATCTT3", "ATSTT3"], r"AT[ACS]TT3[\w=-]{20,}").reach(512),
    Rule::named(
        "jira-token",
        &["jira", "atlassian", "confluence"],
        named!("jira|atlassian|confluence", r"[A-Za-z0-9]{24}"),
    )
    .leave(Leave::Opaque),
    Rule::named(
        "gitea-token",
        &["gitea", "forgejo", "codeberg"],
        named!("gitea|forgejo|codeberg", "[0-9a-f]{40}"),
    ),
    Rule::token("linear-key", &["lin_api_", "lin_oauth_"], r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    Rule::token("figma-token", &["figd_", "figu_", "figo_"], r"fig[duo]_[\w-]{30,}"),
    Rule::token(
        "sourcegraph-token",
        &["sgp_", "slk_"],
        r"sgp_(?:[A-Za-z0-9]{16}_|local_)?[A-Za-z0-9]{40,64}|slk_[a-f0-9]{64}",
    ),
    Rule::token("circleci-token", &["CCIPAT_", "CCIPRJ_"], r"CCIP(?:AT|RJ)_[A-Za-z0-9]{22}_[A-Za-z0-9]{40}"),
    Rule::named(
        "circleci-key",
        &["circleci", "circle_token", "circle-token"],
        named!("circleci|circle[_-]token", "[0-9a-f]{40}"),
    ),
    Rule::named("travis-token", &["travis"], named!("travis", "[A-Za-z0-9_-]{22}")).leave(Leave::Opaque),
    Rule::token(
        "buildkite-token",
        &["bkua_", "bkaj_", "bkct_", "bkpt_"],
        r"bk(?:ua|aj|ct|pt)_[A-Za-z0-9]{40,}",
    ),
    Rule::named("jenkins-token", &["jenkins"], named!("jenkins", "11[0-9a-f]{32}")),
    Rule::named(
        "codecov-token",
        &["codecov"],
        named!("codecov", r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"),
    ),
    Rule::token("sonar-token", &["sqp_", "sqa_", "squ_"], r"sq[pau]_[a-f0-9]{40}"),
    Rule::named("snyk-token", &["snyk"], named!("snyk", r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")),
    Rule::token("sentry-token", &["sntrys_", "sntryu_", "sntryi_"], r"sntry[sui]_[\w+/=-]{40,}").reach(512),
    Rule::named(
        "launchdarkly-key",
        &["sdk-", "api-"],
        r"(?i:sdk|api)-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}",
    )
    .edges(Edges::Closed),
    Rule::token("notion-token", &["ntn_"], r"ntn_[A-Za-z0-9]{40,}"),
    Rule::named("notion-secret", &["secret_"], r"(?i:secret_)[A-Za-z0-9]{43}")
        .edges(Edges::Closed)
        .leave(Leave::Opaque),
    Rule::token("clickup-token", &["pk_"], r"pk_\d{6,10}_[A-Z0-9]{32}").edges(Edges::Left),
    Rule::named(
        "asana-token",
        &["asana"],
        named!("asana", r"[12]/\d{12,20}(?:/\d{12,20})?:[0-9a-f]{32}|[0-9a-z]{32}"),
    )
    .leave(Leave::Opaque),
    Rule::token("postman-key", &["PMAK-"], r"PMAK-[A-Za-z0-9]{24}-[A-Za-z0-9]{34}"),
    Rule::named(
        "airtable-token",
        &["airtable"],
        named!("airtable", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}|key[A-Za-z0-9]{14}"),
    ),
    Rule::named(
        "figma-key",
        &["figma"],
        named!("figma", r"[0-9]{4,8}-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"),
    ),
];
