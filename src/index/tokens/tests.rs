use super::*;
use proptest::prelude::*;

fn check(text: &str, expected: &str) {
    assert_eq!(terms(text).collect::<Vec<_>>().join(" "), expected, "terms of {text:?}");
}

/// Frozen: an index on disk holds these. A changed row means a new format.
#[test]
fn terms_are_frozen() {
    let table = [
        ("", ""),
        ("The retries were failing.", "retri fail"),
        ("don't touch the user's settings", "touch user set"),
        ("parseRetryAfter", "parseretryafter pars retri"),
        ("HTTPServer URLs getIDs IPv6", "httpserver http server url getids get id ipv6 ipv"),
        ("MAX_RETRY_COUNT=5 --dry-run -v", "max_retry_count max retri count 5 dry-run dri run v"),
        ("src/index/tokens.rs:42", "src/index/tokens.rs src index/tokens.rs index tokens.rs token rs 42"),
        (
            "/home/dev/app/src/userStore.test.ts",
            "home/dev/app/src/userstore.test.ts home dev app src/userstore.test.ts src userstore.test.ts userstore user store test ts",
        ),
        ("C:\\Users\\dev\\main.rs", "c users/dev/main.rs user dev/main.rs dev main.rs main rs"),
        ("std::sync::Arc<Mutex<T>>", "std::sync::arc std sync arc mutex t"),
        (
            "https://example.com:8080/api/v1/users?id=7",
            "https example.com exampl com 8080/api/v1/users 8080 api v1/users v1 user id 7",
        ),
        ("127.0.0.1:5432 version 0.27.1", "127.0.0.1 127.0 5432 version 0.27.1 0.27"),
        ("sha256 utf8 x86_64 h2 v2", "sha256 sha utf8 utf x86_64 x86 64 h2 v2"),
        ("3f786850e387550fdab836ed7e6dc881de23001b", "3f786850e387550fdab836ed7e6dc881de23001b"),
        ("1a2b3c4d-5e6f-7a8b-9c0d-1e2f3a4b5c6d", "1a2b3c4d-5e6f-7a8b-9c0d-1e2f3a4b5c6d 1a2b3c4d"),
        (
            "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0",
            "eyjhbgcioijiuzi1niisinr5cci6ikpxvcj9.eyjzdwiioiixmjm0nty3odkwin0 eyjhbgcioijiuzi1niisinr5cci6ikpxvcj9 eyjzdwiioiixmjm0nty3odkwin0",
        ),
        ("E0308 error[E0433]: failed to resolve", "e0308 error e0433 fail resolv"),
        ("Größe café ÆTHER Straße", "gross cafe aether strass"),
        ("データベース設計 API設計 ﾃ\u{ff9e}ｰﾀ", "デー ータ タベ ベー ース ス設 設計 api 設計 デー ータ"),
        ("서버 오류", "서버 오류"),
        ("Привет, ёлка", "привет елка"),
        (
            "user@example.com #1234 $HOME ~/.config/app.toml",
            "user example.com exampl com 1234 home config/app.toml config app.toml app toml",
        ),
        ("it's the dog's bone; I can't", "dog bone"),
        ("__init__ _private foo.bar.baz()", "init privat foo.bar.baz foo bar baz"),
        ("and/or well-known end.Start", "and/or well-known well know end.start end start"),
        ("npm run build && cargo test", "npm run build cargo test"),
        ("😀 ok \u{200b}zero", "ok zero"),
        ("tokio 1.54.1 -> 1.55", "tokio 1.54.1 1.54 1.55"),
        (
            "kebab-case-name snake_case_name camelCaseName PascalCase",
            "kebab-case-name kebab case name snake_case_name snake case name camelcasename camel case name pascalcase pascal case",
        ),
    ];
    for (text, expected) in table {
        check(text, expected);
    }
}

#[test]
fn f70_a_word_is_found_whatever_is_hidden_in_it() {
    let plain = "deploy the password to harbor-api/src 港の鍵";
    let hidden = [
        "dep\u{200b}loy the pass\u{ad}word to harbor\u{2060}-api/s\u{200d}rc 港\u{200b}の鍵",
        "d\u{fe0f}e\u{fe01}ploy the p\u{e0100}assword to \u{202e}harbor-api\u{202c}/src \u{2066}港の鍵\u{2069}",
        "deploy\u{e0041}\u{e0042}\u{e007f} the \u{feff}password to harbor-api/\u{3164}src 港の\u{34f}鍵",
        "dерlоу the раѕѕwоrd to hаrbοr-арi/ѕrс 港の鍵",
        "ｄｅｐｌｏｙ the 𝐩𝐚𝐬𝐬𝐰𝐨𝐫𝐝 to harbor-api/src 港の鍵",
    ];
    for text in hidden {
        assert_eq!(terms(text).collect::<Vec<_>>(), terms(plain).collect::<Vec<_>>(), "{text:?}");
    }
    // Words of those scripts are their own.
    check("рост \u{3c1}\u{3bf}", "рост \u{3c1}\u{3bf}");
}

proptest! {
    #[test]
    fn any_text_is_cut_into_bounded_terms_without_white_space(text in "\\PC{0,200}") {
        for term in terms(&text) {
            prop_assert!(!term.is_empty() && term.len() <= 256, "{term:?}");
            prop_assert!(!term.contains(char::is_whitespace));
        }
    }
}
