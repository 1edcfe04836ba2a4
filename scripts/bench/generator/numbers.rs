//! Chance, and what was measured on real sessions.

/// SplitMix64.
pub(crate) struct Rng(pub(crate) u64);

pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let mut z = a ^ b.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x632b_e59b_d9b4_e019);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0, 0)
    }
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
    /// Below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (((self.next() >> 32) * n as u64) >> 32) as usize
    }
    pub(crate) fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }
    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
    /// Small numbers are likelier, as the square of a uniform one.
    pub(crate) fn low(&mut self, n: usize) -> usize {
        let u = self.unit();
        ((u * u) * n as f64) as usize
    }
    /// A value of a distribution that is known by its quantiles.
    pub(crate) fn of(&mut self, known: &Quantiles) -> f64 {
        const AT: Quantiles = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0];
        let u = self.unit();
        let above = AT.iter().position(|&at| u < at).unwrap_or(7).max(1);
        let part = (u - AT[above - 1]) / (AT[above] - AT[above - 1]);
        let (low, high) = (known[above - 1] + 1.0, known[above] + 1.0);
        (low.ln() + part * (high.ln() - low.ln())).exp() - 1.0
    }
    pub(crate) fn size(&mut self, known: &Quantiles) -> usize {
        self.of(known) as usize
    }
}

/// Least, 10 %, 25 %, half, 75 %, 90 %, 99 %, most.
pub(crate) type Quantiles = [f64; 8];

// Measured on the main files of real sessions of clients 1.0 to 2.1.220, and copied here as they were found.
pub(crate) const OBSERVATIONS_LONG: Quantiles = [21.0, 41.0, 53.0, 123.0, 207.0, 311.0, 657.0, 1200.0];
pub(crate) const OBSERVATIONS_SHORT: Quantiles = [2.0, 2.0, 3.0, 3.0, 12.0, 17.0, 20.0, 20.0];
pub(crate) const CALLS_IN_A_TURN: Quantiles = [0.0, 0.0, 0.0, 2.0, 10.0, 21.0, 94.0, 148.0];
pub(crate) const SECONDS: Quantiles = [0.0, 0.0, 0.4, 1.6, 4.2, 9.7, 60.0, 400.0];
pub(crate) const PROMPT: Quantiles = [4.0, 14.0, 32.0, 68.0, 176.0, 709.0, 10_600.0, 67_800.0];
pub(crate) const ANSWER: Quantiles = [2.0, 35.0, 58.0, 91.0, 188.0, 635.0, 2_700.0, 16_800.0];
pub(crate) const THINKING: Quantiles = [10.0, 55.0, 82.0, 146.0, 358.0, 884.0, 2_450.0, 8_650.0];
pub(crate) const EDIT: Quantiles = [60.0, 333.0, 512.0, 865.0, 1_660.0, 3_650.0, 9_000.0, 12_800.0];
pub(crate) const WRITE: Quantiles = [80.0, 358.0, 950.0, 3_090.0, 5_860.0, 10_260.0, 14_200.0, 22_000.0];
pub(crate) const READ_RESULT: Quantiles =
    [60.0, 458.0, 1_090.0, 2_600.0, 5_450.0, 13_100.0, 42_100.0, 80_400.0];
pub(crate) const BASH_RESULT: Quantiles = [0.0, 14.0, 32.0, 193.0, 776.0, 2_630.0, 15_200.0, 22_800.0];
pub(crate) const EDIT_RESULT: Quantiles = [80.0, 100.0, 116.0, 137.0, 760.0, 1_590.0, 6_430.0, 7_230.0];
pub(crate) const GREP_RESULT: Quantiles = [14.0, 16.0, 94.0, 432.0, 2_310.0, 4_110.0, 13_900.0, 18_000.0];
pub(crate) const GLOB_RESULT: Quantiles = [14.0, 14.0, 40.0, 133.0, 707.0, 2_700.0, 7_600.0, 7_600.0];
pub(crate) const WEB_RESULT: Quantiles = [200.0, 780.0, 1_220.0, 1_560.0, 3_400.0, 4_300.0, 9_640.0, 9_640.0];
pub(crate) const TASK_PROMPT: Quantiles = [166.0, 300.0, 483.0, 860.0, 1_170.0, 1_650.0, 4_330.0, 4_330.0];
pub(crate) const TASK_RESULT: Quantiles =
    [100.0, 144.0, 542.0, 2_870.0, 6_600.0, 11_300.0, 16_100.0, 16_100.0];
pub(crate) const TODOS: Quantiles = [200.0, 436.0, 496.0, 595.0, 954.0, 1_070.0, 1_340.0, 1_345.0];
pub(crate) const SNAPSHOT: Quantiles = [150.0, 200.0, 230.0, 400.0, 1_400.0, 4_000.0, 12_000.0, 30_000.0];
/// Tools and their share of the calls.
pub(crate) const TOOLS: [(&str, f64); 9] = [
    ("Bash", 0.43),
    ("Read", 0.18),
    ("Edit", 0.16),
    ("Grep", 0.07),
    ("TodoWrite", 0.07),
    ("Write", 0.03),
    ("Glob", 0.025),
    ("WebFetch", 0.023),
    ("Task", 0.012),
];
pub(crate) const THINKING_BEFORE_A_CALL: f64 = 0.40;
pub(crate) const TEXT_BEFORE_A_CALL: f64 = 0.37;
pub(crate) const BASH_FAILS: f64 = 0.207;
pub(crate) const EDIT_FAILS: f64 = 0.106;
/// An edit that follows a failed one succeeds, so more of the first ones fail.
pub(crate) const FIRST_EDIT_FAILS: f64 = EDIT_FAILS * 1.7;
/// Versions of the client and their share of the sessions.
pub(crate) const VERSIONS: [(&str, f64); 5] =
    [("2.0.76", 0.15), ("2.1.12", 0.20), ("2.1.39", 0.25), ("2.1.112", 0.10), ("2.1.332", 0.30)];
/// Copies of progress that the clients of 2.1.9 to 2.1.5x wrote, for each observation.
pub(crate) const PROGRESS: f64 = 1.1;
/// 2025-10-06T08:00:00Z, and a session every ten minutes.
pub(crate) const START: f64 = 1_759_737_600.0;
pub(crate) const BETWEEN_SESSIONS: f64 = 600.0;

pub(crate) fn share<'a>(rng: &mut Rng, of: &'a [(&'a str, f64)]) -> &'a str {
    let mut left = rng.unit() * of.iter().map(|(_, p)| p).sum::<f64>();
    for (name, p) in of {
        if left < *p {
            return name;
        }
        left -= p;
    }
    of[0].0
}
