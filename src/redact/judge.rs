//! Is a candidate a secret or a look-alike? Entropy, placeholders, references, names, words.

use super::rules::Leave;

/// What a rule has found, with what stands around it.
pub(super) struct Candidate<'a> {
    /// The bytes that would be replaced.
    pub(super) secret: &'a [u8],
    /// The name in front of the value, keyword included, up to the value: `"db_password": "`.
    pub(super) name: &'a [u8],
    /// The same from the keyword on: `password": "`.
    pub(super) tail: &'a [u8],
    /// The byte behind the secret; `None` at the end of the text.
    pub(super) next: Option<u8>,
}

/// Says whether it must go. `floor` is in bits a byte.
pub(super) fn is_secret(found: &Candidate<'_>, leave: Leave, floor: f64) -> bool {
    let secret = found.secret;
    if entropy(secret) < floor {
        return false;
    }
    match leave {
        Leave::Nothing => true,
        Leave::Examples => !documented(secret),
        Leave::Opaque => !placeholder(secret) && !reference(secret) && opaque(secret),
        Leave::Values => value(found) && !named_otherwise(found) && secret.len() >= 10,
        Leave::Keys => {
            value(found)
                && !named_otherwise(found)
                && kinds(secret) == 3
                && !secret.iter().all(u8::is_ascii_hexdigit)
                && !looked_up(found.name)
        }
        Leave::Passwords => password(found),
        Leave::Urls => {
            !reference(secret)
                && (!secret.contains(&b'/') || opaque(secret))
                && !placeholder(secret)
                && !DEFAULTS.iter().any(|d| secret.eq_ignore_ascii_case(d))
        }
        Leave::Basic => decoded_pair(secret),
        Leave::Cookies => {
            !placeholder(secret)
                && secret
                    .split(|b| matches!(b, b';' | b'=' | b' ' | b'&' | b'%'))
                    .any(|part| part.len() >= 16 && opaque(part) && !date(part))
        }
    }
}

/// Shannon's entropy. Units: bits a byte.
pub(super) fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    for &byte in bytes {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let all = bytes.len() as f64;
    counts.iter().filter(|&&n| n > 0).map(|&n| f64::from(n) / all).map(|p| -p * p.log2()).sum()
}

/// Words that stand for a secret in documentation; any of them inside makes an example of it.
const EXAMPLES: &[&[u8]] = &[
    b"example",
    b"placeholder",
    b"changeme",
    b"change_me",
    b"change-me",
    b"your_",
    b"your-",
    b"yourtoken",
    b"yourkey",
    b"yourapi",
    b"yourpass",
    b"yoursecret",
    b"xxxx",
    b"****",
    b"....",
    b"0000000",
    b"1234567890",
    b"dummy",
    b"sample",
    b"redacted",
    b"insert",
    b"replace",
    b"fixme",
    b"not-a-real",
    b"notreal",
    b"fake",
    b"abcdefghij",
];

/// What documentation prints in the shape of a real key. Few and unmistakable: a shape that only keys have is a key, whatever words
/// chance or a person put into it.
const DOCUMENTED: &[&[u8]] =
    &[b"example", b"placeholder", b"your_", b"your-", b"xxxxxxxx", b"********", b"........"];

fn documented(secret: &[u8]) -> bool {
    let lower = secret.to_ascii_lowercase();
    DOCUMENTED.iter().any(|word| memchr::memmem::find(&lower, word).is_some())
}

fn placeholder(secret: &[u8]) -> bool {
    let lower = secret.to_ascii_lowercase();
    EXAMPLES.iter().any(|word| {
        memchr::memmem::find_iter(&lower, word).any(|at| {
            let spelled = secret.get(at..at + word.len()).unwrap_or_default();
            word.len() > LONG_WORD || of_one_case(spelled)
        })
    })
}

/// A shorter word comes by chance into one key of some ten thousand, but hardly ever in one case.
const LONG_WORD: usize = 6;

/// `fake`, `Fake` and `FAKE`, not `fAKe`.
fn of_one_case(word: &[u8]) -> bool {
    let (first, rest) = word.split_first().unwrap_or((&b' ', &[]));
    !rest.iter().any(u8::is_ascii_uppercase)
        || (!first.is_ascii_lowercase() && !rest.iter().any(u8::is_ascii_lowercase))
}

/// Passwords of every tutorial's connection string.
const DEFAULTS: &[&[u8]] =
    &[b"password", b"passwd", b"pass", b"pwd", b"secret", b"token", b"pw", b"pat", b"key", b"password123"];

