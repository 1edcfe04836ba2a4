//! Texts: prose, files, what commands print.

use crate::numbers::{Rng, mix};
use crate::words::{Language, Project};
use std::fmt::Write as _;

/// Makes texts about the topic of one session of one project.
pub(crate) struct Author<'a> {
    pub(crate) language: &'a Language,
    pub(crate) project: &'a Project,
    pub(crate) rng: Rng,
    pub(crate) topic: Vec<String>,
    /// What this text has said: a text says few words, and says them again.
    pub(crate) said: Vec<(usize, usize)>,
    /// What commands printed lately: they are run again and again.
    pub(crate) printed: Vec<String>,
}

impl Author<'_> {
    /// Adds one word to a text that begins at `from`; `again` is how likely it is one that was said there.
    pub(crate) fn word(&mut self, text: &mut String, again: f64, names: f64) {
        if !self.said.is_empty() && self.rng.chance(again) {
            let back = self.rng.below(self.said.len().min(80)) + 1;
            let (from, to) = self.said[self.said.len() - back];
            text.extend_from_within_checked(from, to);
            return;
        }
        let from = text.len();
        let u = self.rng.unit();
        if u < names {
            let at = self.rng.low(self.project.names.len());
            text.push_str(if self.rng.chance(0.3) {
                self.rng.pick(&self.topic).as_str()
            } else {
                &self.project.names[at]
            });
        } else if u < names + 0.07 {
            let digits = 1 + self.rng.low(4) as u32;
            let _ = write!(text, "{}", self.rng.below(10_usize.pow(digits)));
        } else if u < names + 0.085 {
            let _ = write!(text, "{:07x}", self.rng.next() >> 36);
        } else {
            text.push_str(self.language.word(&mut self.rng));
        }
        self.said.push((from, text.len()));
    }

    pub(crate) fn prose(&mut self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 80);
        self.said.clear();
        let lists = bytes > 400 && self.rng.chance(0.6);
        while text.len() < bytes {
            for number in 0..5 + self.rng.below(14) {
                if number > 0 {
                    text.push(' ');
                }
                match self.rng.below(60) {
                    0 => {
                        let file = self.file();
                        text.push_str(&self.project.files[file].0);
                    }
                    1 => text.push_str(*self.rng.pick::<&str>(&["naïve", "→", "✓", "ファイル", "—", "é"])),
                    2..=4 => {
                        text.push('`');
                        self.word(&mut text, 0.3, 0.9);
                        text.push('`');
                    }
                    _ => self.word(&mut text, 0.22, 0.06),
                }
                if text.len() >= bytes {
                    break;
                }
            }
            text.push_str(*self.rng.pick::<&str>(&[".", ".", ".", ":", "?", "!"]));
            text.push_str(if lists {
                *self.rng.pick::<&str>(&["\n- ", "\n", "\n\n", " ", "\n\n## "])
            } else {
                " "
            });
        }
        let kept = text.trim_end().len();
        text.truncate(kept);
        text
    }

    /// A file of the project; a session comes back to few of them.
    pub(crate) fn file(&mut self) -> usize {
        let first = self.topic[0].len() * 3 + self.topic[1].len();
        let near = self.rng.low(11);
        (first + near * near) % self.project.files.len()
    }

    /// Line `number` of a file: the same in each session that reads it.
    pub(crate) fn line(&self, file: usize, number: usize, into: &mut String) {
        const SHAPES: [&str; 16] = [
            "@(@)",
            "let @ = @;",
            "if @ == # {",
            "return @;",
            "// ~ ~ ~ ~ ~ ~ ~",
            "@.@()",
            "\"@\": \"~ ~\",",
            "}",
            "",
            "const @: @ = @(@, #);",
            "self.@ = @.@(|@| @ + #);",
            "fn @(@: @, @: @) -> @ {",
            "await @(\"/~/@\", { @: @, ~: # })",
            "assert_eq!(@.@(#), @);",
            "# ~ ~ ~ @ ~ ~",
            "use @::@::@;",
        ];
        let mut rng = Rng(mix(self.project.files[file].1, number as u64));
        // Every file of a project has lines that the others have, too.
        let (seed, number) = if rng.chance(0.16) {
            let common = rng.low(90);
            rng = Rng(mix(self.project.files[0].1, 700_000 + common as u64));
            (self.project.files[0].1, common)
        } else {
            (self.project.files[file].1, number)
        };
        let own = |rng: &mut Rng| {
            let slot = rng.low(24) as u64;
            Rng(mix(seed, 500_000 + slot)).low(self.project.names.len())
        };
        into.extend(std::iter::repeat_n("    ", rng.low(5)));
        // Lines of a file take few shapes, so neighbours look alike.
        let shape = SHAPES[(mix(seed, (number / 6) as u64) as usize + rng.low(6)) % SHAPES.len()];
        for c in shape.chars() {
            match c {
                '@' if rng.chance(0.8) => into.push_str(&self.project.names[own(&mut rng)]),
                '@' | '~' => into.push_str(self.language.word(&mut rng)),
                '#' => drop(write!(into, "{}", rng.low(300))),
                c => into.push(c),
            }
        }
    }

    pub(crate) fn lines(
        &mut self,
        file: usize,
        from: usize,
        bytes: usize,
        numbered: bool,
    ) -> (String, usize) {
        let (mut text, mut number) = (String::with_capacity(bytes + 200), from);
        while text.len() < bytes {
            if numbered {
                let _ = write!(text, "{number:6}\u{2192}");
            }
            self.line(file, number, &mut text);
            text.push('\n');
            number += 1;
        }
        text.pop();
        (text, number - from)
    }

    /// What a command prints.
    pub(crate) fn log(&mut self, bytes: usize) -> String {
        if bytes < 100_000 && !self.printed.is_empty() && self.rng.chance(0.45) {
            let before = &self.printed[self.rng.below(self.printed.len())];
            let end =
                before.char_indices().map(|(at, _)| at).take_while(|&at| at <= bytes).last().unwrap_or(0);
            if end * 2 > bytes {
                return before[..end].to_owned();
            }
        }
        let text = self.new_log(bytes);
        if (100..100_000).contains(&bytes) {
            if self.printed.len() > 7 {
                self.printed.remove(0);
            }
            self.printed.push(text.clone());
        }
        text
    }

    fn new_log(&mut self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 200);
        self.said.clear();
        let kind = self.rng.below(4);
        let mut number = self.rng.low(500);
        while text.len() < bytes {
            let file = self.file();
            number += 1;
            match kind {
                0 => {
                    text.push_str("test ");
                    self.word(&mut text, 0.3, 0.9);
                    text.push_str("::");
                    self.word(&mut text, 0.1, 0.9);
                    text.push_str(if self.rng.chance(0.97) { " ... ok" } else { " ... FAILED" });
                }
                1 => {
                    let _ = write!(
                        text,
                        "{}:{number}:",
                        &self.project.files[file].0[self.project.cwd.len() + 1..]
                    );
                    self.line(file, number, &mut text);
                }
                2 => {
                    let _ = write!(
                        text,
                        "-rw-r--r-- 1 dev dev {:7} Nov {:2} {:02}:{:02} ",
                        self.rng.low(90_000),
                        1 + number % 30,
                        number % 24,
                        self.rng.below(60)
                    );
                    self.word(&mut text, 0.05, 0.7);
                }
                _ => (0..3 + self.rng.below(9)).for_each(|_| {
                    self.word(&mut text, 0.45, 0.25);
                    text.push(' ');
                }),
            }
            text.push('\n');
        }
        text.pop();
        text
    }

    pub(crate) fn paths(&mut self, bytes: usize) -> String {
        let mut text = String::new();
        while text.len() < bytes {
            let at = self.rng.below(self.project.files.len());
            text.push_str(&self.project.files[at].0);
            text.push('\n');
        }
        text.pop();
        text
    }
}

pub(crate) trait Within {
    fn extend_from_within_checked(&mut self, from: usize, to: usize);
}

impl Within for String {
    fn extend_from_within_checked(&mut self, from: usize, to: usize) {
        if let Some(part) = self.get(from..to).map(str::to_owned) {
            self.push_str(&part);
        }
    }
}
