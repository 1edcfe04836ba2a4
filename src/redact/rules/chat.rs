//! Tokens of chat, mail and telephone services (tidy: table).

use super::{Edges, Leave, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule::named("slack-token", &["xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"], r"(?i:(?:xoxe\.)?(?:xox[a-eoprs]|xapp)-)[A-Za-z0-9%+/=-]{16,}").edges(Edges::Open).floor(2.8).leave(Leave::Opaque),
    Rule::named("slack-webhook", &["hooks.slack.com/"], r"(?i:hooks\.slack\.com/)(?:services|workflows|triggers)/([A-Za-z0-9+/_-]{30,})").edges(Edges::Open),
    Rule::named("discord-token", &["discord", "bot_token", "bot "], r#"(?i:discord|bot_token|bot )[\w .:=/"'\\-]{0,40}?([MNO][A-Za-z0-9_-]{23,27}\.[\w-]{6}\.[\w-]{27,40})"#).reach(160).floor(3.5),
    Rule::named("discord-webhook", &["/api/webhooks/"], r"(?i:/api/webhooks/)\d{17,20}/([\w-]{60,80})").edges(Edges::Open),
    Rule::token("telegram-token", &[":AA"], r"\d:(AA[\w-]{33})").back(1).reach(48).edges(Edges::Right),
    Rule::named("teams-webhook", &["webhook.office.com/"], r"(?i:webhook\.office\.com/webhookb2/)([\w@-]{36,80}/IncomingWebhook/[0-9a-zA-Z]{32}/[0-9a-f-]{36})").edges(Edges::Open),
    Rule::token("sendgrid-key", &["SG."], r"SG\.(?:[\w-]{16,32}\.[\w-]{16,64}|[\w.=-]{60,})").leave(Leave::Opaque),
    Rule::token("mailgun-key", &["key-"], r"key-[0-9a-f]{32}").edges(Edges::Closed),
    Rule::named("mailgun-secret", &["mailgun"], named!("mailgun", r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}")),
    Rule::token("mailchimp-key", &["-us"], r"[0-9a-f]{32}-us\d{1,2}").back(32).reach(8).edges(Edges::Right),
    Rule::token("brevo-key", &["xkeysib-", "xsmtpsib-"], r"x(?:key|smtp)sib-[a-fA-F0-9]{64}-[A-Za-z0-9]{16}"),
    Rule::token("resend-key", &["re_"], r"re_[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,26}").edges(Edges::Closed).floor(3.5).leave(Leave::Opaque),
    Rule::named("postmark-token", &["postmark"], named!("postmark", r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")),
    Rule::token("twilio-key", &["SK", "AC"], r"(?:SK|AC)[0-9a-fA-F]{32}").edges(Edges::Closed).reach(40),
    Rule::named("twilio-token", &["twilio"], named!("twilio", "[0-9a-f]{32}")),
    Rule::token("hubspot-token", &["pat-na1-", "pat-na2-", "pat-eu1-"], r"pat-(?:na|eu)\d-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"),
    Rule::token("facebook-token", &["EAA"], r"EAA[A-Za-z0-9]{90,}").edges(Edges::Left).reach(512).floor(3.8),
    Rule::token("intercom-token", &["dG9rO"], r"dG9rO[A-Za-z0-9+/]{50,}={0,2}").edges(Edges::Left),
    Rule::named("twitter-token", &["twitter", "bearer"], r"(?i:twitter|bearer)[\w .:=\x22'-]{0,30}?(A{21,}[A-Za-z0-9%]{50,})").reach(256).floor(2.5),
];
