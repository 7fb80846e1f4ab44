//! What was not analysed, so that the search ends.

use norn_model::ThreadName;
use norn_predict::{Limits, Prediction};

use crate::source::Source;

/// What was not analysed in one or several traces. Traces of one program resemble each other, so
/// the largest number over all traces is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Omissions {
    /// Number of events of a long run that were not analysed.
    pub events: u64,
    /// What the search left out.
    pub limits: Limits,
    /// Threads whose accesses were not analysed.
    pub threads: Vec<ThreadName>,
    /// Variables that the user named and that were never accessed.
    pub names: Vec<String>,
}

impl Omissions {
    /// What a prediction did not analyse.
    pub(crate) fn new(source: &Source, prediction: &Prediction, names: Vec<String>) -> Omissions {
        let threads = prediction.skipped.iter().map(|it| source.symbolized.thread(*it)).collect();
        Omissions { events: source.left_out, limits: prediction.limits.clone(), threads, names }
    }

    /// Combines with another trace. A name that occurs in one of them is not unknown.
    pub(crate) fn add(&mut self, other: Omissions, first: bool) {
        let Limits { sampled, variable_pairs, patterns, requests } = other.limits;
        self.events = self.events.max(other.events);
        self.limits.sampled = self.limits.sampled.max(sampled);
        self.limits.variable_pairs = self.limits.variable_pairs.max(variable_pairs);
        self.limits.requests = self.limits.requests.max(requests);
        unite(&mut self.limits.patterns, patterns);
        unite(&mut self.threads, other.threads);
        if first {
            self.names = other.names;
        } else {
            self.names.retain(|it| other.names.contains(it));
        }
    }

    /// Whether everything was analysed.
    pub fn is_empty(&self) -> bool {
        self.events == 0
            && self.limits.is_complete()
            && self.threads.is_empty()
            && self.names.is_empty()
    }
}

fn unite<T: PartialEq>(all: &mut Vec<T>, more: Vec<T>) {
    for it in more {
        if !all.contains(&it) {
            all.push(it);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_omission_of_several_traces_counts() {
        let one = |sampled, variable_pairs, pattern: &str| Omissions {
            events: sampled + variable_pairs,
            limits: Limits {
                sampled,
                variable_pairs,
                patterns: vec![pattern.to_owned()],
                requests: variable_pairs,
            },
            threads: vec![ThreadName("T0.7".to_owned())],
            names: vec!["nobody".to_owned(), pattern.to_owned()],
        };
        let mut all = Omissions::default();
        assert!(all.is_empty());
        let several = [one(3, 1, "a"), one(2, 5, "b"), one(0, 0, "a")];
        several.into_iter().enumerate().for_each(|(at, it)| all.add(it, at == 0));
        assert_eq!(all.events, 7);
        assert_eq!((all.limits.sampled, all.limits.variable_pairs, all.limits.requests), (3, 5, 5));
        assert_eq!(all.limits.patterns, ["a", "b"]);
        assert_eq!(all.threads.len(), 1);
        assert_eq!(all.names, ["nobody"]);
        assert!(!all.is_empty());
    }
}
