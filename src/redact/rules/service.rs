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
    // Services whose tokens begin as no word does.
    Rule::token("prefixed-token", &["AIK_CI_", "AIK_SECRET_", "apify_api_", "$aact_", "gcntfy-", "cnvca", "sk_car_", "csa_", "csb_", "CCDB1_", "cfut_", "cfat_", "cfk_", "ddp_", "ddo_", "dvc_server_", "dvc_mobile_", "apk_user_", "apk_", "cog_", "SWMTKN-1-", "SWMKEY-1-", "essu_", "endr+", "AstraCS:", "AQ.Ab8", "dnkey-", "ion_", "ico-", "s-s4t2ud-", "lbx_", "rma_", "lip_", "llx-", "mlsn.", "mdb_sa_sk_", "napi_", "nyk_", "os_v2_", "api_live.", "api_live_", "sha256~", "pdl_live_", "pdl_sdbx_", "persona_production_", "persona_sandbox_", "pina_", "polar_", "prf_", "ramp_sec_", "rpa_", "rootly_", "samsara_api_", "tk-us-", "tss_", "ucat_", "unkey_", "vck_", "vca_", "vcr_", "vci_", "vcp_", "vtwn_", "waka_", "zpka_", "sm_aat_", "sm_pat_", "sm_sat_", "PMAT-", "mergify_application_key_", "mercury_production_", "bkaa_", "bkpat_", "BSA", "API-", "EXO"], r"(?:mergify_application_key_|persona_production_|mercury_production_|persona_sandbox_|samsara_api_|AIK_SECRET_|dvc_server_|dvc_mobile_|apify_api_|mdb_sa_sk_|api_live\.|apk_user_|SWMTKN-1-|SWMKEY-1-|s-s4t2ud-|api_live_|pdl_live_|pdl_sdbx_|ramp_sec_|AstraCS:|sha256\~|AIK_CI_|\$aact_|gcntfy-|sk_car_|AQ\.Ab8|rootly_|sm_aat_|sm_pat_|sm_sat_|CCDB1_|endr\+|dnkey-|mlsn\.|os_v2_|polar_|tk-us-|unkey_|bkpat_|cnvca|cfut_|cfat_|essu_|napi_|pina_|ucat_|vtwn_|waka_|zpka_|PMAT-|bkaa_|csa_|csb_|cfk_|ddp_|ddo_|apk_|cog_|ion_|ico-|lbx_|rma_|lip_|llx-|nyk_|prf_|rpa_|tss_|vck_|vca_|vcr_|vci_|vcp_|API-|BSA|EXO)[\w+/=.:~-]{16,}").edges(Edges::Left).floor(3.3).leave(Leave::Opaque),
    // A service's name and something drawn by lot, with no word between them that says what it is.
    Rule::named("service-secret", &["abuseipdb", "adafruit", "adobe", "aiven", "algolia", "alibaba", "aliyun", "amplitude", "apollo", "asana", "assemblyai", "auth0", "bitbucket", "bittrex", "brevo", "browserstack", "civo", "cloudinary", "cloudflare", "coinbase", "confluent", "contentful", "couchbase", "coveralls", "databento", "datadog", "datagov", "data.gov", "discord", "disqus", "droneci", "dropbox", "etsy", "facebook", "fastly", "finicity", "finnhub", "flickr", "freshbooks", "gitter", "greptile", "gumroad", "honeycomb", "hubspot", "hunter", "infomaniak", "insomnia", "intercom", "jumpcloud", "kagi", "klaviyo", "kraken", "kucoin", "lark", "launchdarkly", "lichess", "linear", "linkedin", "looker", "mailgun", "mapbox", "mattermost", "meraki", "messagebird", "miro", "netlify", "newrelic", "new-relic", "nytimes", "ollama", "openai", "openweather", "opsgenie", "okta", "paddle", "pinecone", "plaid", "privateai", "rapidapi", "razorpay", "replicate", "sendbird", "sentry", "shodan", "snowflake", "sonar", "squarespace", "sumologic", "telegram", "travis", "twitch", "twitter", "upstage", "upstash", "vercel", "virustotal", "vultr", "weatherapi", "yandex", "zendesk", "zoho"], concat!(r"[\w .-]{4,56}", assign!(), r"([\w+/=.:~-]{16,})")).floor(3.3).leave(Leave::Values),
];
