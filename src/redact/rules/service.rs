//! Keys of what watches, measures and answers (tidy: table).

use super::{Edges, Leave, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule::token(
        "grafana-token",
        &["glsa_", "glc_"],
        r"glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|glc_[A-Za-z0-9+/]{32,}={0,2}",
    )
    .reach(512),
    Rule::token("grafana-key", &["eyJrIjoi"], r"eyJrIjoi[A-Za-z0-9+/]{60,}={0,2}").reach(512),
    Rule::token(
        "newrelic-key",
        &["NRAK-", "NRJS-", "NRII-", "NRIQ-", "NRRA-", "NRSP-", "NRAA-"],
        r"NR(?:AK|JS|II|IQ|RA|SP|AA)-[A-Za-z0-9_-]{19,64}",
    ),
    Rule::named(
        "datadog-key",
        &["datadog", "dd_api", "dd-api", "dd_app", "dd-application", "ddapi"],
        named!("datadog|dd[_-]?ap[ip]", "[0-9a-f]{32}(?:[0-9a-f]{8})?"),
    ),
    Rule::named(
        "honeycomb-key",
        &["hcaik_", "hcxik_", "hcalk_", "hcamk_"],
        r"(?-i:hc[ax][ilm]k_)[a-z0-9]{40,}",
    )
    .edges(Edges::Open),
    Rule::named("pagerduty-key", &["pagerduty", "pager_duty"], named!("pager_?duty", r"[\w+-]{20}"))
        .leave(Leave::Opaque),
    Rule::named("algolia-key", &["algolia"], named!("algolia", "[0-9a-f]{32}")),
    Rule::token("mapbox-token", &["sk.eyJ"], r"sk\.eyJ[\w-]{40,}\.[\w-]{20,}"),
    Rule::token("contentful-token", &["CFPAT-"], r"CFPAT-[\w-]{43}"),
    Rule::token("posthog-key", &["phx_", "phs_"], r"ph[xs]_[A-Za-z0-9]{40,}"),
    Rule::named("okta-token", &["okta"], r#"(?i:okta)[\w .:=\x22'-]{0,40}?[= \x22'](00[\w-]{40})"#)
        .reach(128),
    Rule::named("zendesk-token", &["zendesk"], named!("zendesk", "[A-Za-z0-9]{40}")).floor(3.5),
    Rule::token("rapidapi-key", &["msh"], r"[0-9a-f]{10}msh[0-9a-f]{15}p1[0-9a-f]{5}jsn[0-9a-f]{12}")
        .back(10)
        .reach(64),
    Rule::token("typeform-token", &["tfp_"], r"tfp_[\w-]{40,60}"),
    Rule::token("statsig-key", &["secret-"], r"secret-[A-Za-z0-9]{40,}")
        .edges(Edges::Left)
        .leave(Leave::Opaque),
    Rule::token("prefect-key", &["pnu_", "pnb_"], r"pn[ub]_[A-Za-z0-9]{36}"),
    Rule::token("ory-token", &["ory_"], r"ory_(?:pat|at|rt|ac|st|wak)_[\w.-]{30,}"),
    Rule::token("frameio-token", &["fio-u-"], r"fio-u-[\w=-]{60,64}"),
    Rule::token("readme-key", &["rdme_"], r"rdme_[a-z0-9]{70}"),
    Rule::token("duffel-token", &["duffel_"], r"duffel_(?:test|live)_[\w=-]{43}"),
];