/// Does it name where the secret is, instead of being it?
fn reference(secret: &[u8]) -> bool {
    const STARTS: &[&[u8]] = &[
        b"$",
        b"{",
        b"<",
        b"[",
        b"%(",
        b"%s",
        b"%{",
        b"@{",
        b"#{",
        b"process.env",
        b"os.environ",
        b"os.getenv",
        b"env.",
        b"ENV",
        b"import.meta",
        b"secrets.",
        b"vars.",
        b"config.",
        b"settings.",
        b"self.",
        b"this.",
        b"op://",
        b"vault:",
        b"arn:",
    ];
    STARTS.iter().any(|start| secret.starts_with(start))
        || [b"${".as_slice(), b"{{", b"$(", b"://"]
            .iter()
            .any(|inner| memchr::memmem::find(secret, inner).is_some())
}

/// How many of upper case, lower case and digits occur.
fn kinds(secret: &[u8]) -> usize {
    let has = |kind: fn(&u8) -> bool| usize::from(secret.iter().any(kind));
    has(u8::is_ascii_uppercase) + has(u8::is_ascii_lowercase) + has(u8::is_ascii_digit)
}

fn letters_and_digits(secret: &[u8]) -> bool {
    secret.iter().any(u8::is_ascii_alphabetic) && secret.iter().any(u8::is_ascii_digit)
}

/// Looks drawn by lot: letters with digits among them, or so many letters that their case changes where no word ends.
fn opaque(secret: &[u8]) -> bool {
    (letters_and_digits(secret) || (secret.len() >= 16 && kinds(secret) == 2)) && !words(secret)
}

fn uuid(secret: &[u8]) -> bool {
    secret.len() == 36
        && secret.iter().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => *b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}

/// Begins with a date, as times do: `2026-11-30T…`.
fn date(secret: &[u8]) -> bool {
    matches!(secret, [b'1' | b'2', b'0' | b'9', c, d, b'-' | b'/', e, ..] if [c, d, e].iter().all(|b| b.is_ascii_digit()))
}

/// Identifiers, paths, versions, sentences in kebab case: every part between signs is a word, a short number, or a word with a short number.
///
/// A random string of twenty letters and digits is one part with digits in its middle, so it passes for words about once in a thousand times.
pub(super) fn words(secret: &[u8]) -> bool {
    secret.split(|b| !b.is_ascii_alphanumeric()).filter(|part| !part.is_empty()).all(word)
}

/// `token`, `Token2`, `Uint8Array`, `sha256Sum`, `12`: names with a number behind each of their words. Where there are several, none may be tiny.
fn word(part: &[u8]) -> bool {
    let mut from = 0;
    let mut pieces = 0;
    let mut smallest = usize::MAX;
    for at in 1..=part.len() {
        let turn =
            matches!(part.get(at - 1..=at), Some([a, b]) if a.is_ascii_digit() && b.is_ascii_uppercase());
        if turn || at == part.len() {
            let Some(letters) = part.get(from..at).and_then(numbered) else { return part.len() <= 7 };
            smallest = smallest.min(letters);
            pieces += 1;
            from = at;
        }
    }
    pieces == 1 || smallest >= 4
}

/// How many letters stand before the number of a piece; `None` when it is neither a word nor a number.
fn numbered(piece: &[u8]) -> Option<usize> {
    let digits = piece.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let letters = piece.get(..piece.len() - digits)?;
    if letters.is_empty() {
        return (digits <= 4).then_some(0);
    }
    let turns = letters
        .windows(2)
        .filter(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()));
    let humps = 1 + turns.count();
    let long = letters.len() <= 24 * humps && (humps == 1 || letters.len() >= humps * 4);
    (digits <= 3 && long && !letters.iter().any(u8::is_ascii_digit)).then_some(letters.len())
}

/// A value that is neither a reference nor code nor a thing with a known shape.
fn value(found: &Candidate<'_>) -> bool {
    let secret = found.secret;
    opaque(secret)
        && !placeholder(secret)
        && !reference(secret)
        && !uuid(secret)
        && !date(secret)
        && !code(found)
        && !digest(secret)
}

/// `sha512-…`, `sha256:…`: names its own hash.
fn digest(secret: &[u8]) -> bool {
    [b"sha".as_slice(), b"SHA", b"md5", b"blake"].iter().any(|name| secret.starts_with(name))
}

/// An unquoted value that goes on like a call or an index.
fn code(found: &Candidate<'_>) -> bool {
    let quoted = found.name.last().is_some_and(|b| matches!(b, b'"' | b'\'' | b'`'));
    !quoted && matches!(found.next, Some(b'(' | b'[' | b'{'))
}

