//! Globs over paths and names: `*` and `?` within one part of a path, `**` over any number of parts. No regex: a hook that matches a few
//! of them must not pay for compiling any.

/// Does the whole of `text` match? Work: at most the product of the two lengths.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let parts =
        |path: &str| path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    starred(
        &parts(pattern),
        &parts(text),
        |part| part == "**",
        |pattern, part| {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            starred(&letters(pattern), &letters(part), |c| *c == '*', |c, other| *c == '?' || c == other)
        },
    )
}

/// Matches a list against a list in which some items stand for any number of others: of those only the last one met has to be tried again.
fn starred<T>(
    pattern: &[T],
    text: &[T],
    is_star: impl Fn(&T) -> bool,
    fits: impl Fn(&T, &T) -> bool,
) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut again: Option<(usize, usize)> = None;
    while let Some(item) = text.get(t) {
        match pattern.get(p) {
            Some(star) if is_star(star) => {
                again = Some((p, t));
                p += 1;
            }
            Some(one) if fits(one, item) => (p, t) = (p + 1, t + 1),
            _ => match again {
                Some((star, taken)) => {
                    again = Some((star, taken + 1));
                    (p, t) = (star + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).unwrap_or_default().iter().all(is_star)
}

/// A glob that can mean something: what is mistyped would keep nothing out.
pub(super) fn is_sound(text: &str) -> bool {
    let closed = |open: char, close: char| text.matches(open).count() == text.matches(close).count();
    let relative = text.starts_with("./") || text.starts_with("../") || text.contains('$');
    !text.is_empty() && closed('[', ']') && closed('{', '}') && !relative && !text.contains("***")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stay_in_their_part_and_two_of_them_do_not() {
        let cases = [
            ("**/.env*", "/a/b/.env", true),
            ("**/.env*", ".env.local", true),
            ("**/.env*", "/a/.env/b", false),
            ("/clients/secret/**", "/clients/secret", true),
            ("/clients/secret/**", "/clients/secret/a/b", true),
            ("/clients/secret/**", "/clients/secrets", false),
            ("/clients/*/x", "/clients/a/x", true),
            ("/clients/*/x", "/clients/a/b/x", false),
            ("/**/a/**/b", "/a/a/c/b", true),
            ("/**/a/**/b", "/c/b", false),
            ("mcp__bank__*", "mcp__bank__pay", true),
            ("mcp__b?nk__*", "mcp__bonk__", true),
            ("*", "WebFetch", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false),
            ("ключ*", "ключи", true),
            ("", "a", false),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
        let long = "a".repeat(20_000);
        assert!(!matches(&format!("{}b", "a*".repeat(50)), &long));
    }
}
