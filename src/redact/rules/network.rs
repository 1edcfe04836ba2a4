//! Keys of machines and networks (tidy: table): PEM, SSH, VPN, age, and hashes that passwords are kept as.

use super::{Edges, Leave, Rule, Shape};

/// A private key block, found by its header.
const fn block() -> Rule {
    let mut rule = Rule::token("private-key", &["-----BEGIN ", "-----END "], "");
    rule.shape = Shape::KeyBlock;
    rule.reach = crate::redact::pem::LONGEST;
    rule.floor = 0.0;
    rule.leave = Leave::Nothing;
    rule
}

pub(super) const RULES: &[Rule] = &[
    Rule::token(
        "encoded-private-key",
        &["LS0tLS1CRUdJTi"],
        r"LS0tLS1CRUdJTi(?:BQUklWQVRF|BSU0EgUFJJ|BFQyBQUklW|BPUEVOU1NI|BFTkNSWVBU|BEU0EgUFJJ|BQR1AgUFJJ)[A-Za-z0-9+/]{40,}={0,2}(?:(?:\\+[nr]|[ \t\r\n])+[A-Za-z0-9+/=]{40,})*(?:(?:\\+[nr]|[ \t\r\n])+[A-Za-z0-9+/]{4,75}={0,2})?",
    )
    .reach(24 * 1024)
    .leave(Leave::Nothing),
    block(),
    Rule::named(
        "putty-key",
        &["Private-Lines:"],
        r"(?i:Private-Lines:)[ \t]*\d{1,3}((?:(?:\\+[nr]|[ \t\r\n+])+[A-Za-z0-9+/=]{20,}){1,60}(?:(?:\\+[nr]|[ \t\r\n+])+Private-MAC:[ \t]*[0-9a-f]{40,64})?)",
    )
    .reach(6 * 1024)
    .leave(Leave::Nothing),
    Rule::token("age-key", &["AGE-SECRET-KEY-"], r"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{58,}").reach(512),
    Rule::named(
        "wireguard-key",
        &["PrivateKey", "PresharedKey", "Private Key", "private_key", "preshared_key"],
        r#"(?i:(?:private|preshared)[_ ]?key)\\*["']?[ \t]{0,4}[=:][ \t]{0,4}\\*["']?([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)"#,
    )
    .reach(96)
    .floor(3.5),
    Rule::named("tailscale-key", &["tskey-"], r"(?i:tskey)-(?:[a-z]{2,10}-)?[A-Za-z0-9]{8,}(?:-[A-Za-z0-9]{16,})?")
        .edges(Edges::Open),
    Rule::named(
        "openvpn-key",
        &["-----BEGIN OpenVPN Static key"],
        r"(?i:-----BEGIN OpenVPN Static key V1-----)((?:(?:\\+[nr]|[ \t\r\n+])+[0-9a-f]{32}){4,16})",
    )
    .reach(1024)
    .leave(Leave::Nothing),
    Rule::named(
        "ssh2-key",
        &["---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----"],
        r"(?i:---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----)((?:(?:\\+[nr]|[ \t\r\n+])+(?:Comment:[^\r\n\\]{0,80}|[A-Za-z0-9+/=]{4,72})){1,80})",
    )
    .reach(6 * 1024)
    .leave(Leave::Nothing),
    Rule::token(
        "password-hash",
        &["$apr1$", "$1$", "$5$", "$6$", "$y$", "$2a$", "$2b$", "$2y$", "$argon2", "$7$"],
        r"\$(?:apr1|1|5|6)\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{4,16}\$[./A-Za-z0-9]{22,86}|\$(?:y|7)\$[./A-Za-z0-9]{3,8}\$[./A-Za-z0-9]{10,86}(?:\$[./A-Za-z0-9]{43})?|\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}|\$argon2(?:id|i|d)\$v=\d+\$m=\d+,t=\d+,p=\d+\$[A-Za-z0-9+/]{11,64}\$[A-Za-z0-9+/]{22,86}",
    ),
    Rule::named(
        "ntlm-hash",
        &[":::"],
        r":(?:[0-9a-fA-F]{32}):([0-9a-fA-F]{32}):::",
    )
    .back(66)
    .edges(Edges::Open),
    Rule::named(
        "wifi-key",
        &["psk=", "wpa_passphrase", "wpa-psk", "wpa2-psk", "psk:"],
        r#"(?i:psk[=:][ \t]?|wpa_passphrase[ \t=]{1,3}|wpa2?-psk[ \t]+)(?:ascii [0-9][ \t]+)?(?:\\*["']([^\x00-\x20\x7f"'\\]{8,63})\\*["']|([0-9a-fA-F]{64}))"#,
    )
    .edges(Edges::Open)
    .floor(2.2)
    .leave(Leave::Urls),
    Rule::named(
        "device-password",
        &["enable secret ", "password 7 ", "secret 5 ", "secret 9 "],
        r"(?i:(?:enable )?(?:secret|password)) [579] (\$?[0-9A-Za-z$./]{12,120})",
    )
    .floor(2.2),
    Rule::named(
        "ngrok-token",
        &["ngrok"],
        r"(?i:ngrok)[\w .:/=\x22'-]{0,40}?((?:cr_)?[12][0-9A-Za-z]{26}_[0-9A-Za-z]{20,22})",
    )
    .reach(128),
    Rule::named(
        "sshpass",
        &["sshpass "],
        r#"(?i:sshpass)[ \t]+-p[ \t]{0,2}(?:["']([^\x00-\x20\x7f"'\\]{4,64})["']|([^\x00-\x20\x7f"'`\\;|&<>]{4,64}))"#,
    )
    .edges(Edges::Open)
    .floor(1.5)
    .leave(Leave::Urls),
];