/// Does the name say that the value is something about a secret, or public?
fn named_otherwise(found: &Candidate<'_>) -> bool {
    const ABOUT: &[&[u8]] = &[
        b"type",
        b"name",
        b"count",
        b"url",
        b"uri",
        b"endpoint",
        b"path",
        b"file",
        b"dir",
        b"expir",
        b"hash",
        b"sha",
        b"digest",
        b"checksum",
        b"fingerprint",
        b"ttl",
        b"length",
        b"limit",
        b"usage",
        b"index",
        b"offset",
        b"version",
        b"format",
        b"algorithm",
        b"arn",
        b"ize",
    ];
    let tail = found.tail.to_ascii_lowercase();
    let name: &[u8] = tail
        .split(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')))
        .next()
        .unwrap_or_default();
    ABOUT.iter().any(|about| memchr::memmem::find(name, about).is_some())
        || name.ends_with(b"id")
        || name.ends_with(b"ids")
        || memchr::memmem::find(&found.name.to_ascii_lowercase(), b"public").is_some()
}

/// Names of keys that open nothing: they look something up.
fn looked_up(name: &[u8]) -> bool {
    const LOOKUPS: &[&[u8]] = &[
        b"cache",
        b"primary",
        b"foreign",
        b"sort",
        b"partition",
        b"object",
        b"idempotency",
        b"hot",
        b"i18n",
        b"group",
        b"dedup",
        b"query",
        b"storage",
        b"lookup",
        b"map",
        b"row",
        b"unique",
    ];
    let lower = name.to_ascii_lowercase();
    LOOKUPS.iter().any(|word| memchr::memmem::find(&lower, word).is_some())
}

/// Passwords are short and no entropy tells them from words, so what tells is a digit or a sign among letters.
fn password(found: &Candidate<'_>) -> bool {
    let secret = found.secret;
    let quoted = found.name.last().is_some_and(|b| matches!(b, b'"' | b'\'' | b'`'));
    let signs = secret
        .iter()
        .filter(|b| matches!(b, b'!' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'+' | b'?' | b'@'))
        .count();
    let mixed = letters_and_digits(secret) || (signs > 0 && quoted && kinds(secret) >= 2);
    let lower = secret.to_ascii_lowercase();
    let named = [b"passw".as_slice(), b"pwd", b"token", b"secret"]
        .iter()
        .any(|w| memchr::memmem::find(&lower, w).is_some());
    let path = [b"/".as_slice(), b"~/", b"./", b"../"].iter().any(|start| secret.starts_with(start));
    // Unquoted, `a.b2` and `user_2` are code.
    let plain = quoted || !secret.iter().any(|b| matches!(b, b'.' | b'_' | b':' | b'/')) || !words(secret);
    // In a file of the environment nothing but the value can stand behind the sign.
    let environment = found.name.strip_suffix(b"=").is_some_and(|name| {
        name.len() > 3 && name.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_')
    });
    mixed
        && (plain || environment)
        && (!named || (environment && !words(secret)))
        && !path
        && !placeholder(secret)
        && !reference(secret)
        && !uuid(secret)
        && !date(secret)
        && !digest(secret)
        && !code(found)
        && !named_otherwise(found)
}

/// Does it decode, as base64, to something with a colon, as `user:password` does?
fn decoded_pair(secret: &[u8]) -> bool {
    let mut bits = 0u32;
    let mut held = 0;
    for &byte in secret.iter().filter(|&&b| b != b'=') {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return false,
        };
        bits = (bits << 6 | u32::from(digit)) & 0xffff;
        held += 6;
        if held >= 8 {
            held -= 8;
            if (bits >> held) & 0xff == u32::from(b':') {
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_from_random_strings() {
        let cases = [
            ("access_token_secret2", true),
            ("getUserTokenFromHeader", true),
            ("/etc/ssl/private/server1.pem", true),
            ("v1.2.3-beta4", true),
            ("must-be-8-chars-long", true),
            ("MY_SERVICE_TOKEN", true),
            ("Uint8Array", true),
            ("utf8mb4", true),
            ("a8Bcde7Fgh", false),
            ("q8Zr2LmX0vTb4Kp9", false),
            ("9f86d081884c7d65", false),
            ("aGVsbG8td29ybGQ", false),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn entropy_is_in_bits_a_byte() {
        assert!(entropy(b"aaaa").abs() < 1e-9);
        assert!((entropy(b"abcdefgh") - 3.0).abs() < 1e-9);
    }

    #[test]
    fn a_pair_is_found_at_each_alignment() {
        // a:b, ab:c, abc:d and the word `authentication`.
        for (text, expected) in [
            ("YTpi", true),
            ("YWI6Yw==", true),
            ("YWJjOmQ=", true),
            ("authentication", false),
            ("not*b64", false),
        ] {
            assert_eq!(decoded_pair(text.as_bytes()), expected, "{text}");
        }
    }
}
