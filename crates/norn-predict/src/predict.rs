//! The whole way from a trace to candidates.

use norn_model::{Candidate, ThreadId, Trace};

use crate::{
    Options, Remark,
    analysis::{ANALYSES, Found},
    facts::{Facts, Synchronisation, searched},
    shared_filter::SharedFilter,
};

/// What a trace allows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prediction {
    /// The candidates: those that most likely are bugs first, then the cheap ones; instances with
    /// the same sites follow each other.
    pub candidates: Vec<Candidate>,
    /// Order violations, which are tried later, and what is known of each; those that a program
    /// seems to expect come last.
    pub violations: Vec<(Candidate, Remark)>,
    /// How many accesses to shared memory there are.
    pub shared: u64,
    /// The search for a pattern or for deadlocks was given up before its end.
    pub incomplete: bool,
    /// Threads whose accesses were not looked at: there are too many threads.
    pub skipped: Vec<ThreadId>,
    /// What else was not looked at.
    pub limits: Limits,
}

/// What was not looked at, so that the search comes to an end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Long accesses of which only some bytes were looked at.
    pub sampled: u64,
    /// Pairs of accesses to two variables that were left out, since the same two places in the code
    /// access too many other variables.
    pub couples: u64,
    /// Patterns for which the search was given up before its end.
    pub patterns: Vec<String>,
    /// Places where a thread may wait that were left out of the search for deadlocks, or from
    /// which not all others were looked at.
    pub requests: u64,
}

impl Limits {
    /// Whether all was looked at.
    pub fn is_complete(&self) -> bool {
        let searched = self.patterns.is_empty() && self.requests == 0;
        self.sampled == 0 && self.couples == 0 && searched
    }
}

/// Runs the analyses that the options select.
pub fn predict(trace: &Trace, options: &Options) -> Prediction {
    let filter = SharedFilter::new(trace);
    let synchronisation = Synchronisation::new(trace, &filter);
    let regions = synchronisation.regions(trace, options);
    let facts = Facts::new(trace, options, &synchronisation, &regions, &filter);
    // The filter is large, and nothing asks it from here on.
    drop(filter);
    let mut found = Found::new(options.instances);
    for analysis in ANALYSES.iter().filter(|it| options.runs(it.info())) {
        analysis.candidates(&facts, options, &mut found);
    }
    let limits = Limits {
        sampled: facts.accesses.sampled,
        couples: facts.pairs.left_out,
        patterns: facts.unfinished_patterns(),
        requests: found.requests_left_out,
    };
    let (candidates, violations) = found.sorted(&facts);
    Prediction {
        candidates,
        violations,
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
    fn what_is_not_looked_at_is_said() {
        let options = Options::default();
        assert!(limits("T1 w x:512 \nT2 w x:8", &options).is_complete());
        assert_eq!(limits("T1 w x:2048\nT2 w x:8", &options).sampled, 1);
        let accesses = |thread: &str, object: usize| {
            format!("{thread} w a{object} @ one\n{thread} w b{object} @ other\n")
        };
        let many: String =
            ["T1", "T2"].iter().flat_map(|it| (0..300).map(|at| accesses(it, at))).collect();
        assert_ne!(limits(&many, &options).couples, 0);
        let patterns =
            Pattern::parse("pattern three\n a w x\n b w y\n c w z\n").unwrap_or_default();
        let options = Options { patterns, ..options };
        let many: String =
            ["T1", "T2", "T3"].iter().flat_map(|it| (0..200).map(|at| accesses(it, at))).collect();
        assert_eq!(limits(&many, &options).patterns, ["three"]);
    }

    #[test]
    fn a_tangle_of_locks_is_given_up() {
        let options = Options { patterns: Vec::new(), ..Options::default() };
        let prediction = predict(&norn_testkit::nested(8, 50_000, false), &options);
        assert_ne!(prediction.limits.requests, 0);
        assert!(prediction.incomplete && !prediction.candidates.is_empty());
        let prediction = predict(&norn_testkit::nested(8, 50_000, true), &options);
        assert!(prediction.limits.is_complete() && prediction.candidates.is_empty());
    }
}
