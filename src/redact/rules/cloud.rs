//! Keys of clouds and of what runs on them (tidy: table).

use super::{Edges, Leave, Rule};

pub(super) const RULES: &[Rule] = &[
    // Glued to a word it is one still, but not followed by more of its own letters.
    Rule::token("aws-access-key", &["AKIA", "ASIA", "ABIA", "ACCA", "A3T"], r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z2-7]{16}")
        .edges(Edges::Right)
        .reach(64),
    Rule::named(
        "aws-secret-key",
        &["aws_secret", "aws-secret", "secret_access_key", "secretaccesskey", "secret access key", "secret_key", "secretkey"],
        concat!(
            r"(?i:aws[_-]secret|secret[_ ]?access[_ ]?key|secret_?key)[\w-]{0,20}",
            assign!(),
            r"([A-Za-z0-9/+]{40})"
        ),
    )
    .reach(160)
    .floor(3.5),
    Rule::named(
        "aws-session-token",
        &["session_token", "sessiontoken", "security-token", "security_token"],
        concat!(r"(?i:session_?token|security[_-]token)[\w-]{0,20}", assign!(), r"([A-Za-z0-9/+=]{80,}|[A-Za-z0-9%]{80,})"),
    )
    .edges(Edges::Open)
    .reach(2048)
    .floor(3.5),
    Rule::token("aws-bedrock-key", &["ABSK", "bedrock-api-key-"], r"(?:ABSK[A-Za-z0-9+/]{80,}|bedrock-api-key-[A-Za-z0-9+/]{20,})={0,2}").edges(Edges::Left).reach(512).floor(3.8),
    Rule::named("aws-signature", &["X-Amz-Signature"], r"(?i:X-Amz-Signature(?:=|%3D))([0-9a-f]{64})").edges(Edges::Open),
    Rule::token("aws-mws-key", &["amzn.mws."], r"amzn\.mws\.[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"),
    Rule::token("gcp-api-key", &["AIza"], r"AIza[\w-]{35}").edges(Edges::Right).reach(64),
    Rule::token("gcp-oauth", &["GOCSPX-", "ya29.", "1//0"], r"(?:GOCSPX-[\w-]{20,}|ya29\.[\w-]{20,}|1//0[\w-]{40,})")
        .reach(512),
    Rule::named(
        "azure-key",
        &["AccountKey=", "SharedAccessKey=", "AccessKey=", "sig="],
        r"(?i:(?:AccountKey|SharedAccessKey|AccessKey)=)([A-Za-z0-9+/]{40,}={0,2})|(?i:sig=)([A-Za-z0-9%+/]{40,80}(?:%3D|=))",
    )
    .edges(Edges::Open)
    .floor(3.5),
    Rule::token("azure-storage-key", &["+ASt"], r"[A-Za-z0-9/+]{76}\+ASt[A-Za-z0-9/+]{6}==").back(76),
    Rule::token("azure-ai-key", &["JQQJ99"], r"[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26}").back(52),
    Rule::token("azure-client-secret", &["Q~"], r"[\w~.-]{3}\dQ~[\w~.-]{31,34}").back(4).reach(64).floor(3.5),
    Rule::token("azure-devops-token", &["AZDO"], r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}").back(76).reach(16),
    Rule::named(
        "azure-devops-pat",
        &["azure_devops", "azure-devops", "azuredevops", "ado_pat", "vsts", "system_accesstoken"],
        named!("azure[_-]?devops|ado_pat|vsts|system_accesstoken", r"[a-z2-7]{52}"),
    ),
    Rule::token("alibaba-key", &["LTAI"], r"LTAI[A-Za-z0-9]{12,20}").edges(Edges::Closed).reach(64),
    Rule::token("tencent-key", &["AKID"], r"AKID[A-Za-z0-9]{32}").edges(Edges::Closed).reach(64).floor(3.5),
    Rule::token("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], r"do[por]_v1_[a-f0-9]{64}"),
    Rule::token("heroku-token", &["HRKU-"], r"HRKU-[\w-]{30,}"),
    Rule::named(
        "heroku-key",
        &["heroku"],
        named!("heroku", r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"),
    ),
    Rule::named("ibm-cloud-key", &["ibm", "iam_api", "bluemix"], named!("ibm|iam_api|bluemix", r"[\w-]{44}"))
        .leave(Leave::Opaque)
        .floor(3.8),
    Rule::named("linode-token", &["linode"], named!("linode", "[0-9a-f]{64}")),
    Rule::named("scaleway-key", &["scw_secret", "scaleway"], named!("scw_secret|scaleway", r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")),
    Rule::named("hetzner-token", &["hcloud", "hetzner"], named!("hcloud|hetzner", "[A-Za-z0-9]{64}")).floor(3.5),
    Rule::named("cloudflare-token", &["cloudflare", "cf_api", "cf-api", "x-auth-key"], named!("cloudflare|cf[_-]api|x-auth-key", r"[\w-]{37,40}"))
        .leave(Leave::Opaque),
    Rule::token("cloudflare-origin-key", &["v1.0-"], r"v1\.0-[a-f0-9]{24}-[a-f0-9]{120,}"),
    Rule::token("fly-token", &["fm1r_", "fm1a_", "fm2_", "fo1_", "FlyV1 "], r"(?:FlyV1 |(?:fm1[ar]|fm2|fo1)_)[A-Za-z0-9+/_-]{40,}={0,3}").reach(1024),
    Rule::named("vercel-token", &["vercel"], named!("vercel", "[A-Za-z0-9]{24}")).leave(Leave::Opaque),
    Rule::token("netlify-token", &["nfp_", "nfc_", "nfo_", "nfu_"], r"nf[pcou]_[A-Za-z0-9]{36,}").floor(3.5),
    Rule::token("render-key", &["rnd_"], r"rnd_[A-Za-z0-9]{28,}").leave(Leave::Opaque),
    Rule::token("supabase-key", &["sbp_", "sb_secret_"], r"sbp_(?:oauth_|v0_)?[a-z0-9]{40}|sb_secret_[\w-]{20,}").leave(Leave::Opaque),
    Rule::token("pulumi-token", &["pul-"], r"pul-[a-f0-9]{40}"),
    Rule::token("terraform-token", &[".atlasv1."], r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{50,90}").back(14),
    Rule::token("doppler-token", &["dp.pt.", "dp.st.", "dp.sa.", "dp.ct.", "dp.scim.", "dp.audit."], r"dp\.(?:pt|sa|ct|scim|audit|st(?:\.[\w-]{2,35})?)\.[A-Za-z0-9]{40,44}"),
    Rule::token("vault-token", &["hvs.", "hvb.", "hvr."], r"hv[sbr]\.[\w-]{20,}").leave(Leave::Opaque).reach(512),
    Rule::named("vault-token-old", &["vault"], named!("vault", r"s\.[A-Za-z0-9]{24}")),
    Rule::named(
        "vault-token-bare",
        &["vault", "token   "],
        r#"(?i:vault|token   )[\w .:,/|"'`\\>=()\[\]#$-]{0,80}?[^\w](s\.[A-Za-z0-9]{24})"#,
    )
    .reach(160)
    .floor(3.3)
    .leave(Leave::Opaque),
    Rule::token("yandex-key", &["AQVN", "t1.9eu"], r"AQVN[\w-]{35,38}|t1\.9eu[\w-]{60,}=*\.[\w-]{60,}=*").reach(512),
    Rule::token("databricks-token", &["dapi"], r"dapi[a-f0-9]{32}(?:-\d)?"),
    Rule::token("1password-token", &["ops_eyJ", "A3-"], r"ops_eyJ[A-Za-z0-9+/_-]{100,}={0,3}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}").reach(1024),
    Rule::token("planetscale-token", &["pscale_"], r"pscale_(?:tkn|oauth|pw|api)_[\w.=-]{30,64}"),
    Rule::token("dynatrace-token", &["dt0c01.", "dt0s01.", "dt0s16."], r"dt0[cs]\d\d\.[A-Za-z0-9]{8,24}\.[A-Za-z0-9]{64}"),
];
