//! Runs the analyses on a trace.

use norn_model::{Candidate, ThreadId, Trace};

use crate::{
    Danger, Options, Remark,
    analysis::{ANALYSES, Found},
    benign_race::BenignMemory,
    facts::{Facts, Synchronisation, searched},
    shared_filter::SharedFilter,
};

/// The result of a prediction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prediction {
    /// The candidates: the most likely bugs first, then the cheapest; instances with the same sites
    /// are adjacent.
    pub candidates: Vec<Candidate>,
    /// Order violations, which are tried later, each with a remark; those that look benign come
    /// last.
    pub violations: Vec<(Candidate, Remark)>,
    /// Critical reads that can see something else than in the recorded run, the most dangerous first.
    pub dangers: Vec<Danger>,
    /// Number of accesses to shared memory.
    pub shared: u64,
    /// Whether the search for a pattern or for deadlocks reached its limit.
    pub incomplete: bool,
    /// Threads whose accesses were not analysed, because there are too many threads or because nothing that
    /// needs them can be tried.
    pub skipped: Vec<ThreadId>,
    /// What else was not analysed.
    pub limits: Limits,
}

/// What was not analysed because of limits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Number of long accesses of which only some bytes were analysed.
    pub sampled: u64,
    /// Number of pairs of accesses to two variables that were left out, since the same two sites
    /// access too many other variables.
    pub variable_pairs: u64,
    /// Patterns whose search reached its limit.
    pub patterns: Vec<String>,
    /// Number of requests that were left out of the search for deadlocks, or whose search was cut.
    pub requests: u64,
}

impl Limits {
    /// Whether everything was analysed.
    pub fn is_complete(&self) -> bool {
        let searched = self.patterns.is_empty() && self.requests == 0;
        self.sampled == 0 && self.variable_pairs == 0 && searched
    }
}

/// Runs the analyses that the options select.
pub fn predict(trace: &Trace, options: &Options) -> Prediction {
    let filter = SharedFilter::new(trace.len() as u64);
    let synchronisation = Synchronisation::new(trace, &filter);
    let regions = synchronisation.regions(trace, options);
    let facts = Facts::new(trace, options, &synchronisation, &regions, &filter);
    // The filter is large, and not needed from here on.
    drop(filter);
    let mut found = Found::new(options.instances);
    for analysis in ANALYSES.iter().filter(|it| options.runs(it.info())) {
        analysis.candidates(&facts, options, &mut found);
    }
    let limits = Limits {
        sampled: facts.accesses.sampled,
        variable_pairs: facts.pairs.left_out,
        patterns: facts.unfinished_patterns(),
        requests: found.requests_left_out,
    };
    let mut dangers = std::mem::take(&mut found.dangers);
    dangers.sort_unstable();
    let (mut candidates, violations) = found.sorted(&facts);
    let benign = BenignMemory::new(trace);
    candidates.retain(|it| !benign.excuses(it));
    Prediction {
        candidates,
        violations,
        dangers,
        shared: facts.accesses.shared.len() as u64,
        incomplete: !limits.patterns.is_empty() || limits.requests > 0,
        skipped: trace.threads[searched(trace).len()..].iter().map(|it| it.id).collect(),
        limits,
    }
}

#[cfg(test)]
mod tests {
    use norn_model::text;

    use super::*;
    use crate::Pattern;

    fn limits(trace: &str, options: &Options) -> Limits {
        predict(&text::parse(trace).unwrap_or_default(), options).limits
    }

    #[test]
    fn omissions_are_reported() {
        let options = Options::default();
        assert!(limits("T1 w x:512 \nT2 w x:8", &options).is_complete());
        assert_eq!(limits("T1 w x:2048\nT2 w x:8", &options).sampled, 1);
        let accesses = |thread: &str, object: usize| {
            format!("{thread} w a{object} @ one\n{thread} w b{object} @ other\n")
        };
        let many: String =
            ["T1", "T2"].iter().flat_map(|it| (0..300).map(|at| accesses(it, at))).collect();
        assert_ne!(limits(&many, &options).variable_pairs, 0);
        let patterns =
            Pattern::parse("pattern three\n a w x\n b w y\n c w z\n").unwrap_or_default();
        let options = Options { patterns, ..options };
        let many: String =
            ["T1", "T2", "T3"].iter().flat_map(|it| (0..200).map(|at| accesses(it, at))).collect();
        assert_eq!(limits(&many, &options).patterns, ["three"]);
    }

    #[test]
    fn a_tangle_of_locks_exceeds_the_limit() {
        let options = Options { patterns: Vec::new(), ..Options::default() };
        let prediction = predict(&norn_testkit::nested(8, 50_000, false), &options);
        assert_ne!(prediction.limits.requests, 0);
        assert!(prediction.incomplete && !prediction.candidates.is_empty());
        let prediction = predict(&norn_testkit::nested(8, 50_000, true), &options);
        assert!(prediction.limits.is_complete() && prediction.candidates.is_empty());
    }
}
