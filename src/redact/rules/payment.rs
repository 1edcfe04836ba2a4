//! Keys of payment, shops and parcels (tidy: table).

use super::{Edges, Leave, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule::token(
        "stripe-key",
        &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_", "whsec_"],
        r"(?:[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{24,})",
    )
    .edges(Edges::Left),
    Rule::token("square-token", &["sq0atp-", "sq0csp-", "sq0idp-"], r"sq0(?:atp|csp|idp)-[\w-]{22,43}"),
    Rule::token(
        "paypal-token",
        &["access_token$"],
        r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}",
    ),
    Rule::token(
        "shopify-token",
        &["shpat_", "shpss_", "shpca_", "shppa_", "shptka_"],
        r"shp(?:at|ss|ca|pa|tka)_[a-fA-F0-9]{32}",
    ),
    Rule::token("razorpay-key", &["rzp_live_", "rzp_test_"], r"rzp_(?:live|test)_[A-Za-z0-9]{14,}"),
    Rule::token(
        "plaid-token",
        &["access-sandbox-", "access-production-", "access-development-"],
        r"access-(?:sandbox|development|production)-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}",
    ),
    Rule::named("plaid-key", &["plaid"], named!("plaid", "[0-9a-f]{30}")),
    Rule::token("flutterwave-key", &["FLWSECK"], r"FLWSECK(?:_TEST)?-[A-Za-z0-9]{12,}(?:-X)?"),
    Rule::token("mollie-key", &["live_", "test_"], r"(?:live|test)_[A-Za-z0-9]{30,}")
        .edges(Edges::Closed)
        .floor(3.5)
        .leave(Leave::Opaque),
    Rule::token(
        "mercadopago-token",
        &["APP_USR-", "TEST-"],
        r"(?:APP_USR|TEST)-\d{12,20}-\d{6}-[0-9a-f]{32}(?:__[A-Z_]+__)?-\d{6,12}",
    ),
    Rule::token("xendit-key", &["xnd_"], r"xnd_(?:production|development)_[A-Za-z0-9]{40,}"),
    Rule::token("easypost-key", &["EZAK", "EZTK"], r"EZ[AT]K[A-Za-z0-9]{54}"),
    Rule::token("shippo-token", &["shippo_"], r"shippo_(?:live|test)_[a-f0-9]{40}"),
    Rule::named("adyen-key", &["adyen"], named!("adyen", r"AQE[\w+/=.{}-]{60,}")).edges(Edges::Open),
    Rule::named("coinbase-secret", &["coinbase"], named!("coinbase", r"[A-Za-z0-9_-]{32,64}"))
        .leave(Leave::Opaque)
        .floor(3.5),
];
