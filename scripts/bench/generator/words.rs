//! The words of all projects, and those of one.

use crate::numbers::{Rng, mix};

pub(crate) const COMMON: &str = "the to a of is in and it that for we this with on as be not are from was at but by an if or have can so when all will \
    there which should no one file test code function value error line now type call set add use check first run case return name also \
    change new only same does data make get need read write after before because here then path works time left field list where key \
    state index build user fix more let each other has would run any input result into output still old module returns back string \
    true false null none self import const async await public struct match else while break continue config server client request \
    response message version update create delete remove move open close start stop failed passed expected found missing default option \
    empty length count size max min number object array map class method argument parameter variable process thread queue cache store \
    load save parse format print log debug warn info trace level status ready done pending todo next previous last begin end head tail \
    root parent child node tree graph edge page view form button table column row query select insert where order group join limit";
pub(crate) const ONSETS: &str =
    "b bl br c ch cl cr d dr f fl fr g gl gr h j k l m n p pl pr qu r s sc sh sl sp st str t th tr v w z";
pub(crate) const RHYMES: &str = "ab ack age ail ain ake al ame an ance and ar ark art ase ash at ate ave ax eal eam ed eep el en end ent er ess est et \
    ice id ift in ine ing int ip ire ist ive ix ob old ole on one ool op or ord ore orm ost ot ound ow ub un und up urn use ust ut";

/// The words that all projects share, and how often each is said (Zipf).
pub(crate) struct Language {
    pub(crate) words: Vec<String>,
    pub(crate) ranks: Vec<u16>,
}

impl Language {
    pub(crate) fn new(seed: u64) -> Self {
        const WORDS: usize = 9_000;
        const SLOTS: usize = 1 << 18;
        let mut rng = Rng(mix(seed, 1));
        let mut seen = std::collections::HashSet::new();
        let mut words: Vec<String> =
            COMMON.split_whitespace().filter(|w| seen.insert((*w).to_owned())).map(str::to_owned).collect();
        while words.len() < WORDS {
            let word = coin(&mut rng);
            if seen.insert(word.clone()) {
                words.push(word);
            }
        }
        let weight = |rank: usize| 1.0 / (rank as f64 + 3.5).powf(1.12);
        let total: f64 = (0..WORDS).map(weight).sum();
        let (mut ranks, mut sum, mut rank) = (Vec::with_capacity(SLOTS), weight(0), 0);
        for slot in 0..SLOTS {
            while sum < total * (slot as f64 + 0.5) / SLOTS as f64 && rank + 1 < WORDS {
                rank += 1;
                sum += weight(rank);
            }
            ranks.push(rank as u16);
        }
        Self { words, ranks }
    }

    pub(crate) fn word(&self, rng: &mut Rng) -> &str {
        &self.words[usize::from(self.ranks[rng.below(self.ranks.len())])]
    }

    /// A word that is not among the most common ones.
    pub(crate) fn rare(&self, rng: &mut Rng) -> &str {
        &self.words[200 + rng.low(self.words.len() - 200)]
    }

    pub(crate) fn identifier(&self, rng: &mut Rng) -> String {
        let mut out = String::new();
        let shape = *rng.pick(&[0, 0, 0, 1, 2, 3]);
        for part in 0..2 + usize::from(rng.chance(0.2)) {
            let word = if rng.chance(0.5) { self.word(rng) } else { self.rare(rng) };
            match shape {
                0 | 3 if part > 0 => out.push(if shape == 0 { '_' } else { '-' }),
                _ => {}
            }
            match word.split_at_checked(1) {
                Some((first, rest)) if shape == 2 || (shape == 1 && part > 0) => {
                    out.push_str(&first.to_uppercase());
                    out.push_str(rest);
                }
                _ => out.push_str(word),
            }
        }
        out
    }
}

/// A made-up word.
pub(crate) fn coin(rng: &mut Rng) -> String {
    let (onsets, rhymes): (Vec<&str>, Vec<&str>) =
        (ONSETS.split(' ').collect(), RHYMES.split_whitespace().collect());
    let mut word = String::new();
    for _ in 0..rng.below(5) / 2 {
        word.push_str(onsets[rng.below(onsets.len())]);
        word.push(char::from(b"aeiou"[rng.below(5)]));
    }
    word.push_str(onsets[rng.below(onsets.len())]);
    word.push_str(rhymes[rng.below(rhymes.len())]);
    word
}

/// A project: its own names, and its files.
pub(crate) struct Project {
    pub(crate) cwd: String,
    pub(crate) names: Vec<String>,
    /// Path and seed of the content.
    pub(crate) files: Vec<(String, u64)>,
}

impl Project {
    pub(crate) fn new(language: &Language, seed: u64, number: usize) -> Self {
        let mut rng = Rng(mix(seed, 1_000_003 + number as u64));
        let cwd = format!("/home/dev/{}-{}-{number}", language.rare(&mut rng), language.rare(&mut rng));
        let mut names: Vec<String> = (0..1200).map(|_| language.identifier(&mut rng)).collect();
        names.extend((0..300).map(|_| coin(&mut rng) + &coin(&mut rng)));
        let count = 40 + rng.low(400);
        let files = (0..count)
            .map(|_| {
                let (a, b) = (language.rare(&mut rng).to_owned(), language.rare(&mut rng).to_owned());
                let end = *rng.pick(&["rs", "ts", "py", "go", "md", "json", "tsx"]);
                (
                    format!("{cwd}/{}/{a}/{b}.{end}", rng.pick(&["src", "src", "lib", "tests", "docs"])),
                    rng.next(),
                )
            })
            .collect();
        Self { cwd, names, files }
    }
}
