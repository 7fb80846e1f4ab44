//! Suspiciousness scores: how well the occurrence of a pattern separates failing from passing runs.

use crate::Interval;

/// In how many runs a pattern occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Failing runs in which it occurred.
    pub failed: u64,
    /// Passing runs in which it occurred.
    pub passed: u64,
    /// All failing runs.
    pub all_failed: u64,
    /// All passing runs.
    pub all_passed: u64,
}

/// A formula for scores from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Formula {
    /// The Jaccard index, as in the paper: the share of the runs with the failure or the pattern that
    /// have both.
    #[default]
    Jaccard,
    /// Tarantula (Jones and Harrold 2005): compares the shares of failing and of passing runs in which
    /// the pattern occurred.
    Tarantula,
    /// Ochiai (Abreu and others 2007): the geometric mean of two shares, of the failing runs that have
    /// the pattern and of the runs with the pattern that fail.
    Ochiai,
}

impl Formula {
    /// All formulas.
    pub const ALL: [Formula; 3] = [Formula::Jaccard, Formula::Tarantula, Formula::Ochiai];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Formula::Jaccard => "jaccard",
            Formula::Tarantula => "tarantula",
            Formula::Ochiai => "ochiai",
        }
    }

    /// The score; 0 if the pattern occurred in no failing run. Each formula is one division of whole
    /// numbers, so that equal scores are equal numbers.
    pub fn score(self, counts: Counts) -> f64 {
        let Counts { failed, passed, all_failed, all_passed } = counts;
        if failed == 0 {
            return 0.0;
        }
        match self {
            Formula::Jaccard => share(failed, all_failed + passed),
            // (f / F) / (f / F + p / P); without passing runs their share is 0.
            Formula::Tarantula => {
                let failing = failed * all_passed.max(1);
                share(failing, failing + passed * all_failed)
            }
            Formula::Ochiai => share(failed * failed, all_failed * (failed + passed)).sqrt(),
        }
    }

    /// The 95 % confidence interval of the score. The Jaccard index is itself a share, so its interval
    /// is Wilson's. The others grow with one share and fall or grow with a second one; their interval
    /// is that of the extreme values of both, which is wider than necessary.
    pub fn interval(self, counts: Counts) -> Interval {
        let Counts { failed, passed, all_failed, all_passed } = counts;
        let recall = Interval::of_share(failed, all_failed);
        match self {
            Formula::Jaccard => Interval::of_share(failed, all_failed + passed),
            Formula::Tarantula => {
                let passing = Interval::of_share(passed, all_passed);
                let ratio = |failing: f64, passing: f64| {
                    if failing == 0.0 { 0.0 } else { failing / (failing + passing) }
                };
                Interval {
                    low: ratio(recall.low, passing.high),
                    high: ratio(recall.high, passing.low),
                }
            }
            Formula::Ochiai => {
                let precision = Interval::of_share(failed, failed + passed);
                Interval {
                    low: (recall.low * precision.low).sqrt(),
                    high: (recall.high * precision.high).sqrt(),
                }
            }
        }
    }
}

fn share(hits: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { hits as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scores(failed: u64, passed: u64, all_failed: u64, all_passed: u64) -> [f64; 3] {
        Formula::ALL.map(|it| it.score(Counts { failed, passed, all_failed, all_passed }))
    }

    #[test]
    fn examples() {
        let near = |one: [f64; 3], other: [f64; 3]| {
            one.iter().zip(other).all(|(one, other)| (one - other).abs() < 1e-12)
        };
        assert!(near(scores(1, 1, 1, 3), [0.5, 0.75, 0.5f64.sqrt()]));
        assert!(near(scores(3, 0, 3, 97), [1.0, 1.0, 1.0]));
        // Tarantula overrates what occurred in one failing run only; the Jaccard index does not.
        assert!(near(scores(1, 0, 10, 90), [0.1, 1.0, 0.1f64.sqrt()]));
        assert!(near(scores(0, 5, 3, 5), [0.0; 3]));
        assert!(near(scores(0, 0, 0, 0), [0.0; 3]));
        assert!(near(scores(2, 0, 4, 0), [0.5, 1.0, 0.5f64.sqrt()]));
    }

    proptest! {
        #[test]
        fn scores_are_in_their_intervals(
            failed in 0u64..200, more_failed in 0u64..200, passed in 0u64..200, more in 0u64..200,
        ) {
            let (all_failed, all_passed) = (failed + more_failed, passed + more);
            let counts = Counts { failed, passed, all_failed, all_passed };
            for formula in Formula::ALL {
                let (score, it) = (formula.score(counts), formula.interval(counts));
                prop_assert!((0.0..=1.0).contains(&score), "{formula:?} {score}");
                let low = it.low - 1e-12;
                prop_assert!(low <= score && score <= it.high + 1e-12, "{formula:?} {score} {it:?}");
            }
        }
    }
}
